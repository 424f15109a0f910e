"""The training and explanation requests, with their fields, bounds, defaults and rules.

`TrainingRequest` and `ExplanationRequest` are the only definitions of these requests. The HTTP schemas are derived from
them (`jobs/request_schemas.py`, which also publishes their docstrings), and tests compare the client, the command line
and the pages with them.

`msgspec.convert` builds a request. It raises `msgspec.ValidationError` for a wrong type or a value out of bounds, and
`LearningError` for unknown names and contradictory options. Nothing here needs the data or the heavy libraries, so a
request can be rejected before a job exists. The functions in `request_checks_against_data.py` compare a request with
its table and its model.
"""

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta, Struct, field

from touchstone.learning.learning_errors import LearningError
from touchstone.learning.request_choices import (
    ALGORITHM_BY_NAME,
    ALGORITHMS,
    ENSEMBLE,
    METHOD_BY_NAME,
    METRIC_BY_NAME,
    Algorithm,
    Calibration,
    Duplicates,
    Mitigation,
    Output,
    Scope,
    Strategy,
    Task,
)

METHODS_FOR_ROWS: Final = ("shap", "counterfactual")
MAX_INSTANCES: Final = 1_000
MAX_NAMES: Final = 5_000
MIN_TEST_SHARE: Final = 0.05
MAX_TEST_SHARE: Final = 0.5
STRATEGIES_WITH_TIME_COLUMN: Final = (Strategy.AUTO, Strategy.TIME)
STRATEGIES_WITH_GROUP_COLUMN: Final = (Strategy.AUTO, Strategy.GROUP, Strategy.KFOLD)

# The types of the request fields. The names of algorithms, metrics and methods are checked when a request is built, so
# that the error can list the known names. Their `enum` is only for the OpenAPI document.
ColumnName = Annotated[str, Meta(min_length=1, max_length=1_000)]
ColumnNames = Annotated[tuple[ColumnName, ...], Meta(max_length=MAX_NAMES)]
SensitiveColumns = Annotated[tuple[ColumnName, ...], Meta(max_length=20)]
AlgorithmName = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"enum": [*ALGORITHM_BY_NAME]})]
MetricName = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"enum": [*METRIC_BY_NAME]})]
MethodName = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"enum": [*METHOD_BY_NAME]})]
RowNumber = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Cell = str | int | float | bool | None
CostOfError = Annotated[float, Meta(ge=0.001, le=1_000_000)]
CellRow = Annotated[dict[ColumnName, Cell], Meta(max_length=MAX_NAMES)]
DatasetKey = Annotated[int | str, Meta(description="The number or the UUID of a dataset.")]
ForeignId = Annotated[
    str,
    Meta(min_length=1, max_length=255, description="A UUID; a malformed one is answered like one that does not exist."),
]
IntendedUse = Annotated[
    str, Meta(min_length=1, max_length=1_000, description="What the model is to be used for; its model card says so.")
]
JobName = Annotated[str, Meta(min_length=1, max_length=255, description="A name of one's own for the job.")]


class Features(Struct, frozen=True, forbid_unknown_fields=True):
    """The columns to learn from: the included columns (all by default) without the excluded ones and the target."""

    include: ColumnNames = ()
    exclude: ColumnNames = ()

    def __post_init__(self) -> None:
        """Reject a column that is named twice or is both included and excluded."""
        require_distinct(self.include, field="features.include")
        require_distinct(self.exclude, field="features.exclude")

        for name in self.include:
            if name in self.exclude:
                raise LearningError("feature_both_ways", field="features", name=name)


