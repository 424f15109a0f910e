"""Types of the responses about choices: their history, and snapshots of the rankings behind them."""

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
    """The dataset that was chosen in a project, and whether it has changed since then.

    Attributes:
        digest: the SHA-256 of its record and its claims when it was chosen.
        state: `unchanged` or `changed` since then, `withdrawn` if the dataset was deleted or hidden from the owner of
            the project, or `unknown` if it was chosen before the service stored digests.
        changes: the fields and claims that have changed.
    """

    id: int
    dataset_id: UUID | None = None
    name: str
    digest: str | None = None
    state: ChosenState
    changes: list[FieldChange] = []


class ChoiceDataset(Struct, frozen=True, kw_only=True):
    """A copy of a dataset from the time of a choice.

    Attributes:
        digest: the SHA-256 of `record` and `claims`.
        withdrawn: whether the dataset has been deleted since then, or hidden from the owner of the project.
    """

    id: int
    dataset_id: UUID | None = None
    name: str
    digest: str | None = None
    withdrawn: bool = False
    record: dict[str, Any] | None = None
    claims: list[dict[str, Any]] = []


class ChoiceRanking(Struct, frozen=True, kw_only=True):
    """The ranking of a project at the time of a choice.

    Attributes:
        rank: the rank of the chosen dataset, or None if it did not match the filters.
        place, tied_with: the rank that it shared with datasets of the same score, and the number of the others.
        total_count: the number of ranked datasets.
        gates: the requirements of the project, which do not affect scores.
        gate_outcomes: the outcome of each gate for the chosen dataset.
    """

    rank: int | None = None
    place: int | None = None
    tied_with: int = 0
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
    """One choice that was made in a project: who chose which dataset, when and why.

    Attributes:
        dataset: the dataset that was chosen, or None if an earlier choice was withdrawn.
        superseded_at: the time of the next choice, or None for the current choice.
    """

    at: datetime
    by: Person | None = None
    dataset: ChoiceDataset | None = None
    reason: str | None = None
    ranking: ChoiceRanking | None = None
    superseded_at: datetime | None = None


class ChoicePage(Page, frozen=True, kw_only=True):
    """One page of the choices that were made in a project, newest first."""

    choices: list[Choice]


class SnapshotSummary(Struct, frozen=True, kw_only=True):
    """A snapshot of the ranking of a project, without its content.

    Attributes:
        sha256: the digest of the content as canonical JSON (RFC 8785).
        formula_version: the version of the scoring formulas.
        total_count: the number of ranked datasets.
        item_count: the number of datasets in the snapshot, which are the first ones of the ranking.
    """

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
    """A snapshot with its content: the need, the choice, and the ranked datasets with their records and claims."""

    content: dict[str, Any]


class PointsChange(Struct, frozen=True, kw_only=True):
    """The points that a criterion added to a score when a snapshot was made, and the points that it adds now."""

    criterion_name: str
    before: float | None = None
    after: float | None = None


class ReplayedDataset(DatasetReference, frozen=True, kw_only=True):
    """The difference between the rank of a dataset in a snapshot and its rank now.

    Attributes:
        reason: the cause of any difference: a change of its own `record`, `others` that moved past it, the `filters`,
            a new `formula`, or that it was `added` to the catalog or `withdrawn` from it.
        place, tied_with: the rank that it shares with datasets of the same score, and the number of the others.
        points: the criteria that add more or fewer points than before.
        changes: the changes in its record and its claims.
    """

    status: ReplayStatus
    reason: ReplayReason | None = None
    rank: Transition[int | None]
    place: Transition[int | None]
    tied_with: Transition[int | None]
    score: Transition[float | None]
    points: list[PointsChange]
    changes: list[FieldChange]


class Replay(Struct, frozen=True, kw_only=True):
    """The differences between a snapshot and the same ranking of the current catalog.

    Attributes:
        sha256: the digest of the snapshot.
        identical: whether the same datasets have the same ranks, scores and digests as in the snapshot.
        project_changes: the changes in the project itself.
        items: the datasets of the snapshot and of the current ranking.
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
