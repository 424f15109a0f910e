"""The choices of a training or explanation request: tasks, splits, algorithms, metrics and methods.

Importing this module does not load the libraries for training and explaining, so requests can be validated quickly.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Final

from touchstone.messages.labels import ALGORITHM_LABELS, METHOD_LABELS, METRIC_LABELS
from touchstone.messages.locales import Text


class Task(StrEnum):
    """What a model predicts: classes, numbers, or whatever suits the target column."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


class Strategy(StrEnum):
    """How rows are held out for evaluation."""

    AUTO = "auto"  # whole groups, the latest rows or a random part, whichever suits the table
    HOLDOUT = "holdout"  # one random part, stratified by class
    KFOLD = "kfold"  # every row is evaluated once, by a model that was not trained on it
    TIME = "time"  # the latest rows, so that the past predicts the future
    GROUP = "group"  # whole groups of rows, such as all visits of a patient


class Duplicates(StrEnum):
    """The treatment of rows that are equal in every feature."""

    AUTO = "auto"  # together, unless the columns have so few values that unrelated rows are often equal
    TOGETHER = "together"  # never both in training and in evaluation
    KEEP = "keep"  # divided like all other rows


class Mitigation(StrEnum):
    """The method for reducing the dependence of predictions on the groups of sensitive columns."""

    NONE = "none"
    THRESHOLDS = "thresholds"  # a threshold for each group, so that all groups have the same selection rate
    REWEIGHING = "reweighing"  # row weights in training that make group and class independent


class Calibration(StrEnum):
    """The method for calibrating the probabilities of a classifier on rows that it did not learn from."""

    AUTO = "auto"  # whichever of the others gives the smallest log loss
    NONE = "none"
    SIGMOID = "sigmoid"  # a logistic curve with two parameters (Platt)
    ISOTONIC = "isotonic"  # any rising curve, which needs many rows


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
    """An algorithm that a request may name.

    Attributes:
        name: the name of the algorithm in requests.
        extra: the optional package that it needs, or None.
        default: whether it is tried if a request names no algorithms.
        faster_twin: a similar algorithm that is tried instead by default if it is installed.
    """

    name: str
    extra: str | None = None
    default: bool = True
    faster_twin: str | None = None

    @property
    def label(self) -> Text:
        """The displayed name in French and in English."""
        return ALGORITHM_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure of quality for one task.

    Attributes:
        name: the name of the metric in requests.
        task: the task that it measures.
        greater_is_better: whether higher values are better.
        probabilistic: whether it is computed from probabilities instead of predicted classes or numbers.
        prevalence_free: whether it gives every class the same weight. Models are then trained with balanced classes.
        has_target_unit: whether it has the unit of the target, so that values for different targets cannot be compared.
        lower_bound: the lower bound of its values.
        upper_bound: the upper bound of its values.
    """

    name: str
    task: Task
    greater_is_better: bool = True
    probabilistic: bool = False
    prevalence_free: bool = False
    has_target_unit: bool = False
    lower_bound: float = 0.0
    upper_bound: float = 1.0

    @property
    def label(self) -> Text:
        """The displayed name in French and in English."""
        return METRIC_LABELS[self.name]


@dataclass(frozen=True, slots=True)
class Method:
    """An explanation method, the scope that it supports, and whether it needs a trained model."""

    name: str
    scope: Scope
    needs_model: bool = True

    @property
    def label(self) -> Text:
        """The displayed name in French and in English."""
        return METHOD_LABELS[self.name]


ENSEMBLE: Final = "ensemble"  # The average of the best trials of the other algorithms.

ALGORITHMS: Final[tuple[Algorithm, ...]] = (
    Algorithm("linear"),
    Algorithm("kernel"),
    Algorithm("hist_gradient_boosting", faster_twin="lightgbm"),
    Algorithm("lightgbm", extra="lightgbm"),
    Algorithm("random_forest"),
    Algorithm("extra_trees"),
    Algorithm("decision_tree"),
    Algorithm("baseline", default=False),
    Algorithm(ENSEMBLE),
)

METRICS: Final[tuple[Metric, ...]] = (
    Metric("balanced_accuracy", Task.CLASSIFICATION, prevalence_free=True),
    Metric("accuracy", Task.CLASSIFICATION),
    Metric("f1_macro", Task.CLASSIFICATION, prevalence_free=True),
    Metric("precision_macro", Task.CLASSIFICATION, prevalence_free=True),
    Metric("recall_macro", Task.CLASSIFICATION, prevalence_free=True),
    Metric("roc_auc", Task.CLASSIFICATION, probabilistic=True),
    Metric("average_precision", Task.CLASSIFICATION, probabilistic=True),
    Metric("log_loss", Task.CLASSIFICATION, greater_is_better=False, probabilistic=True, upper_bound=inf),
    Metric("brier", Task.CLASSIFICATION, greater_is_better=False, probabilistic=True, upper_bound=2.0),
    Metric("r2", Task.REGRESSION, lower_bound=-inf),
    Metric("rmse", Task.REGRESSION, greater_is_better=False, has_target_unit=True, upper_bound=inf),
    Metric("mae", Task.REGRESSION, greater_is_better=False, has_target_unit=True, upper_bound=inf),
    Metric("median_ae", Task.REGRESSION, greater_is_better=False, has_target_unit=True, upper_bound=inf),
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
# Metrics that count correct decisions. Models are chosen by the Brier score instead (see `trial_score`).
COUNTING_METRICS: Final = ("accuracy", "balanced_accuracy", "recall_macro")
DEFAULT_METRIC: Final = {Task.CLASSIFICATION: "balanced_accuracy", Task.REGRESSION: "r2"}