class Split(Struct, frozen=True, forbid_unknown_fields=True):
    """How quality is measured."""

    strategy: Strategy = Strategy.AUTO
    test_size: Annotated[float, Meta(ge=MIN_TEST_SHARE, le=MAX_TEST_SHARE)] = 0.2  # for every strategy but kfold
    folds: Annotated[int, Meta(ge=2, le=10)] = 5  # for kfold
    time_column: ColumnName | None = None  # for auto and time
    group_column: ColumnName | None = None  # for auto, group and kfold
    duplicates: Duplicates = Duplicates.AUTO

    def require_consistency(self) -> None:
        """Reject a split by time or by group without its column, and a column that would be ignored."""
        if self.strategy is Strategy.TIME and self.time_column is None:
            raise LearningError("time_column_missing", field="split.time_column")
        if self.strategy is Strategy.GROUP and self.group_column is None:
            raise LearningError("group_column_missing", field="split.group_column")

        strategy = str(self.strategy)
        if self.time_column is not None and self.strategy not in STRATEGIES_WITH_TIME_COLUMN:
            raise LearningError("time_column_unexpected", field="split.time_column", strategy=strategy)
        if self.group_column is not None and self.strategy not in STRATEGIES_WITH_GROUP_COLUMN:
            raise LearningError("group_column_unexpected", field="split.group_column", strategy=strategy)
        if self.time_column is not None and self.group_column is not None:
            raise LearningError("split_by_two_columns", field="split")


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """The limits of the search: the number of trials and, as a safeguard, the total time of the training."""

    max_trials: Annotated[int, Meta(ge=1, le=200)] = 16
    max_runtime_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 1_800


class ErrorCosts(Struct, frozen=True, forbid_unknown_fields=True):
    """What a false positive and a false negative cost, in any unit."""

    fp: CostOfError
    fn: CostOfError


class Threshold(Struct, frozen=True, forbid_unknown_fields=True):
    """The choice of the decision threshold of a classifier with two classes, by a metric or by the costs of errors."""

    metric: MetricName | None = None
    cost: ErrorCosts | None = None

    def __post_init__(self) -> None:
        """Require either a metric or costs, and a metric that depends on the threshold."""
        if (self.metric is None) == (self.cost is None):
            raise LearningError("threshold_objective_count", field="threshold")
        if self.metric is None:
            return

        _require_known(self.metric, METRIC_BY_NAME, error_code="unknown_metric", field="threshold.metric")
        metric = METRIC_BY_NAME[self.metric]
        if metric.task is not Task.CLASSIFICATION or metric.probabilistic:
            raise LearningError("threshold_metric_unsuitable", field="threshold.metric", name=self.metric)


class TrainingOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options for training and measuring models that do not depend on the dataset and its target."""

    task: Task = Task.AUTO
    features: Features = field(default_factory=Features)
    sensitive_features: SensitiveColumns = ()
    algorithms: Annotated[tuple[AlgorithmName, ...], Meta(max_length=20)] = ()
    metric: MetricName | None = None
    split: Split = field(default_factory=Split)
    budget: Budget = field(default_factory=Budget)
    refit: bool = False  # whether the stored model learns from all rows once its quality has been measured
    positive_class: Cell = None  # of two classes, by default the rarer class
    threshold: Threshold | None = None
    calibration: Calibration = Calibration.AUTO
    mitigation: Mitigation = Mitigation.NONE  # against unequal treatment of the groups of sensitive columns
    sample_weight: ColumnName | None = None
    intended_use: IntendedUse | None = None
    seed: Seed = 0
    project_id: ForeignId | None = None
    name: JobName | None = None

    def __post_init__(self) -> None:
        """Validate everything that can be checked without the table.

        Raises:
            LearningError: a name is unknown or repeated, the package of an algorithm is not installed, the metric
                does not fit the task, or an option has no effect.
        """
        require_distinct(self.algorithms, field="algorithms")
        require_distinct(self.sensitive_features, field="sensitive_features")

        for position, name in enumerate(self.algorithms):
            field_path = f"algorithms.{position}"
            _require_known(name, ALGORITHM_BY_NAME, error_code="unknown_algorithm", field=field_path)
            _require_installed(ALGORITHM_BY_NAME[name], field=field_path)

        if self.metric is not None:
            _require_known(self.metric, METRIC_BY_NAME, error_code="unknown_metric", field="metric")
            task_of_metric = METRIC_BY_NAME[self.metric].task
            if self.task not in (Task.AUTO, task_of_metric):
                raise LearningError("metric_task_mismatch", field="metric", name=self.metric, task=str(self.task))

        _require_effective_size(self.split)
        if self.task is Task.REGRESSION:
            reject_options_without_effect(self, DECISION_OPTIONS, subject="task=regression")

    def require_consistency(self) -> None:
        """Validate the options about columns, to which a comparison adds options for single datasets.

        Raises:
            LearningError: a split lacks its column or has one without effect, a mitigation has no groups, or the
                column of weights is also a feature.
        """
        self.split.require_consistency()
        if self.mitigation is not Mitigation.NONE and not self.sensitive_features:
            raise LearningError("mitigation_without_groups", field="mitigation")
        if self.sample_weight in self.features.include:
            raise LearningError("sample_weight_conflict", field="sample_weight", name=self.sample_weight)

    @property
    def names_algorithms(self) -> bool:
        """Whether the request names the algorithms to try. An ensemble alone combines the default algorithms."""
        return any(name != ENSEMBLE for name in self.algorithms)

    @property
    def chosen_algorithms(self) -> tuple[str, ...]:
        """The algorithms to try, which are the installed default algorithms if the request names none."""
        single_algorithms = [algorithm for algorithm in ALGORITHMS if algorithm.name != ENSEMBLE]
        if self.names_algorithms:
            return tuple(algorithm.name for algorithm in single_algorithms if algorithm.name in self.algorithms)
        return tuple(algorithm.name for algorithm in single_algorithms if _is_tried_by_default(algorithm))

    @property
    def combines_models(self) -> bool:
        """Whether the best trials may be averaged, which is permitted by default or by naming the ensemble."""
        return not self.algorithms or ENSEMBLE in self.algorithms


class TrainingRequest(TrainingOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A training: predict the column `target` of a dataset from its other columns."""

    dataset_id: DatasetKey
    target: ColumnName

    def __post_init__(self) -> None:
        """Validate the options and the target.

        Raises:
            LearningError: the options are invalid, or the target also has another role, such as a feature.
        """
        super().__post_init__()
        self.require_consistency()
        _require_separate_target(self)

    @property
    def explained_job_id(self) -> None:
        """None, because only an explanation may depend on another job."""
        return None


class Instances(Struct, frozen=True, forbid_unknown_fields=True):
    """The rows to explain: by their number in the data file, from 0, or by value."""

    rows: Annotated[tuple[RowNumber, ...], Meta(max_length=MAX_INSTANCES)] = ()
    values: Annotated[tuple[CellRow, ...], Meta(max_length=MAX_INSTANCES)] = ()

    def __post_init__(self) -> None:
        """Reject a combination of row numbers and values, because the result could not identify the rows."""
        if self.rows and self.values:
            raise LearningError("instances_both_ways", field="instances")


class Background(Struct, frozen=True, forbid_unknown_fields=True):
    """The sample of rows that represents an average case."""

    size: Annotated[int, Meta(ge=1, le=1_000)] = 100


class ExplanationRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An explanation of a training job's model (`job_id`), or of a dataset alone (`dataset_id`)."""

    job_id: ForeignId | None = None
    dataset_id: DatasetKey | None = None
    scope: Scope = Scope.BOTH
    method: MethodName = "auto"
    instances: Instances = field(default_factory=Instances)
    background: Background = field(default_factory=Background)
    target_class: Cell = None  # by default the positive class; for the choice among several, see the reference
    output: Output = Output.PROBABILITY
    immutable: ColumnNames = ()  # columns that counterfactuals must not change
    target: ColumnName | None = None  # only for a dataset; a training job has its own
    sensitive_features: SensitiveColumns = ()  # only for a dataset
    seed: Seed = 0
    project_id: ForeignId | None = None
    name: JobName | None = None

    def __post_init__(self) -> None:
        """Validate everything that can be checked without the table and the model.

        Raises:
            LearningError: the request does not name either a training job or a dataset, or the method, the scope
                or another option does not fit the request.
        """
        _require_known(self.method, METHOD_BY_NAME, error_code="unknown_method", field="method")
        require_distinct(self.sensitive_features, field="sensitive_features")
        require_distinct(self.immutable, field="immutable")
        _require_one_subject(self)

        method = METHOD_BY_NAME[self.method]
        explains_model = self.job_id is not None
        if method.needs_model and not explains_model:
            raise LearningError("explain_needs_model", field="method", method=self.method)

        if explains_model:
            reject_options_without_effect(self, DATASET_OPTIONS, subject="job_id")
        else:
            reject_options_without_effect(self, MODEL_OPTIONS, subject="dataset_id")
        if self.method != "counterfactual":
            reject_options_without_effect(self, COUNTERFACTUAL_OPTIONS, subject=f"method={self.method}")

        if self.method == "permutation_importance":
            reject_options_without_effect(self, PREDICTION_OPTIONS, subject=f"method={self.method}")
        if explains_model and not self.asks_for(Scope.LOCAL, *METHODS_FOR_ROWS):
            is_global = self.scope is Scope.GLOBAL
            subject = "scope=global" if is_global else f"method={self.method}"
            reject_options_without_effect(self, ROW_OPTIONS, subject=subject)

        scopes_exclude_each_other = {self.scope, method.scope} == {Scope.GLOBAL, Scope.LOCAL}
        if scopes_exclude_each_other:
            raise LearningError("method_scope_mismatch", field="scope", method=self.method, scope=str(self.scope))

    @property
    def explained_job_id(self) -> str | None:
        """The id of the training job whose model is explained, or None if a dataset is explained."""
        return self.job_id

    def asks_for(self, scope: Scope, *methods: str) -> bool:
        """Return whether the request includes this scope, either with one of these methods or with `auto`."""
        includes_scope = self.scope in (scope, Scope.BOTH)
        return includes_scope and self.method in ("auto", *methods)


JobRequest: TypeAlias = TrainingRequest | ExplanationRequest


@dataclass(frozen=True, slots=True)
class ConditionalOption:
    """An option that only affects certain requests, and the condition that a request uses it."""

    field: str
    is_used: Callable[[Any], bool]


DECISION_OPTIONS: Final = (
    ConditionalOption("positive_class", lambda options: options.positive_class is not None),
    ConditionalOption("threshold", lambda options: options.threshold is not None),
    ConditionalOption(
        "calibration", lambda options: options.calibration in (Calibration.SIGMOID, Calibration.ISOTONIC)
    ),
    ConditionalOption("mitigation", lambda options: options.mitigation is not Mitigation.NONE),
)
DATASET_OPTIONS: Final = (
    ConditionalOption("method", lambda request: request.method == "data_profile"),
    ConditionalOption("target", lambda request: request.target is not None),
    ConditionalOption("sensitive_features", lambda request: bool(request.sensitive_features)),
)
COUNTERFACTUAL_OPTIONS: Final = (ConditionalOption("immutable", lambda request: bool(request.immutable)),)
CLASSIFIER_OPTIONS: Final = (
    ConditionalOption("target_class", lambda request: request.target_class is not None),
    ConditionalOption("output", lambda request: request.output is Output.LOG_ODDS),
)
ROW_OPTIONS: Final = (
    ConditionalOption("instances", lambda request: bool(request.instances.rows or request.instances.values)),
)
PREDICTION_OPTIONS: Final = (
    ConditionalOption("background", lambda request: request.background != Background()),
    *CLASSIFIER_OPTIONS,
)
MODEL_OPTIONS: Final = (
    ConditionalOption("scope", lambda request: request.scope is Scope.LOCAL),
    *ROW_OPTIONS,
    *PREDICTION_OPTIONS,
)


def reject_options_without_effect(
    request: TrainingOptions | ExplanationRequest, options: Iterable[ConditionalOption], *, subject: str
) -> None:
    """Raise `LearningError` if a request uses an option that has no effect on it.

    If such an option were ignored, its author would believe that it had been applied.

    Args:
        request: the request.
        options: the options that have no effect on the request.
        subject: the part of the request that makes the options ineffective, such as `dataset_id`. The error message
            quotes it.
    """
    for option in options:
        if not option.is_used(request):
            continue

        value = getattr(request, option.field)
        quoted_option = f"{option.field}={value}" if isinstance(value, str) else option.field
        raise LearningError("option_without_effect", field=option.field, option=quoted_option, subject=subject)


