"""Requests for trainings and explanations, and the tables of algorithms, metrics and methods they may name.

`TrainingRequest` and `ExplanationRequest` are the only definitions of these requests. The HTTP schema is derived from
them (`jobs/request_schemas.py`), and tests compare the client, the command line and the pages with them.

A request is converted with `msgspec.convert`, which raises `msgspec.ValidationError` for a wrong type or a value out of
bounds, and `LearningError` for unknown names and contradictory options. Nothing here needs the data or the heavy
libraries, so a request can be rejected before a job exists. The `check_...` functions compare it with the table or the
model, once those are known.
"""

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from math import inf
from typing import Annotated, Any, Final, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field

from touchstone.learning.errors import LearningError
from touchstone.messages.labels import ALGORITHM_LABELS, METHOD_LABELS, METRIC_LABELS
from touchstone.messages.locales import Text

MIN_ROWS: Final = 20  # With fewer rows, no split leaves enough both to train and to evaluate.
MAX_INSTANCES: Final = 1_000
MAX_NAMES: Final = 5_000


class Task(StrEnum):
    """What a model predicts: a class, a number, or whichever the target column looks like."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class Strategy(StrEnum):
    """How rows are held out for evaluation."""

    HOLDOUT = "holdout"  # one random part, stratified by class
    KFOLD = "kfold"  # every row is evaluated once, by a model that was not trained on it
    TIME = "time"  # the latest rows, so that the past predicts the future


class Scope(StrEnum):
    """Whether an explanation covers the model as a whole, single predictions, or both."""

    GLOBAL = "global"
    LOCAL = "local"
    BOTH = "both"


class Output(StrEnum):
    """The scale on which a classifier is explained."""

    PROBABILITY = "probability"
    LOG_ODDS = "log_odds"


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A family of models; `extra` names the optional package that it needs."""

    name: str
    extra: str | None = None
    default: bool = True

    @property
    def label(self) -> Text:
        """Return the displayed name."""
        return ALGORITHM_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure of quality for one task.

    Attributes:
        probabilistic: it is computed from probabilities instead of predicted labels or values.
        prevalence_free: it gives every class the same weight, so models are trained with balanced classes.
        least: the lower bound of its values.
        most: the upper bound of its values.
    """

    name: str
    task: Task
    greater_is_better: bool = True
    probabilistic: bool = False
    prevalence_free: bool = False
    least: float = 0.0
    most: float = 1.0

    @property
    def label(self) -> Text:
        """Return the displayed name."""
        return METRIC_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Method:
    """An explanation method, the scope it can cover, and whether it needs a trained model."""

    name: str
    scope: Scope
    needs_model: bool = True

    @property
    def label(self) -> Text:
        """Return the displayed name."""
        return METHOD_LABELS[self.name]


ALGORITHMS: Final[tuple[Algorithm, ...]] = (
    Algorithm("linear"),
    Algorithm("hist_gradient_boosting"),
    Algorithm("random_forest"),
    Algorithm("decision_tree"),
    Algorithm("baseline", default=False),
    Algorithm("lightgbm", extra="lightgbm", default=False),
)

METRICS: Final[tuple[Metric, ...]] = (
    Metric("balanced_accuracy", Task.CLASSIFICATION, prevalence_free=True),
    Metric("accuracy", Task.CLASSIFICATION),
    Metric("f1_macro", Task.CLASSIFICATION, prevalence_free=True),
    Metric("precision_macro", Task.CLASSIFICATION, prevalence_free=True),
    Metric("recall_macro", Task.CLASSIFICATION, prevalence_free=True),
    Metric("roc_auc", Task.CLASSIFICATION, probabilistic=True),
    Metric("average_precision", Task.CLASSIFICATION, probabilistic=True),
    Metric("log_loss", Task.CLASSIFICATION, greater_is_better=False, probabilistic=True, most=inf),
    Metric("brier", Task.CLASSIFICATION, greater_is_better=False, probabilistic=True, most=2.0),
    Metric("r2", Task.REGRESSION, least=-inf),
    Metric("rmse", Task.REGRESSION, greater_is_better=False, most=inf),
    Metric("mae", Task.REGRESSION, greater_is_better=False, most=inf),
    Metric("median_ae", Task.REGRESSION, greater_is_better=False, most=inf),
)

METHODS: Final[tuple[Method, ...]] = (
    Method("auto", Scope.BOTH, needs_model=False),
    Method("permutation_importance", Scope.GLOBAL),
    Method("partial_dependence", Scope.GLOBAL),
    Method("shap", Scope.BOTH),
    Method("counterfactual", Scope.LOCAL),
    Method("data_profile", Scope.GLOBAL, needs_model=False),
)

ALGORITHM_BY_NAME: Final = {algorithm.name: algorithm for algorithm in ALGORITHMS}
METRIC_BY_NAME: Final = {metric.name: metric for metric in METRICS}
METHOD_BY_NAME: Final = {method.name: method for method in METHODS}
DEFAULT_METRIC: Final = {Task.CLASSIFICATION: "balanced_accuracy", Task.REGRESSION: "r2"}


# The types of the requests' fields. Names of algorithms, metrics and methods are checked when a request is built, so
# that the error can list the known names; the enumeration is for the OpenAPI document.
ColumnName = Annotated[str, Meta(min_length=1, max_length=1_000)]
ColumnNames = Annotated[tuple[ColumnName, ...], Meta(max_length=MAX_NAMES)]
SensitiveColumns = Annotated[tuple[ColumnName, ...], Meta(max_length=20)]
AlgorithmName = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"enum": [*ALGORITHM_BY_NAME]})]
MetricName = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"enum": [*METRIC_BY_NAME]})]
MethodName = Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"enum": [*METHOD_BY_NAME]})]
RowNumber = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Cell = str | int | float | bool | None
CellRow = Annotated[dict[ColumnName, Cell], Meta(max_length=MAX_NAMES)]
DatasetKey = Annotated[int | str, Meta(description="The number or the UUID of a dataset.")]
ForeignId = Annotated[
    str,
    Meta(min_length=1, max_length=255, description="A UUID; a malformed one is answered like one that does not exist."),
]
JobName = Annotated[str, Meta(min_length=1, max_length=255, description="A name of one's own for the job.")]


class Features(Struct, frozen=True, forbid_unknown_fields=True):
    """Which columns may be learned from: `include` (empty: all) less `exclude` less the target."""

    include: ColumnNames = ()
    exclude: ColumnNames = ()

    def __post_init__(self) -> None:
        """Reject a column that is named twice or is both included and excluded."""
        _require_distinct(self.include, "features.include")
        _require_distinct(self.exclude, "features.exclude")

        for name in self.include:
            if name in self.exclude:
                raise LearningError("feature_both_ways", field="features", name=name)


class Split(Struct, frozen=True, forbid_unknown_fields=True):
    """How quality is measured."""

    strategy: Strategy = Strategy.HOLDOUT
    test_size: Annotated[float, Meta(ge=0.05, le=0.5)] = 0.2  # for holdout and time
    folds: Annotated[int, Meta(ge=2, le=10)] = 5  # for kfold
    time_column: ColumnName | None = None  # for time

    def __post_init__(self) -> None:
        """Reject a time split without a time column, and a time column that would be ignored."""
        if self.strategy is Strategy.TIME and self.time_column is None:
            raise LearningError("time_column_missing", field="split.time_column")
        if self.strategy is not Strategy.TIME and self.time_column is not None:
            raise LearningError("time_column_unexpected", field="split.time_column", strategy=str(self.strategy))


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """How much may be tried: trials decide, seconds are only a safety stop."""

    max_trials: Annotated[int, Meta(ge=1, le=200)] = 8
    max_runtime_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 1_800


class TrainingRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A training: predict the column `target` of a dataset from its other columns."""

    dataset_id: DatasetKey
    target: ColumnName
    task: Task = Task.AUTO
    features: Features = field(default_factory=Features)
    sensitive_features: SensitiveColumns = ()
    algorithms: Annotated[tuple[AlgorithmName, ...], Meta(max_length=20)] = ()
    metric: MetricName | None = None
    split: Split = field(default_factory=Split)
    budget: Budget = field(default_factory=Budget)
    seed: Seed = 0
    project_id: ForeignId | None = None
    name: JobName | None = None

    def __post_init__(self) -> None:
        """Reject unknown names and contradictory options."""
        _require_distinct(self.algorithms, "algorithms")
        _require_distinct(self.sensitive_features, "sensitive_features")

        for position, name in enumerate(self.algorithms):
            place = f"algorithms.{position}"
            _require_known(name, ALGORITHM_BY_NAME, "unknown_algorithm", place)
            _require_installed(ALGORITHM_BY_NAME[name], place)

        if self.metric is not None:
            _require_known(self.metric, METRIC_BY_NAME, "unknown_metric", "metric")
            if self.task is not Task.AUTO and METRIC_BY_NAME[self.metric].task is not self.task:
                raise LearningError("metric_task_mismatch", field="metric", name=self.metric, task=str(self.task))

        _require_separate_target(self)

    @property
    def explained_job_id(self) -> None:
        """Return None: a training does not build on another job."""
        return None

    @property
    def chosen_algorithms(self) -> tuple[str, ...]:
        """Return the algorithms to try, in the order of the table; the default ones if the request names none."""
        if not self.algorithms:
            return tuple(algorithm.name for algorithm in ALGORITHMS if algorithm.default)
        return tuple(algorithm.name for algorithm in ALGORITHMS if algorithm.name in self.algorithms)


