"""Types of the service's responses. Unknown fields are ignored, so that the client also understands a newer service."""

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
    """An answer to a sign-in; `expires_in` in seconds.

    Attributes:
        device: shows at the next sign-in that this device has signed in before; None in an answer to a renewal.
    """

    access_token: str
    token_type: str
    expires_in: int | None = None
    refresh_token: str | None = None
    device: str | None = None


class Dataset(Struct, frozen=True, kw_only=True):
    """A record of the catalog, in both shapes of the interface; a flag is None while nobody has assessed it.

    `declared_by`: who has declared what the record says; None for records of the service. `hidden`: an administrator
    hides the record from everybody but its creator.

    `metadata_omitted`: the record comes from a long list that left its metadata out; read it alone to have them.
    The composite scores lie between 0 and 1, `missing_values_percentage` between 0 and 100.
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
    """A name, a domain or a task that somebody may be typing, and the number of records that have it."""

    kind: str
    text: str
    count: int


class Suggestions(Struct, frozen=True, kw_only=True):
    """Suggestions, the best first."""

    suggestions: list[Suggestion]


class DatasetPage(Page, frozen=True, kw_only=True):
    """One page of the catalog; `total_count` counts all records that match."""

    datasets: list[Dataset]


class HiddenDataset(Struct, frozen=True, kw_only=True):
    """A record as administrators see it who hide it or show it again."""

    id: int
    dataset_id: UUID
    name: str
    hidden: bool
    hidden_reason: str | None = None


class HiddenDatasetPage(Page, frozen=True, kw_only=True):
    """One page of the hidden records, for administrators."""

    datasets: list[HiddenDataset]


class DeclaredScore(Struct, frozen=True, kw_only=True):
    """The score of a dataset, and the number of its known ethical criteria, if all declarations count."""

    score: float
    known: int


class ScoredDataset(DatasetReference, frozen=True, kw_only=True):
    """One dataset of a ranking.

    Attributes:
        rank: Its position; no two datasets have the same.
        place: 1 plus the number of datasets with a higher score, so that datasets with the same score share a place.
        tied_with: How many other datasets have exactly the same score.
        gates: The outcome of each requirement, by name; None if there are no requirements.
        known: How many of the ten ethical attributes are known to be true or false.
        ethical_interval: The lowest and the highest ethical score that the unknown ones of these attributes allow.
        criterion_scores, points: The value of each criterion, and what each weighted one adds to the score. These and
            the following attributes are only present in explained rankings.
        unknown: The criteria about which nothing is known; their value is 0 for want of a better one.
        points_by_level: How much of the score rests on each level of evidence.
        declared: The score if every declared value counted.
        best_case: The highest score that the unknown values allow.
        sentence: Why the dataset has its rank, in one sentence that can be quoted.
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
    """A note on a weighted criterion that does not distinguish the datasets shown.

    `code` is `criterion_equal` if all of them have the same `value`, or `criterion_unknown` if nothing is known about
    the criterion for any of them.
    """

    code: str
    criterion_name: str
    value: float | None
    sentence: str


class Ranking(Struct, frozen=True, kw_only=True):
    """Scored datasets, best first; the effective weights add up to 1, `plan` says how they were found."""

    datasets: list[ScoredDataset]
    total_count: int
    effective_weights: list[Weight]
    profile: str | None = None
    plan: str | None = None
    assurance: Assurance = Assurance.DECLARED
    notes: list[RankingNote] = []


class File(Struct, frozen=True, kw_only=True):
    """A table that was uploaded; its `file_path` is what a record names."""

    id: UUID
    file_path: str
    file_type: str
    name: str
    bytes: int
    sha256: str
    created_at: datetime


class Files(Struct, frozen=True, kw_only=True):
    """One's uploads, newest first, and how many bytes they take and may take together."""

    files: list[File]
    used_bytes: int
    quota_bytes: int


class ExportedFile(Struct, frozen=True, kw_only=True):
    """A dataset as a document in a metadata standard, with a name for the file."""

    content: bytes
    media_type: str
    name: str


class Project(Struct, frozen=True, kw_only=True):
    """A need, the weights it calls for, and the dataset that was chosen with the reason why.

    `chosen_dataset`: the dataset that was chosen, and whether its record or its claims have changed since.
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
    """What the catalog offers for a project, best first."""

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
    oauth_accounts: list[OAuthAccount] = []
    created_at: datetime | None = None


class UserPage(Page, frozen=True, kw_only=True):
    """One page of the accounts, for administrators."""

    users: list[User]


class ResetToken(Struct, frozen=True, kw_only=True):
    """A single-use token with which someone chooses a new password."""

    token: str
    expires_at: datetime | None = None


class Session(Struct, frozen=True, kw_only=True):
    """A session of the caller: a device on which they are signed in."""

    id: UUID
    user_agent: str | None = None
    address: str | None = None
    created_at: datetime | None = None
    used_at: datetime | None = None
    current: bool = False


class Progress(Struct, frozen=True, kw_only=True):
    """The progress of a job; `percent` lies between 0 and 100."""

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
    """A file that a job made."""

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
    """One message of a job's event stream: its id (to go on from), its name and its data."""

    id: str
    event: str
    data: dict[str, Any]


class Health(Struct, frozen=True, kw_only=True):
    """The state of the service, and of each of its resources by name.

    While the catalog is being loaded, `records` of `total_records` have been read.
    """

    status: str
    resources: dict[str, str] = {}
    records: int | None = None
    total_records: int | None = None