def chosen_features(request: TrainingRequest, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that a training may use as features, in the order of the table.

    These are the included columns, or all columns by default, without the excluded columns, the target and the column
    of weights.
    """
    included = set(request.features.include) or set(columns)
    excluded = {*request.features.exclude, request.target, request.sample_weight}
    return tuple(name for name in columns if name in included and name not in excluded)


def _require_effective_size(split: Split) -> None:
    """Raise `LearningError` if a split has a number of folds or a test size that its strategy does not use.

    The defaults are accepted, because a stored request contains them and may be sent again.
    """
    ineffective_field = "test_size" if split.strategy is Strategy.KFOLD else "folds"
    value = getattr(split, ineffective_field)
    if value != getattr(Split(), ineffective_field):
        path = f"split.{ineffective_field}"
        subject = f"split.strategy={split.strategy}"
        raise LearningError("option_without_effect", field=path, option=f"{path}={value}", subject=subject)


def find_nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name with the most similar spelling, or None if no name is similar."""
    matches = get_close_matches(name, list(known), n=1)
    return matches[0] if matches else None


def _require_known(name: str, known: Mapping[str, Any], *, error_code: str, field: str) -> None:
    """Raise `LearningError` with the known names, and a similar one as a suggestion, if a name is unknown."""
    if name not in known:
        nearest_name = find_nearest_name(name.lower(), known)  # all known names are in lower case
        raise LearningError(error_code, field=field, name=name, known=list(known), nearest=nearest_name)


def _is_installed(algorithm: Algorithm) -> bool:
    """Return whether the optional package that an algorithm may need is installed."""
    return algorithm.extra is None or importlib.util.find_spec(algorithm.extra) is not None


def _is_tried_by_default(algorithm: Algorithm) -> bool:
    """Return whether an algorithm is tried if a request names none."""
    twin = algorithm.faster_twin
    has_faster_twin = twin is not None and _is_installed(ALGORITHM_BY_NAME[twin])
    return algorithm.default and _is_installed(algorithm) and not has_faster_twin


def _require_installed(algorithm: Algorithm, *, field: str) -> None:
    """Raise `LearningError` if the optional package of an algorithm is not installed."""
    if not _is_installed(algorithm):
        raise LearningError("algorithm_not_installed", field=field, name=algorithm.name, extra=algorithm.extra)


def require_distinct(values: Sequence[int | str], *, field: str) -> None:
    """Raise `LearningError` for the first value that is repeated."""
    earlier_values: set[int | str] = set()
    for position, value in enumerate(values):
        if value in earlier_values:
            raise LearningError("duplicate_value", field=f"{field}.{position}", name=str(value))
        earlier_values.add(value)


def _require_separate_target(request: TrainingRequest) -> None:
    """Raise `LearningError` if the request also uses the target in another role."""
    if request.target in request.features.exclude:
        raise LearningError("target_excluded", field="features.exclude", name=request.target)
    if request.target in request.features.include:
        raise LearningError("target_as_feature", field="features.include", name=request.target)
    if request.target in request.sensitive_features:
        raise LearningError("target_sensitive", field="sensitive_features", name=request.target)
    if request.target in (request.split.time_column, request.split.group_column):
        raise LearningError("split_by_target", field="split", name=request.target)
    if request.target == request.sample_weight:
        raise LearningError("sample_weight_conflict", field="sample_weight", name=request.target)


def _require_one_subject(request: ExplanationRequest) -> None:
    """Raise `LearningError` unless an explanation names either a training job or a dataset."""
    if request.job_id is None and request.dataset_id is None:
        raise LearningError("explain_subject_missing", field="job_id")
    if request.job_id is not None and request.dataset_id is not None:
        raise LearningError("explain_subject_twice", field="dataset_id")
