"""What may be asked for: the orders of training and explanation, and the tables of algorithms, metrics and methods.

Everything here is known without the data and without the heavy libraries, so that a request can be refused before a
job exists. Orders are made with `msgspec.convert`; it raises `msgspec.ValidationError` for a wrong type or bound and
`LearningError` for a wrong name or combination.
"""

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from math import inf
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType, field

from touchstone.learning.errors import LearningError
from touchstone.messages.labels import ALGORITHM_LABELS, METHOD_LABELS, METRIC_LABELS
from touchstone.messages.locales import Text

MIN_ROWS: Final = 20  # below this no split leaves enough to learn from and to measure on
MAX_INSTANCES: Final = 1_000
MAX_NAMES: Final = 5_000

Name = Annotated[str, Meta(min_length=1, max_length=1_000)]
Names = Annotated[tuple[Name, ...], Meta(max_length=MAX_NAMES)]
RowIndex = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Seed = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Cell = str | int | float | bool | None


class Task(StrEnum):
    """What is predicted: a class, a number, or whichever the target column looks like."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class Strategy(StrEnum):
    """How rows are kept aside for measuring."""

    HOLDOUT = "holdout"  # one random part, stratified by class
    KFOLD = "kfold"  # every row is measured once, by a model that has not seen it
    TIME = "time"  # the latest rows, so that the past predicts the future


class Scope(StrEnum):
    """Whether the model as a whole is explained, single predictions, or both."""

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
        """Its name for people."""
        return ALGORITHM_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure of quality for one task; `probabilistic` ones look at probabilities, the others at labels or values.

    `prevalence_free` metrics give every class the same weight, so models are then fitted with balanced classes.
    `least` and `most` bound every value of the metric.
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
        """Its name for people."""
        return METRIC_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Method:
    """A way of explaining; `scope` says what it speaks about and `needs_model` whether a training job is required."""

    name: str
    scope: Scope
    needs_model: bool = True

    @property
    def label(self) -> Text:
        """Its name for people."""
        return METHOD_LABELS[self.name]


ALGORITHMS: Final[tuple[Algorithm, ...]] = (
    Algorithm("linear"),
    Algorithm("hist_gradient_boosting"),
    Algorithm("random_forest"),
    Algorithm("decision_tree"),
    Algorithm("baseline", default=False),
    Algorithm("lightgbm", extra="lightgbm", default=False),
)

_C, _R = Task.CLASSIFICATION, Task.REGRESSION

METRICS: Final[tuple[Metric, ...]] = (
    Metric("balanced_accuracy", _C, prevalence_free=True),
    Metric("accuracy", _C),
    Metric("f1_macro", _C, prevalence_free=True),
    Metric("precision_macro", _C, prevalence_free=True),
    Metric("recall_macro", _C, prevalence_free=True),
    Metric("roc_auc", _C, probabilistic=True),
    Metric("average_precision", _C, probabilistic=True),
    Metric("log_loss", _C, greater_is_better=False, probabilistic=True, most=inf),
    Metric("brier", _C, greater_is_better=False, probabilistic=True, most=2.0),
    Metric("r2", _R, least=-inf),
    Metric("rmse", _R, greater_is_better=False, most=inf),
    Metric("mae", _R, greater_is_better=False, most=inf),
    Metric("median_ae", _R, greater_is_better=False, most=inf),
)

METHODS: Final[tuple[Method, ...]] = (
    Method("auto", Scope.BOTH, needs_model=False),
    Method("permutation_importance", Scope.GLOBAL),
    Method("partial_dependence", Scope.GLOBAL),
    Method("shap", Scope.BOTH),
    Method("counterfactual", Scope.LOCAL),
    Method("data_profile", Scope.GLOBAL, needs_model=False),
)

ALGORITHM_BY_NAME: Final = {row.name: row for row in ALGORITHMS}
METRIC_BY_NAME: Final = {row.name: row for row in METRICS}
METHOD_BY_NAME: Final = {row.name: row for row in METHODS}
DEFAULT_METRIC: Final = {Task.CLASSIFICATION: "balanced_accuracy", Task.REGRESSION: "r2"}


class Features(Struct, frozen=True, forbid_unknown_fields=True):
    """Which columns may be learned from: `include` (empty: all) less `exclude` less the target."""

    include: Names = ()
    exclude: Names = ()

    def __post_init__(self) -> None:
        """Refuse a column named twice or on both sides."""
        _distinct(self.include, "features.include")
        _distinct(self.exclude, "features.exclude")
        for name in self.include:
            if name in self.exclude:
                raise LearningError("feature_both_ways", field="features", name=name)


class Split(Struct, frozen=True, forbid_unknown_fields=True):
    """How quality is measured; `test_size` is for holdout and time, `folds` for kfold, `time_column` for time."""

    strategy: Strategy = Strategy.HOLDOUT
    test_size: Annotated[float, Meta(ge=0.05, le=0.5)] = 0.2
    folds: Annotated[int, Meta(ge=2, le=10)] = 5
    time_column: Name | None = None

    def __post_init__(self) -> None:
        """Refuse a time split without its column, and a time column that would be ignored."""
        if self.strategy is Strategy.TIME and self.time_column is None:
            raise LearningError("time_column_missing", field="split.time_column")
        if self.strategy is not Strategy.TIME and self.time_column is not None:
            raise LearningError("time_column_unexpected", field="split.time_column", strategy=str(self.strategy))


class Budget(Struct, frozen=True, forbid_unknown_fields=True):
    """How much may be tried: trials decide, seconds are only a safety stop."""

    max_trials: Annotated[int, Meta(ge=1, le=200)] = 8
    max_runtime_seconds: Annotated[int, Meta(ge=1, le=86_400)] = 1_800


class TrainingRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a training request, in the words of the contract."""

    dataset_id: int | str
    target: Name
    task: Task = Task.AUTO
    features: Features = field(default_factory=Features)
    sensitive_features: Annotated[tuple[Name, ...], Meta(max_length=20)] = ()
    algorithms: Annotated[tuple[Name, ...], Meta(max_length=20)] = ()
    metric: Name | None = None
    split: Split = field(default_factory=Split)
    budget: Budget = field(default_factory=Budget)
    seed: Seed = 0
    project_id: str | None = None
    name: Annotated[str, Meta(max_length=255)] | None = None

    def __post_init__(self) -> None:
        """Refuse unknown names and combinations that contradict each other."""
        _distinct(self.algorithms, "algorithms")
        _distinct(self.sensitive_features, "sensitive_features")
        for position, name in enumerate(self.algorithms):
            _known(name, ALGORITHM_BY_NAME, "unknown_algorithm", f"algorithms.{position}")
            _installed(ALGORITHM_BY_NAME[name], f"algorithms.{position}")
        if self.metric is not None:
            _known(self.metric, METRIC_BY_NAME, "unknown_metric", "metric")
            if self.task is not Task.AUTO and METRIC_BY_NAME[self.metric].task is not self.task:
                raise LearningError("metric_task_mismatch", field="metric", name=self.metric, task=str(self.task))
        _target_apart(self)

    @property
    def chosen_algorithms(self) -> tuple[str, ...]:
        """The algorithms to try, in the order of the table; the default ones when none is named."""
        if not self.algorithms:
            return tuple(row.name for row in ALGORITHMS if row.default)
        return tuple(row.name for row in ALGORITHMS if row.name in self.algorithms)