class Instances(Struct, frozen=True, forbid_unknown_fields=True):
    """The rows to explain: by their number in the data file, from 0, or by value."""

    rows: Annotated[tuple[RowNumber, ...], Meta(max_length=MAX_INSTANCES)] = ()
    values: Annotated[tuple[CellRow, ...], Meta(max_length=MAX_INSTANCES)] = ()

    def __post_init__(self) -> None:
        """Reject row numbers together with values: the result could not say which row is which."""
        if self.rows and self.values:
            raise LearningError("instances_both_ways", field="instances")


class Background(Struct, frozen=True, forbid_unknown_fields=True):
    """The sample of rows that stands for an average case."""

    size: Annotated[int, Meta(ge=1, le=1_000)] = 100


class ExplanationRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An explanation of a training job's model (`job_id`), or of a dataset alone (`dataset_id`)."""

    job_id: ForeignId | None = None
    dataset_id: DatasetKey | None = None
    scope: Scope = Scope.BOTH
    method: MethodName = "auto"
    instances: Instances = field(default_factory=Instances)
    background: Background = field(default_factory=Background)
    target_class: Cell | UnsetType = UNSET  # None is a class that a table may have, so it cannot mean "not given".
    output: Output = Output.PROBABILITY
    target: ColumnName | None = None  # only for a dataset; a training job has its own
    sensitive_features: SensitiveColumns = ()  # only for a dataset
    seed: Seed = 0
    project_id: ForeignId | None = None
    name: JobName | None = None

    def __post_init__(self) -> None:
        """Reject a request without exactly one subject, or whose options do not fit its subject or method."""
        _require_known(self.method, METHOD_BY_NAME, "unknown_method", "method")
        _require_distinct(self.sensitive_features, "sensitive_features")

        if self.job_id is None and self.dataset_id is None:
            raise LearningError("explain_subject_missing", field="job_id")
        if self.job_id is not None and self.dataset_id is not None:
            raise LearningError("explain_subject_twice", field="dataset_id")

        method = METHOD_BY_NAME[self.method]
        if self.job_id is None and method.needs_model:
            raise LearningError("explain_needs_model", field="method", method=self.method)
        if self.job_id is None:
            _reject_useless_options(self, MODEL_OPTIONS, subject="dataset_id")
        else:
            _reject_useless_options(self, DATASET_OPTIONS, subject="job_id")
        if {self.scope, method.scope} == {Scope.GLOBAL, Scope.LOCAL}:
            raise LearningError("method_scope_mismatch", field="scope", method=self.method, scope=str(self.scope))

    @property
    def explained_job_id(self) -> str | None:
        """Return the id of the training job whose model is explained, or None for a dataset."""
        return self.job_id

    def asks_for(self, part: Scope, *methods: str) -> bool:
        """Return whether this part of the result is requested, by one of these methods or by `auto`."""
        return self.scope in (part, Scope.BOTH) and self.method in ("auto", *methods)


