"""Types of keyword arguments of the client: filters, fields of records and projects, and options of jobs."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict
from uuid import UUID

from touchstone.client.evidence_models import AssuranceName
from touchstone.client.models import Locale, Visibility
from touchstone.client.response_parts import Weight

Words = str | Sequence[str]
# By the names of criteria, as a project has them, or as the API expects them.
CriterionWeights = Mapping[str, float] | Sequence[Weight] | Sequence[Mapping[str, Any]]
GateChoice = Literal["all", "pass"]  # whether a ranking has all datasets, or only the ones that pass every gate


class Filters(TypedDict, total=False):
    """The filters of lists of datasets, rankings, facets and projects.

    Bounds are inclusive, and scores and percentages range from 0 to 100. A string matches any part of the value,
    ignoring case and accents. If several words are given, one of them has to match.
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
    """The filters that a search accepts in addition to its own criteria."""

    q: str | None
    license: Words | None
    language: Words | None
    source: Words | None
    trainable: bool | None


class Gates(TypedDict, total=False):
    """Requirements that do not affect the score.

    A yes-or-no attribute requires the level of evidence at which it must be true. All others are as in `Filters`.
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

    `limit` and `skip` select the part of the ranking that is returned, and `explain` adds an explanation to each item.
    `assurance` is the weakest evidence that counts. With `gate="pass"`, only datasets that pass every gate are ranked.
    """

    limit: int | None
    skip: int
    explain: bool
    assurance: AssuranceName | None
    gate: GateChoice | None


class RankingRequirements(TypedDict, total=False):
    """The requirements of a ranking in addition to its filters.

    `assurance` is the weakest evidence that counts. The `gates` are requirements that do not affect scores. With
    `gate="pass"`, only datasets that pass every gate are ranked.
    """

    assurance: AssuranceName | None
    gates: Gates | None
    gate: GateChoice | None


class StabilityOptions(TypedDict, total=False):
    """The options of a test that repeats a ranking with slightly different weights.

    `k` is the number of datasets to test, and `samples` the number of repetitions. Each weight is raised or lowered by
    at most the share `spread`, and `seed` initializes the random numbers. With `unknown_ranks`, the response also has
    the best and the worst rank that unknown ethical attributes allow.
    """

    k: int
    samples: int
    spread: float
    seed: int
    unknown_ranks: bool


class StabilityParameters(StabilityOptions, RankingRequirements, total=False):
    """The options of a stability test, and the requirements of the ranking that it repeats."""


class DatasetAttributes(TypedDict, total=False):
    """The optional fields of a record. None clears a field, and marks a yes-or-no attribute as not assessed."""

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
    """The fields of a record that its creator may change."""

    name: str
    description: str
    file_path: str
    file_type: str


class ProjectFields(TypedDict, total=False):
    """The fields of a project in addition to its name.

    `weights` maps the names of criteria to numbers, or is a list such as the weights of another project.
    """

    description: str | None
    criteria: Filters | None
    weights: CriterionWeights | None
    assurance: AssuranceName | None
    gates: Gates | None
    chosen_dataset_id: int | None
    choice_reason: str | None


class ProjectChanges(ProjectFields, total=False):
    """The fields of a project to change; omitted fields stay as they are, and None clears a field."""

    name: str


class ClaimDetails(TypedDict, total=False):
    """The evidence for a claim.

    `quote` is verbatim, `place` describes its position in the source, and `source` is the document, with `kind`,
    `name`, `url` and `sha256`. `scope` says whom the quote is about, `subjects` or `annotators`. With `not_applicable`,
    the value is None. The claim counts until the timestamp `until`, in ISO 8601.
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
    """The fields of the caller's profile to change; None clears a field."""

    pseudo: str | None
    given_name: str | None
    family_name: str | None
    locale: Locale


class TrainOptions(TypedDict, total=False):
    """The options of a training in addition to its dataset and target; the service chooses omitted ones."""

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
    project_id: str | UUID
    name: str


class DatasetOptions(TypedDict, total=False):
    """The options of a comparison that name columns and classes of one of its datasets."""

    features: Mapping[Literal["include", "exclude"], Sequence[str]]
    sensitive_features: Sequence[str]
    positive_class: str | int | float | bool | None
    sample_weight: str
    time_column: str
    group_column: str


class ExplainOptions(TypedDict, total=False):
    """The training (`job_id`) or the dataset (`dataset_id`) to explain, and the options of the explanation."""

    job_id: str | UUID
    dataset_id: int | str | UUID
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
    project_id: str | UUID
    name: str