class Instances(Struct, frozen=True, forbid_unknown_fields=True):
    """The rows to explain: by their 0-based position in the data file, or by value."""

    rows: Annotated[tuple[RowIndex, ...], Meta(max_length=MAX_INSTANCES)] = ()
    values: Annotated[tuple[dict[Name, Cell], ...], Meta(max_length=MAX_INSTANCES)] = ()

    def __post_init__(self) -> None:
        """Refuse both ways at once: the answer could not say which row is which."""
        if self.rows and self.values:
            raise LearningError("instances_both_ways", field="instances")


class Background(Struct, frozen=True, forbid_unknown_fields=True):
    """The sample of rows that stands for an average case."""

    size: Annotated[int, Meta(ge=1, le=1_000)] = 100


class ExplanationRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of an explanation request: of a training job (`job_id`), or of a dataset alone (`dataset_id`).

    `target` and `sensitive_features` serve the explanation of a dataset; a training job brings its own.
    """

    job_id: Name | None = None
    dataset_id: int | str | None = None
    scope: Scope = Scope.BOTH
    method: Name = "auto"
    instances: Instances = field(default_factory=Instances)
    background: Background = field(default_factory=Background)
    target_class: Cell | UnsetType = UNSET
    output: Output = Output.PROBABILITY
    target: Name | None = None
    sensitive_features: Annotated[tuple[Name, ...], Meta(max_length=20)] = ()
    seed: Seed = 0
    project_id: str | None = None
    name: Annotated[str, Meta(max_length=255)] | None = None

    def __post_init__(self) -> None:
        """Refuse no subject, two subjects, and a method that is unknown, lacks its model or contradicts the scope."""
        _known(self.method, METHOD_BY_NAME, "unknown_method", "method")
        _distinct(self.sensitive_features, "sensitive_features")
        if self.job_id is None and self.dataset_id is None:
            raise LearningError("explain_subject_missing", field="job_id")
        if self.job_id is not None and self.dataset_id is not None:
            raise LearningError("explain_subject_twice", field="dataset_id")
        if self.job_id is None and METHOD_BY_NAME[self.method].needs_model:
            raise LearningError("explain_needs_model", field="method", method=self.method)
        _without_effect(_OF_DATASETS if self.job_id is not None else _OF_MODELS, self)
        if {self.scope, METHOD_BY_NAME[self.method].scope} == {Scope.GLOBAL, Scope.LOCAL}:
            raise LearningError("method_scope_mismatch", field="scope", method=self.method, scope=str(self.scope))

    def asks_for(self, part: Scope, *methods: str) -> bool:
        """Whether this part of the answer is wanted, by the scope and by one of these methods (`auto` is any)."""
        return self.scope in (part, Scope.BOTH) and self.method in ("auto", *methods)


# What an explanation may ask for, as the place in the order and whether it is asked, by what alone it can serve.
_Asked = tuple[str, Callable[[ExplanationRequest], bool]]
_OF_DATASETS: Final[tuple[_Asked, ...]] = (
    ("method", lambda order: order.method == "data_profile"),
    ("target", lambda order: order.target is not None),
    ("sensitive_features", lambda order: bool(order.sensitive_features)),
)
_OF_CLASSIFIERS: Final[tuple[_Asked, ...]] = (
    ("method", lambda order: order.method == "counterfactual"),
    ("target_class", lambda order: order.target_class is not UNSET),
    ("output", lambda order: order.output is Output.LOG_ODDS),
)
_OF_MODELS: Final[tuple[_Asked, ...]] = (
    ("scope", lambda order: order.scope is Scope.LOCAL),
    ("instances", lambda order: bool(order.instances.rows or order.instances.values)),
    *_OF_CLASSIFIERS,
)


def _without_effect(asked: Iterable[_Asked], order: ExplanationRequest, subject: str = "") -> None:
    """Refuse what the subject of an explanation would answer with nothing."""
    subject = subject or ("job_id" if order.job_id is not None else "dataset_id")
    for name, does_ask in asked:
        if does_ask(order):
            value = getattr(order, name)
            option = f"{name}={value}" if isinstance(value, str) else name
            raise LearningError("option_without_effect", field=name, option=option, subject=subject)


def check_training_request(order: TrainingRequest, columns: Sequence[str], *, rows: int) -> None:
    """Refuse a training order that the table's column names or number of rows contradict. Raises `LearningError`."""
    _present(order.target, columns, "target_not_found", "target")
    _all_present(order.features.include, columns, "features.include")
    _all_present(order.features.exclude, columns, "features.exclude")
    _all_present(order.sensitive_features, columns, "sensitive_features")
    if order.split.time_column is not None:
        _present(order.split.time_column, columns, "column_not_found", "split.time_column")
    if not chosen_features(order, columns):
        raise LearningError("no_features", field="features")
    _check_rows(order, rows)


