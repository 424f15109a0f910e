"""Schemas of snapshots and replays, and their conversion to JSON."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import msgspec
from pydantic import BaseModel, Field

from touchstone.http.request_models import RequestModel, Text, WholeFloatAsInt
from touchstone.ranking.formula_version import FORMULA_VERSION
from touchstone.services.selection.catalog_tokens import CatalogTokens
from touchstone.services.selection.datasets.schemas import PersonView
from touchstone.services.selection.projects.ranking_differences import ReplayReason, ReplayStatus
from touchstone.services.selection.projects.schemas import ContentChangeView
from touchstone.services.selection.projects.snapshot_replay import Replay
from touchstone.services.selection.projects.snapshot_store import SnapshotRecord, SnapshotSummary
from touchstone.services.selection.user_name_store import Pseudos, person_json

ItemCount = Annotated[int, Field(strict=True, ge=1, le=100), WholeFloatAsInt]


class SnapshotCreate(RequestModel):
    """A snapshot to create of the recommendations for a project."""

    note: Text | None = Field(None, description="What the snapshot is for.")
    limit: ItemCount = Field(20, description="The number of recommended datasets in the snapshot.")


class SnapshotSummaryView(BaseModel):
    """A snapshot without its content."""

    id: UUID
    at: datetime
    by: PersonView
    note: str | None
    sha256: str = Field(description="The digest of the canonical JSON (RFC 8785) of `content`.")
    formula_version: str
    catalog_version: str = Field(description="An opaque token that stands for the state of the catalog.")
    total_count: int
    item_count: int
    bytes: int = Field(description="The size that counts towards the quota.")


class SnapshotView(SnapshotSummaryView):
    """A snapshot."""

    content: dict[str, Any] = Field(
        description="The need of the project, its choice, and the recommended datasets with their contents."
    )


class SnapshotPageView(BaseModel):
    """A page of the list of snapshots."""

    snapshots: list[SnapshotSummaryView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class VersionChangeView(BaseModel):
    """A version in the snapshot and now."""

    before: str
    after: str


class CountChangeView(BaseModel):
    """A number in the snapshot and now."""

    before: int | None
    after: int | None


class ScoreChangeView(BaseModel):
    """A score in the snapshot and now."""

    before: float | None
    after: float | None


class PointsChangeView(BaseModel):
    """The points of a dataset for one criterion in the snapshot and now."""

    criterion_name: str
    before: float | None
    after: float | None


class ReplayedItemView(BaseModel):
    """A dataset that is among the first ones in the snapshot, now, or both."""

    id: int
    dataset_id: UUID
    dataset_name: str
    status: ReplayStatus
    reason: ReplayReason | None = Field(description="Why its rank, its score or its presence differs.")
    rank: CountChangeView
    place: CountChangeView = Field(description="The rank that it shares with datasets of the same score.")
    tied_with: CountChangeView = Field(description="The number of other datasets with exactly its score.")
    score: ScoreChangeView
    points: list[PointsChangeView] = Field(description="The criteria whose points differ.")
    changes: list[ContentChangeView]


class ReplayView(BaseModel):
    """The changes since a snapshot was made, with their reasons."""

    snapshot_id: UUID
    at: datetime
    sha256: str
    identical: bool
    formula_version: VersionChangeView
    catalog_version: VersionChangeView
    total_count: CountChangeView
    project_changes: list[ContentChangeView] = Field(
        description="The changes to the need of the project. The replay uses the need in the snapshot."
    )
    items: list[ReplayedItemView] = Field(description="By present rank, followed by the datasets that are gone.")


def snapshot_summary_json(snapshot: SnapshotSummary, tokens: CatalogTokens, pseudos: Pseudos) -> dict[str, Any]:
    """Return the JSON object of a snapshot without its content."""
    return {
        "id": snapshot.id,
        "at": snapshot.created_at,
        "by": person_json(snapshot.author, pseudos),
        "note": snapshot.note,
        "sha256": snapshot.sha256,
        "formula_version": snapshot.formula_version,
        "catalog_version": tokens.token(snapshot.catalog_version),
        "total_count": snapshot.total_count,
        "item_count": snapshot.item_count,
        "bytes": snapshot.bytes,
    }


def snapshot_json(snapshot: SnapshotRecord, tokens: CatalogTokens, pseudos: Pseudos) -> dict[str, Any]:
    """Return the JSON object of a snapshot, with exactly the stored bytes as content.

    Clients can therefore verify the digest of the content.
    """
    return {
        **snapshot_summary_json(snapshot, tokens, pseudos),
        "content": msgspec.Raw(snapshot.content.encode()),
    }


def replay_json(replay: Replay, tokens: CatalogTokens) -> dict[str, Any]:
    """Return the JSON object of a replay."""
    snapshot = replay.snapshot
    return {
        "snapshot_id": snapshot.id,
        "at": snapshot.created_at,
        "sha256": snapshot.sha256,
        "identical": replay.is_identical,
        "formula_version": {"before": snapshot.formula_version, "after": FORMULA_VERSION},
        "catalog_version": {
            "before": tokens.token(snapshot.catalog_version),
            "after": tokens.token(replay.catalog_version),
        },
        "total_count": {"before": replay.total_count_before, "after": replay.total_count},
        "project_changes": replay.project_changes,
        "items": replay.items,
    }
