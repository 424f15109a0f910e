"""Keyword arguments of the client's methods: filters, fields of records and projects, and options of jobs."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict
from uuid import UUID

from touchstone.client.evidence_models import AssuranceName
from touchstone.client.models import Locale, Visibility

Words = str | Sequence[str]
GateChoice = Literal["all", "pass"]  # whether a ranking leaves out what does not pass every gate


class Filters(TypedDict, total=False):
    """The filters of the dataset list, the scoring, the facets and the projects (interface 4.2 and its additions).

    Bounds are inclusive; scores and percentages run from 0 to 100; a text is searched within the value, ignoring case
    and accents; of several words any may match.
    """

    q: str | None
    dataset_name: str | None
    objective: str | None
    domain: Words | None
    task: Words | None
    license: Words | None
    language: Words | None
    source: Words | None
    trainable: bool | None
    file_type: Words | None
    visibility: Visibility | None
    year_min: int | None
    year_max: int | None
    instances_min: int | None
    instances_max: int | None
    instances_number_min: int | None
    instances_number_max: int | None
    features_min: int | None
    features_max: int | None
    features_number_min: int | None
    features_number_max: int | None
    citations_min: int | None
    citations_max: int | None
    missing_values_percentage_min: float | None
    missing_values_percentage_max: float | None
    ethical_score_min: float | None
    technical_score_min: float | None
    popularity_score_min: float | None
    has_missing_values: bool | None
    split: bool | None
    is_split: bool | None
    is_anonymized: bool | None
    has_temporal_factors: bool | None
    is_public: bool | None
    metadata_provided_with_dataset: bool | None
    external_documentation_available: bool | None
    informed_consent: bool | None
    transparency: bool | None
    user_control: bool | None
    equity_non_discrimination: bool | None
    security_measures_in_place: bool | None
    data_quality_documented: bool | None
    anonymization_applied: bool | None
    record_keeping_policy_exists: bool | None
    purpose_limitation_respected: bool | None
    accountability_defined: bool | None


class SearchFilters(TypedDict, total=False):
    """The filters that a search takes beside its own criteria."""

    q: str | None
    license: Words | None
    language: Words | None
    source: Words | None
    trainable: bool | None


class Gates(TypedDict, total=False):
    """Requirements that are kept apart from the score.

    A flag names the level of evidence at which it must be true. All others are as in `Filters`.
    """

    has_missing_values: AssuranceName | None
    split: AssuranceName | None
    is_split: AssuranceName | None
    is_anonymized: AssuranceName | None
    has_temporal_factors: AssuranceName | None
    is_public: AssuranceName | None
    metadata_provided_with_dataset: AssuranceName | None
    external_documentation_available: AssuranceName | None
    informed_consent: AssuranceName | None
    transparency: AssuranceName | None
    user_control: AssuranceName | None
    equity_non_discrimination: AssuranceName | None
    security_measures_in_place: AssuranceName | None
    data_quality_documented: AssuranceName | None
    anonymization_applied: AssuranceName | None
    record_keeping_policy_exists: AssuranceName | None
    purpose_limitation_respected: AssuranceName | None
    accountability_defined: AssuranceName | None
    license: Words | None
    language: Words | None
    source: Words | None
    trainable: bool | None
    domain: Words | None
    task: Words | None
    year_min: int | None
    year_max: int | None
    instances_min: int | None
    instances_max: int | None
    instances_number_min: int | None
    instances_number_max: int | None
    features_min: int | None
    features_max: int | None
    features_number_min: int | None
    features_number_max: int | None
    citations_min: int | None
    citations_max: int | None
    missing_values_percentage_min: float | None
    missing_values_percentage_max: float | None


class ScoringOptions(TypedDict, total=False):
    """The options of a ranking.

    `limit` and `skip` choose the part of the ranking that is returned, `explain` adds an explanation to each item,
    `assurance` is the weakest evidence that counts, and with `gate="pass"`, only what passes every gate is ranked.
    """

    limit: int | None
    skip: int
    explain: bool
    assurance: AssuranceName | None
    gate: GateChoice | None


class RankingRequirements(TypedDict, total=False):
    """What a ranking requires of its datasets, beside the filters.

    `assurance` is the weakest evidence that counts. The `gates` are requirements that do not affect scores; with
    `gate="pass"`, only what passes every gate is ranked.
    """

    assurance: AssuranceName | None
    gates: Gates | None
    gate: GateChoice | None


class StabilityOptions(TypedDict, total=False):
    """The options of a test whether the first datasets of a ranking keep their ranks under slightly different weights.

    `k` is the number of datasets to be tested, `samples` how many times the ranking is repeated, `spread` the share by
    which each weight is raised or lowered at most, and `seed` where the random numbers start. With `unknown_ranks`, the
    response also has the best and the worst rank that unknown ethical attributes allow.
    """

    k: int
    samples: int
    spread: float
    seed: int
    unknown_ranks: bool


class StabilityParameters(StabilityOptions, RankingRequirements, total=False):
    """The options of a stability test, and what the ranking requires."""


class DatasetAttributes(TypedDict, total=False):
    """The optional fields of a record; None clears one, a flag that is None is not assessed."""

    visibility: Visibility
    metadata: dict[str, Any] | None
    objective: str | None
    domain: list[str] | None
    task: list[str] | None
    year: int | None
    instances_number: int | None
    features_number: int | None
    citations: int | None
    missing_values_percentage: float | None
    has_missing_values: bool | None
    is_split: bool | None
    has_temporal_factors: bool | None
    is_public: bool | None
    metadata_provided_with_dataset: bool | None
    external_documentation_available: bool | None
    informed_consent: bool | None
    transparency: bool | None
    user_control: bool | None
    equity_non_discrimination: bool | None
    security_measures_in_place: bool | None
    data_quality_documented: bool | None
    anonymization_applied: bool | None
    record_keeping_policy_exists: bool | None
    purpose_limitation_respected: bool | None
    accountability_defined: bool | None


class DatasetFields(DatasetAttributes, total=False):
    """Every field of a record that its creator may change."""

    name: str
    description: str
    file_path: str
    file_type: str


class ProjectFields(TypedDict, total=False):
    """The fields of a project beside its name; `weights` by criterion, `criteria` and `gates` by name."""

    description: str | None
    criteria: Filters | None
    weights: Mapping[str, float] | None
    assurance: AssuranceName | None
    gates: Gates | None
    chosen_dataset_id: int | None
    choice_reason: str | None


class ProjectChanges(ProjectFields, total=False):
    """The fields of a project that may be changed: those left out stay, None clears."""

    name: str


class ClaimDetails(TypedDict, total=False):
    """The evidence for a claim.

    `quote` is verbatim, `place` says where in the source it stands, and `source` is the document, with `kind`, `name`,
    `url` and `sha256`. `scope` says whom the quote is about, `subjects` or `annotators`. With `not_applicable`, the
    value is None. After the moment `until`, in ISO 8601, the claim no longer counts.
    """

    not_applicable: bool
    quote: str
    place: str
    source: Mapping[Literal["kind", "name", "url", "sha256"], str]
    scope: Literal["subjects", "annotators"]
    standard: str
    field: str
    until: str


class ProfileFields(TypedDict, total=False):
    """The fields of one's own profile that may be changed; None clears."""

    pseudo: str | None
    given_name: str | None
    family_name: str | None
    locale: Locale