JobRequest: TypeAlias = TrainingRequest | ExplanationRequest


@dataclass(frozen=True, slots=True)
class ExplanationOption:
    """An option of an explanation that only some subjects can serve, and whether a request uses it."""

    field: str
    is_used: Callable[[ExplanationRequest], bool]


DATASET_OPTIONS: Final = (
    ExplanationOption("method", lambda request: request.method == "data_profile"),
    ExplanationOption("target", lambda request: request.target is not None),
    ExplanationOption("sensitive_features", lambda request: bool(request.sensitive_features)),
)
CLASSIFIER_OPTIONS: Final = (
    ExplanationOption("method", lambda request: request.method == "counterfactual"),
    ExplanationOption("target_class", lambda request: request.target_class is not UNSET),
    ExplanationOption("output", lambda request: request.output is Output.LOG_ODDS),
)
MODEL_OPTIONS: Final = (
    ExplanationOption("scope", lambda request: request.scope is Scope.LOCAL),
    ExplanationOption("instances", lambda request: bool(request.instances.rows or request.instances.values)),
    *CLASSIFIER_OPTIONS,
)


def _reject_useless_options(request: ExplanationRequest, options: Iterable[ExplanationOption], *, subject: str) -> None:
    """Raise `LearningError` if the request uses an option that has no effect on its subject."""
    for option in options:
        if option.is_used(request):
            value = getattr(request, option.field)
            spelling = f"{option.field}={value}" if isinstance(value, str) else option.field
            raise LearningError("option_without_effect", field=option.field, option=spelling, subject=subject)


