"""Types of the service's responses about choices: their history, and snapshots of the ranking that they rest on."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from msgspec import Struct

from touchstone.client.evidence_models import Person
from touchstone.client.response_parts import DatasetReference, FieldChange, GateOutcome, Page, Transition, Weight
from touchstone.core.evidence import Assurance

ChosenState = Literal["unchanged", "changed", "withdrawn", "unknown"]
ReplayStatus = Literal["unchanged", "changed", "moved", "new", "gone"]
ReplayReason = Literal["record", "others", "added", "withdrawn", "filters", "formula"]


class ChosenDataset(Struct, frozen=True, kw_only=True):
    """The dataset of a project and what has become of it since it was chosen.

    Attributes:
        digest: The SHA-256 of its record and its claims when it was chosen.
        state: `unchanged` or `changed` since then, `withdrawn` if it was deleted or is no longer visible, or `unknown`
            if it was chosen before digests were kept.
        changes: What has changed.
    """

    id: int
    dataset_id: UUID | None = None
    name: str
    digest: str | None = None
    state: ChosenState
    changes: list[FieldChange] = []


class ChoiceDataset(Struct, frozen=True, kw_only=True):
    """A dataset as it was when it was chosen: its record and its claims, and the SHA-256 of both."""

    id: int
    dataset_id: UUID | None = None
    name: str
    digest: str | None = None
    withdrawn: bool = False
    record: dict[str, Any] | None = None
    claims: list[dict[str, Any]] = []


class ChoiceRanking(Struct, frozen=True, kw_only=True):
    """The ranking in which a dataset was chosen; `rank` is None if the dataset did not match the filters."""

    rank: int | None = None
    score: float | None = None
    total_count: int | None = None
    weights: list[Weight] = []
    filters: dict[str, Any] = {}
    gates: dict[str, Any] = {}
    gate_outcomes: dict[str, GateOutcome] = {}
    assurance: Assurance = Assurance.DECLARED
    formula_version: str | None = None
    catalog_version: str | None = None


class Choice(Struct, frozen=True, kw_only=True):
    """One entry in the history of a choice: who chose what and why, and until when that was the choice.

    `dataset` is None where the choice was taken back, and `superseded_at` is None for the current choice.
    """

    at: datetime
    by: Person | None = None
    dataset: ChoiceDataset | None = None
    reason: str | None = None
    ranking: ChoiceRanking | None = None
    superseded_at: datetime | None = None


class ChoicePage(Page, frozen=True, kw_only=True):
    """One page of the history of a choice, newest first."""

    choices: list[Choice]


class SnapshotSummary(Struct, frozen=True, kw_only=True):
    """A frozen recommendation without its content; `sha256` is that of the content as canonical JSON (RFC 8785)."""

    id: UUID
    at: datetime
    by: Person | None = None
    note: str | None = None
    sha256: str
    formula_version: str
    catalog_version: str | None = None
    total_count: int
    item_count: int
    bytes: int | None = None


class SnapshotPage(Page, frozen=True, kw_only=True):
    """One page of the snapshots of a project, newest first."""

    snapshots: list[SnapshotSummary]


class Snapshot(SnapshotSummary, frozen=True, kw_only=True):
    """A frozen recommendation: the need, the choice, and the ranked datasets with their records and claims."""

    content: dict[str, Any]


class PointsChange(Struct, frozen=True, kw_only=True):
    """How many points a criterion added to a score and adds now."""

    criterion_name: str
    before: float | None = None
    after: float | None = None


class ReplayedDataset(DatasetReference, frozen=True, kw_only=True):
    """What has become of one dataset of a snapshot.

    Attributes:
        reason: Why its rank, its score or its presence differ: its own `record`, `others` that moved, its `filters`, a
            new `formula`, or that it was `added` or `withdrawn`.
        points: The criteria that add another number of points than before.
        changes: What has changed in its record and its claims.
    """

    status: ReplayStatus
    reason: ReplayReason | None = None
    rank: Transition[int | None]
    score: Transition[float | None]
    points: list[PointsChange]
    changes: list[FieldChange]


class Replay(Struct, frozen=True, kw_only=True):
    """What has changed in a ranking since a snapshot of it.

    `identical` means that the same datasets have the same ranks, scores and digests. `project_changes` says what has
    changed in the project itself since then.
    """

    snapshot_id: UUID
    at: datetime
    sha256: str
    identical: bool
    formula_version: Transition[str]
    catalog_version: Transition[str | None]
    total_count: Transition[int]
    project_changes: list[FieldChange] = []
    items: list[ReplayedDataset]