class TrainOptions(TypedDict, total=False):
    """The options of a training besides its dataset and its target; the service chooses those that are left out."""

    task: Literal["auto", "classification", "regression"]
    features: Mapping[Literal["include", "exclude"], Sequence[str]]
    sensitive_features: Sequence[str]
    algorithms: Sequence[str]
    metric: str
    split: Mapping[str, Any]
    budget: Mapping[Literal["max_trials", "max_runtime_seconds"], int]
    refit: bool
    positive_class: str | int | float | bool | None
    threshold: Mapping[Literal["metric", "cost"], Any]
    calibration: Literal["auto", "none", "sigmoid", "isotonic"]
    mitigation: Literal["none", "thresholds", "reweighing"]
    sample_weight: str
    intended_use: str
    seed: int
    project_id: str
    name: str


class DatasetOptions(TypedDict, total=False):
    """The options of one training of a comparison that name columns and classes of its dataset."""

    features: Mapping[Literal["include", "exclude"], Sequence[str]]
    sensitive_features: Sequence[str]
    positive_class: str | int | float | bool | None
    sample_weight: str
    time_column: str
    group_column: str


class ExplainOptions(TypedDict, total=False):
    """The subject of an explanation (a training by `job_id`, or a dataset by `dataset_id`), and its options."""

    job_id: str | UUID
    dataset_id: int
    scope: Literal["global", "local", "both"]
    method: str
    instances: Mapping[Literal["rows", "values"], Sequence[Any]]
    background: Mapping[Literal["size"], int]
    target_class: str | int | float | bool | None
    output: str
    immutable: Sequence[str]
    target: str
    sensitive_features: Sequence[str]
    seed: int
    project_id: str
    name: str