def check_training_request(request: TrainingRequest, columns: Sequence[str], *, rows: int) -> None:
    """Raise `LearningError` if the columns or the number of rows of the table contradict the request."""
    _require_column(request.target, columns, "target_not_found", "target")
    _require_columns(request.features.include, columns, "features.include")
    _require_columns(request.features.exclude, columns, "features.exclude")
    _require_columns(request.sensitive_features, columns, "sensitive_features")
    if request.split.time_column is not None:
        _require_column(request.split.time_column, columns, "column_not_found", "split.time_column")

    if not chosen_features(request, columns):
        raise LearningError("no_features", field="features")

    folds = request.split.folds
    if rows < MIN_ROWS:
        raise LearningError("too_few_rows", rows=rows, minimum=MIN_ROWS)
    if request.split.strategy is Strategy.KFOLD and rows < 2 * folds:
        raise LearningError("too_many_folds", field="split.folds", folds=folds, rows=rows)


def check_explanation_request(
    request: ExplanationRequest, columns: Sequence[str], *, rows: int, classes: Iterable[Cell] | None = None
) -> None:
    """Raise `LearningError` if the table or the trained model contradicts the request.

    `classes` are the classes of the model: empty for a regression, None if there is no model or it is not loaded yet.
    """
    for position, number in enumerate(request.instances.rows):
        if number >= rows:
            raise LearningError("row_out_of_range", field=f"instances.rows.{position}", row=number, rows=rows)

    class_names = [str(name) for name in classes or ()]
    if classes is not None and not class_names:
        _reject_useless_options(request, CLASSIFIER_OPTIONS, subject="task=regression")
    if request.target_class is not UNSET and class_names and str(request.target_class) not in class_names:
        name = str(request.target_class)
        raise LearningError("class_not_found", field="target_class", name=name, known=class_names)

    if request.target is not None:
        _require_column(request.target, columns, "target_not_found", "target")
    _require_columns(request.sensitive_features, columns, "sensitive_features")


def chosen_features(request: TrainingRequest, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to learn from, in the order of the file."""
    included = set(request.features.include) or set(columns)
    excluded = {*request.features.exclude, request.target}
    return tuple(name for name in columns if name in included and name not in excluded)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is spelled most like `name`, or None if none is close."""
    matches = get_close_matches(name, list(known), n=1)
    return matches[0] if matches else None


def _require_known(name: str, table: Mapping[str, Any], code: str, place: str) -> None:
    if name not in table:
        raise LearningError(code, field=place, name=name, known=list(table))


def _require_installed(algorithm: Algorithm, place: str) -> None:
    if algorithm.extra is not None and importlib.util.find_spec(algorithm.extra) is None:
        raise LearningError("algorithm_not_installed", field=place, name=algorithm.name, extra=algorithm.extra)


def _require_distinct(names: Sequence[str], place: str) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise LearningError("duplicate_value", field=f"{place}.{position}", name=name)


def _require_separate_target(request: TrainingRequest) -> None:
    """Raise `LearningError` if the target is also named as a feature, an excluded or a sensitive column."""
    if request.target in request.features.exclude:
        raise LearningError("target_excluded", field="features.exclude", name=request.target)
    if request.target in request.features.include:
        raise LearningError("target_as_feature", field="features.include", name=request.target)
    if request.target in request.sensitive_features:
        raise LearningError("target_sensitive", field="sensitive_features", name=request.target)


def _require_column(name: str, columns: Sequence[str], code: str, place: str) -> None:
    if name not in columns:
        raise LearningError(code, field=place, name=name, nearest=nearest(name, columns))


def _require_columns(names: Sequence[str], columns: Sequence[str], place: str) -> None:
    for position, name in enumerate(names):
        _require_column(name, columns, "column_not_found", f"{place}.{position}")
