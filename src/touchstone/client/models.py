"""Types of the responses of the service.

Unknown fields are ignored, so that the client understands newer versions of the service.
"""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from msgspec import Struct

from touchstone.client.choice_models import ChosenDataset
from touchstone.client.evidence_models import Person
from touchstone.client.response_parts import BestCase, DatasetReference, GateOutcome, Page, Weight
from touchstone.core.evidence import Assurance

Kind = Literal["train", "explain"]
Status = Literal["queued", "running", "cancelling", "succeeded", "failed", "cancelled"]
Visibility = Literal["public", "private"]
Locale = Literal["fr", "en"]


class Tokens(Struct, frozen=True, kw_only=True):
    """The tokens of a session.

    Attributes:
        expires_in: the lifetime of the access token in seconds.
        device: a token that identifies this device at its next sign-in; None in the response to a renewal.
    """

    access_token: str
    token_type: str
    expires_in: int | None = None
    refresh_token: str | None = None
    device: str | None = None

    def __repr__(self) -> str:
        """Return a text without the tokens, because notebooks store what they show."""
        return f"Tokens(token_type={self.token_type!r}, expires_in={self.expires_in!r})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return the fields that `rich` shows, which are those of `__repr__`."""
        return [("token_type", self.token_type), ("expires_in", self.expires_in)]


class Dataset(Struct, frozen=True, kw_only=True):
    """A record of the catalog. A yes-or-no attribute is None if it has not been assessed.

    Attributes:
        name, dataset_name: the name of the dataset, under both keys of the interface.
        metadata_omitted: whether a long list left out the metadata of the record; `get_dataset` returns them.
        declared_by: the creator of the record, or None for a record of the service.
        hidden: whether an administrator has hidden the record from everyone except its creator.
        missing_values_percentage: the share of missing cells, 0-100.
        ethical_score, technical_score, popularity_score: the composite scores, 0-1.
    """

    id: int
    dataset_id: UUID
    name: str
    dataset_name: str
    description: str = ""
    file_path: str = ""
    file_type: str = ""
    metadata: dict[str, Any] | None = None
    metadata_omitted: bool = False
    visibility: Visibility = "public"
    declared_by: Person | None = None
    hidden: bool = False
    hidden_reason: str | None = None
    objective: str | None = None
    domain: list[str] | None = None
    task: list[str] | None = None
    year: int | None = None
    instances_number: int | None = None
    features_number: int | None = None
    citations: int | None = None
    missing_values_percentage: float | None = None
    has_missing_values: bool | None = None
    is_split: bool | None = None
    has_temporal_factors: bool | None = None
    is_public: bool | None = None
    metadata_provided_with_dataset: bool | None = None
    external_documentation_available: bool | None = None
    informed_consent: bool | None = None
    transparency: bool | None = None
    user_control: bool | None = None
    equity_non_discrimination: bool | None = None
    security_measures_in_place: bool | None = None
    data_quality_documented: bool | None = None
    anonymization_applied: bool | None = None
    record_keeping_policy_exists: bool | None = None
    purpose_limitation_respected: bool | None = None
    accountability_defined: bool | None = None
    ethical_score: float | None = None
    technical_score: float | None = None
    popularity_score: float | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None
    etag: str | None = None


class Suggestion(Struct, frozen=True, kw_only=True):
    """A name, a domain or a task that completes a search text, with the number of its records."""

    kind: str
    text: str
    count: int


class Suggestions(Struct, frozen=True, kw_only=True):
    """Suggestions, the best first."""

    suggestions: list[Suggestion]


class DatasetPage(Page, frozen=True, kw_only=True):
    """One page of the records that match the filters; `total_count` is the number of all matching records."""

    datasets: list[Dataset]


class HiddenDataset(Struct, frozen=True, kw_only=True):
    """A record in the administration of hidden records."""

    id: int
    dataset_id: UUID
    name: str
    hidden: bool
    hidden_reason: str | None = None


class HiddenDatasetPage(Page, frozen=True, kw_only=True):
    """One page of the hidden records, for administrators."""

    datasets: list[HiddenDataset]


class DeclaredScore(Struct, frozen=True, kw_only=True):
    """The score of a dataset and the number of its known ethical attributes, if all declarations count."""

    score: float
    known: int


class ScoredDataset(DatasetReference, frozen=True, kw_only=True):
    """One dataset of a ranking.

    Attributes:
        rank: its unique position in the ranking.
        place: 1 plus the number of datasets with a higher score; datasets with the same score share a place.
        tied_with: the number of other datasets with exactly the same score.
        gates: the outcome of each gate, by name, or None if the ranking has no gates.
        known: the number of ethical attributes, of ten, that are known to be true or false.
        ethical_interval: the lowest and the highest ethical score that the unknown attributes allow.
        criterion_scores, points: the value of each criterion, and the points that each weighted criterion adds to the
            score. These and the following attributes are only present in explained rankings.
        unknown: the criteria without any known value, which count as 0.
        points_by_level: the part of the score that is supported by each level of evidence.
        declared: the score if every declared value counted.
        best_case: the highest score that the unknown values allow.
        sentence: the reason for the rank, in one sentence that can be quoted.
    """

    rank: int
    score: float
    ethical_score: float
    technical_score: float
    popularity_score: float
    place: int | None = None
    tied_with: int = 0
    instances_number: int | None = None
    features_number: int | None = None
    objective: str | None = None
    gates: dict[str, GateOutcome] | None = None
    criterion_scores: dict[str, float] | None = None
    points: dict[str, float] | None = None
    unknown: list[str] | None = None
    known: int | None = None
    ethical_interval: tuple[float, float] | None = None
    points_by_level: dict[str, float] | None = None
    declared: DeclaredScore | None = None
    best_case: BestCase | None = None
    sentence: str | None = None