def check_explanation_request(
    order: ExplanationRequest, columns: Sequence[str], *, rows: int, classes: Iterable[Cell] | None = None
) -> None:
    """Refuse an explanation order that the table, or the trained model, contradict.

    `classes` are those of the model, none for a regression; None when there is no model, or it is not known yet.
    """
    for position, index in enumerate(order.instances.rows):
        if index >= rows:
            raise LearningError("row_out_of_range", field=f"instances.rows.{position}", row=index, rows=rows)
    known = [str(name) for name in classes or ()]
    if classes is not None and not known:
        _without_effect(_OF_CLASSIFIERS, order, "task=regression")
    if order.target_class is not UNSET and known and str(order.target_class) not in known:
        raise LearningError("class_not_found", field="target_class", name=str(order.target_class), known=known)
    if order.target is not None:
        _present(order.target, columns, "target_not_found", "target")
    _all_present(order.sensitive_features, columns, "sensitive_features")


def chosen_features(order: TrainingRequest, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns to learn from, in the order of the file."""
    wanted = set(order.features.include) or set(columns)
    return tuple(name for name in columns if name in wanted - {*order.features.exclude, order.target})


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelt most like this one, if any is close."""
    return next(iter(get_close_matches(name, list(known), n=1)), None)


def _known(name: str, table: Mapping[str, Any], code: str, field: str) -> None:
    if name not in table:
        raise LearningError(code, field=field, name=name, known=list(table))


def _installed(algorithm: Algorithm, field: str) -> None:
    if algorithm.extra is not None and importlib.util.find_spec(algorithm.extra) is None:
        raise LearningError("algorithm_not_installed", field=field, name=algorithm.name, extra=algorithm.extra)


def _distinct(names: Sequence[str], field: str) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise LearningError("duplicate_value", field=f"{field}.{position}", name=name)


def _target_apart(order: TrainingRequest) -> None:
    places = (
        ("target_excluded", "features.exclude", order.features.exclude),
        ("target_as_feature", "features.include", order.features.include),
        ("target_sensitive", "sensitive_features", order.sensitive_features),
    )
    for code, place, names in places:
        if order.target in names:
            raise LearningError(code, field=place, name=order.target)


def _present(name: str, columns: Sequence[str], code: str, field: str) -> None:
    if name not in columns:
        raise LearningError(code, field=field, name=name, nearest=nearest(name, columns))


def _all_present(names: Sequence[str], columns: Sequence[str], field: str) -> None:
    for position, name in enumerate(names):
        _present(name, columns, "column_not_found", f"{field}.{position}")


def _check_rows(order: TrainingRequest, rows: int) -> None:
    if rows < MIN_ROWS:
        raise LearningError("too_few_rows", rows=rows, minimum=MIN_ROWS)
    if order.split.strategy is Strategy.KFOLD and rows < 2 * order.split.folds:
        raise LearningError("too_many_folds", field="split.folds", folds=order.split.folds, rows=rows)