class RankingNote(Struct, frozen=True, kw_only=True):
    """A note on a weighted criterion that does not distinguish the returned datasets.

    `code` is `criterion_equal` if all datasets have the same `value`, or `criterion_unknown` if none has a known value.
    """

    code: str
    criterion_name: str
    value: float | None
    sentence: str


class Ranking(Struct, frozen=True, kw_only=True):
    """A ranking of datasets, best first.

    Attributes:
        effective_weights: the weights of the criteria, which add up to 1.
        plan: the method that the service used to find the datasets.
    """

    datasets: list[ScoredDataset]
    total_count: int
    effective_weights: list[Weight]
    profile: str | None = None
    plan: str | None = None
    assurance: Assurance = Assurance.DECLARED
    notes: list[RankingNote] = []


class File(Struct, frozen=True, kw_only=True):
    """An uploaded table; records refer to it by its `file_path`."""

    id: UUID
    file_path: str
    file_type: str
    name: str
    bytes: int
    sha256: str
    created_at: datetime


class Files(Struct, frozen=True, kw_only=True):
    """The uploads of the caller, newest first, with the bytes that they use and may use in total."""

    files: list[File]
    used_bytes: int
    quota_bytes: int


class ExportedFile(Struct, frozen=True, kw_only=True):
    """A file that the service has created, such as a dataset in a metadata standard or a report."""

    content: bytes
    media_type: str
    name: str


class Project(Struct, frozen=True, kw_only=True):
    """A project: the need for data, the weights of the criteria, and the chosen dataset with the reason.

    Attributes:
        criteria: the filters for the datasets of the catalog.
        chosen_dataset: the dataset that was chosen, and whether its record or its claims have changed since then.
    """

    id: str
    user_id: UUID
    name: str
    description: str | None = None
    criteria: dict[str, Any] = {}
    weights: list[Weight] = []
    assurance: Assurance | None = None
    gates: dict[str, Any] = {}
    chosen_dataset_id: int | None = None
    chosen_dataset: ChosenDataset | None = None
    choice_reason: str | None = None
    created_at: datetime
    updated_at: datetime
    etag: str | None = None


class ProjectPage(Page, frozen=True, kw_only=True):
    """One page of the caller's projects, newest change first."""

    projects: list[Project]


class Recommendations(Struct, frozen=True, kw_only=True):
    """The ranking of the catalog for a project, best first."""

    project: Project
    datasets: list[ScoredDataset]
    total_count: int
    effective_weights: list[Weight]
    assurance: Assurance = Assurance.DECLARED
    notes: list[RankingNote] = []


class OAuthAccount(Struct, frozen=True, kw_only=True):
    """An external account that signs in the same user."""

    id: UUID | None = None
    oauth_name: str
    account_id: str
    account_email: str


class User(Struct, frozen=True, kw_only=True):
    """An account, as its owner and administrators see it."""

    id: UUID
    email: str
    is_active: bool = True
    is_superuser: bool = False
    is_curator: bool = False
    is_verified: bool = False
    pseudo: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    locale: str = "fr"
    picture: str | None = None
    has_password: bool = True
    oauth_accounts: list[OAuthAccount] = []
    created_at: datetime | None = None


class UserPage(Page, frozen=True, kw_only=True):
    """One page of the accounts, for administrators."""

    users: list[User]


class ResetToken(Struct, frozen=True, kw_only=True):
    """A single-use token for choosing a new password."""

    token: str
    expires_at: datetime | None = None


class Session(Struct, frozen=True, kw_only=True):
    """A session of the caller on one device."""

    id: UUID
    user_agent: str | None = None
    address: str | None = None
    created_at: datetime | None = None
    used_at: datetime | None = None
    current: bool = False


class Progress(Struct, frozen=True, kw_only=True):
    """The progress of a job; `percent` is between 0 and 100."""

    percent: float = 0
    phase: str | None = None
    step: int | None = None
    total_steps: int | None = None
    message: str | None = None


class JobFailure(Struct, frozen=True, kw_only=True):
    """The reason why a job failed."""

    code: str
    message: str
    phase: str | None = None


class Artifact(Struct, frozen=True, kw_only=True):
    """A file that a job has written."""

    name: str
    media_type: str | None = None
    bytes: int | None = None
    sha256: str | None = None


class Job(Struct, frozen=True, kw_only=True):
    """A training or an explanation with its request, its progress and its result."""

    id: UUID
    kind: Kind
    status: Status
    done: bool
    attempt: int = 0
    name: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    updated_at: datetime | None = None
    progress: Progress | None = None
    request: dict[str, Any] = {}
    project_id: UUID | None = None
    parent_job_id: UUID | None = None
    inputs: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: JobFailure | None = None
    artifacts: list[Artifact] = []


class JobPage(Page, frozen=True, kw_only=True):
    """One page of the caller's jobs, newest first."""

    jobs: list[Job]


class JobEvent(Struct, frozen=True, kw_only=True):
    """An event of a job; a new stream can continue after its `id`."""

    id: str
    event: str
    data: dict[str, Any]


class Health(Struct, frozen=True, kw_only=True):
    """The state of the service and, by name, of each of its resources.

    Attributes:
        records, total_records: the number of records that were read so far while the catalog is loaded, and of all.
    """

    status: str
    resources: dict[str, str] = {}
    records: int | None = None
    total_records: int | None = None
