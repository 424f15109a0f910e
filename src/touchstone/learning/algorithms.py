"""The algorithms that can be trained, and the settings to try for each.

Each algorithm has presets: settings that are known to work well on many tables. The presets of all algorithms are
planned first. The remaining combinations of values follow in an order shuffled by the seed.
"""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product, zip_longest
from typing import Any, Final

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from touchstone.learning.boosting import (
    DEFAULT_ROUNDS,
    EarlyStoppingFit,
    build_histogram_boosting,
    build_lightgbm,
    fit_histogram_boosting_early,
    fit_lightgbm_early,
)
from touchstone.learning.discriminant_analysis import build_discriminant_analysis
from touchstone.learning.target import Floats, Target

MAX_ROWS_PER_TREE: Final = 50_000  # Each tree of a forest is grown on at most this many rows, to bound its size.
MANY_ROWS: Final = 100_000  # Above this, models are not combined, and slow algorithms are not tried by default.
MAX_ROUNDS: Final = 500
KERNEL_COMPONENTS: Final = 300  # A kernel model compares a row with at most this many training rows.
KERNEL_WEIGHT: Final = 10.0  # Similarities are small numbers, so the coefficient penalty would suppress them.
MAX_KERNEL_ROWS: Final = 20_000
MAX_ZERO_SHARE: Final = 0.25
CLASS_WEIGHT: Final = "class_weight"  # A setting for weighting the training rows. It is not passed to the model.
BALANCED: Final = "balanced"
METHOD: Final = "method"  # A setting of the linear model, which is a logistic regression without it.
DISCRIMINANT_ANALYSIS: Final = "discriminant_analysis"
Settings = Mapping[str, Any]
ModelBuilder = Callable[["ModelOptions", Settings], Any]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options shared by all models of one training.

    Attributes:
        target: the column to predict.
        balances_classes: whether the metric gives every class the same weight. Models trained with balanced class
            weights are then tried first.
        seed: the seed of all random choices.
        tries_discriminant_analysis: whether a linear model may be a discriminant analysis.
    """

    target: Target
    balances_classes: bool
    seed: int
    tries_discriminant_analysis: bool = False

    @property
    def has_many_rows(self) -> bool:
        """Whether there are so many rows that the duration of a fit matters more than the choice of settings."""
        return len(self.target.values) > MANY_ROWS

    @property
    def max_rounds(self) -> int:
        """The maximum number of boosting rounds, which is lower for many rows because each round is slow."""
        return DEFAULT_ROUNDS if self.has_many_rows else MAX_ROUNDS


@dataclass(frozen=True, slots=True)
class Trial:
    """One algorithm with one choice of settings."""

    algorithm: str
    settings: Settings = field(default_factory=dict)

    @property
    def is_balanced(self) -> bool:
        """Whether training gives every class the same total weight."""
        return self.settings.get(CLASS_WEIGHT) == BALANCED

    @property
    def model_settings(self) -> dict[str, Any]:
        """The settings that are passed to the model."""
        return {name: value for name, value in self.settings.items() if name != CLASS_WEIGHT}


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """An algorithm: how its models are built, and which settings to try.

    The presets are tried first, then the other combinations of values. A preset uses the first value of each setting
    that it does not name.

    Attributes:
        build: the function that builds an unfitted model.
        shared: the values to try for each setting in both tasks.
        classification: the values to try for each setting in classification only.
        regression: the values to try for each setting in regression only.
        classification_presets: the presets for classification.
        regression_presets: the presets for regression.
        amount_presets: additional presets for targets that are amounts (see `are_amounts`).
        has_discriminant_analysis: whether the presets are followed by a discriminant analysis if that is to be tried.
        supports_class_weights: whether to try balanced class weights.
        max_rows: the number of rows above which the algorithm is only tried on request, or None for no limit.
        fit_early: the function that fits with early stopping, for models built in rounds.
        keeps_best_rounds: whether a model that stopped early predicts with its best rounds only.
        values_for_many_rows: values that replace the usual ones if there are many rows.
        presets_for_many_rows: presets that replace the usual ones if there are many rows; empty to keep them.
    """

    build: ModelBuilder
    shared: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classification: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    regression: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classification_presets: Sequence[Settings] = ({},)
    regression_presets: Sequence[Settings] = ({},)
    amount_presets: Sequence[Settings] = ()
    has_discriminant_analysis: bool = False
    supports_class_weights: bool = True
    max_rows: int | None = None
    fit_early: EarlyStoppingFit | None = None
    keeps_best_rounds: bool = False
    values_for_many_rows: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    presets_for_many_rows: Sequence[Settings] = ()

    def values_by_setting(self, options: ModelOptions) -> dict[str, Sequence[Any]]:
        """Return the values to try for each setting, with the preferred value first."""
        replacements = self.values_for_many_rows if options.has_many_rows else {}
        if not options.target.is_classification:
            return {**self.shared, **self.regression, **replacements}

        values_by_setting = {**self.shared, **self.classification, **replacements}
        if self.supports_class_weights:
            values_by_setting[CLASS_WEIGHT] = (BALANCED, None) if options.balances_classes else (None,)
        return values_by_setting

    def presets(self, options: ModelOptions) -> Sequence[Settings]:
        """Return the settings to try first, each without the settings that keep their preferred value."""
        if options.has_many_rows and self.presets_for_many_rows:
            return self.presets_for_many_rows
        if options.target.is_classification:
            return self.classification_presets

        if are_amounts(options.target.values):
            return (*self.regression_presets, *self.amount_presets)
        return self.regression_presets


def are_amounts(numbers: Floats) -> bool:
    """Return whether the numbers are amounts, such as prices.

    Amounts are never negative, and at most a quarter of them are 0. The errors of a prediction are often proportional
    to the amount, which the Tweedie objective assumes. It cannot learn from zeros alone, and with more zeros a random
    part of the rows might contain nothing else.
    """
    return bool(numbers.min() >= 0 and np.mean(numbers == 0) <= MAX_ZERO_SHARE)


def _build_linear(options: ModelOptions, settings: Settings) -> Any:
    """Build a logistic regression or a discriminant analysis for classes, or a ridge regression for numbers."""
    if not options.target.is_classification:
        return Ridge(**settings)
    if settings.get(METHOD) == DISCRIMINANT_ANALYSIS:
        return build_discriminant_analysis()
    return LogisticRegression(max_iter=1_000, **settings)


def _build_kernel(options: ModelOptions, settings: Settings) -> Any:
    """Build a linear model of the columns and of each row's similarity to a sample of training rows.

    The similarities (the Nyström method, Williams and Seeger 2001) let the model follow smooth curves and interactions,
    like a support vector machine with a Gaussian kernel.
    """
    similarities = Nystroem(n_components=KERNEL_COMPONENTS, random_state=options.seed)
    features = FeatureUnion(
        [("columns", "passthrough"), ("similarities", similarities)],
        transformer_weights={"similarities": KERNEL_WEIGHT},
    )
    return Pipeline([("features", features), ("linear", _build_linear(options, settings))])


def _build_tree(options: ModelOptions, settings: Settings) -> Any:
    """Build a single decision tree."""
    model_class = DecisionTreeClassifier if options.target.is_classification else DecisionTreeRegressor
    return model_class(random_state=options.seed, **settings)


def _build_forest(options: ModelOptions, settings: Settings) -> Any:
    """Build a random forest."""
    model_class = RandomForestClassifier if options.target.is_classification else RandomForestRegressor
    return model_class(**_forest_parameters(options), **settings)


def _build_extra_trees(options: ModelOptions, settings: Settings) -> Any:
    """Build a forest of extremely randomized trees, which draw their thresholds at random."""
    model_class = ExtraTreesClassifier if options.target.is_classification else ExtraTreesRegressor
    return model_class(bootstrap=True, **_forest_parameters(options), **settings)


def _forest_parameters(options: ModelOptions) -> dict[str, Any]:
    """Return the parameters shared by all forests, which include a sample size if there are many rows."""
    rows = len(options.target.values)
    sampled_share = MAX_ROWS_PER_TREE / rows if rows > MAX_ROWS_PER_TREE else None
    return {"n_estimators": 100, "max_samples": sampled_share, "n_jobs": 1, "random_state": options.seed}


def _build_histogram_boosting(options: ModelOptions, settings: Settings) -> Any:
    """Build the histogram-based gradient boosting model of scikit-learn."""
    return build_histogram_boosting(settings, is_classification=options.target.is_classification, seed=options.seed)


def _build_lightgbm(options: ModelOptions, settings: Settings) -> Any:
    """Build a LightGBM model."""
    return build_lightgbm(settings, is_classification=options.target.is_classification, seed=options.seed)


def _build_baseline(options: ModelOptions, _settings: Settings) -> Any:
    """Build a model that ignores the features and predicts the class frequencies or the mean."""
    return DummyClassifier(strategy="prior") if options.target.is_classification else DummyRegressor()


BASELINE: Final = Trial("baseline")

# Small steps on random halves of the columns suit most tables of a few thousand rows.
SLOW_BOOSTING: Final[Settings] = {
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_child_samples": 5,
    "colsample_bytree": 0.5,
}

MODEL_FAMILIES: Final[dict[str, ModelFamily]] = {
    "baseline": ModelFamily(_build_baseline, supports_class_weights=False),
    "linear": ModelFamily(
        _build_linear,
        classification={"C": (1.0, 0.1, 0.01, 10.0)},
        # The fewer the rows, the stronger the effect of the penalty, so small tables may need a weak one (a large C).
        classification_presets=({}, {"C": 0.1}, {"C": 0.01}, {"C": 10.0}),
        regression={"alpha": (1.0, 10.0, 100.0, 0.1)},
        regression_presets=({}, {"alpha": 100.0}),
        has_discriminant_analysis=True,
    ),
    "kernel": ModelFamily(
        _build_kernel,
        classification={"C": (0.3, 0.03, 3.0)},
        classification_presets=({}, {"C": 0.03}),
        regression={"alpha": (3.0, 30.0, 0.3)},
        regression_presets=({}, {"alpha": 30.0}, {"alpha": 0.3}),
        max_rows=MAX_KERNEL_ROWS,
    ),
    "hist_gradient_boosting": ModelFamily(
        _build_histogram_boosting,
        shared={
            "learning_rate": (0.1, 0.05),
            "max_leaf_nodes": (15, 31, 7),
            "min_samples_leaf": (20, 5, 50),
            "l2_regularization": (0.0, 1.0),
        },
        classification_presets=({}, {"learning_rate": 0.05, "max_leaf_nodes": 7}),
        regression_presets=({}, {"learning_rate": 0.05, "max_leaf_nodes": 7}),
        fit_early=fit_histogram_boosting_early,
    ),
    "lightgbm": ModelFamily(
        _build_lightgbm,
        shared={
            "learning_rate": (0.1, 0.05),
            "num_leaves": (31, 15, 7, 63),
            "min_child_samples": (20, 5, 50),
            "colsample_bytree": (1.0, 0.5),
        },
        classification_presets=(
            {},
            {"learning_rate": 0.05, "num_leaves": 7, "colsample_bytree": 0.5},
            SLOW_BOOSTING,
            {**SLOW_BOOSTING, "extra_trees": True},
            {**SLOW_BOOSTING, "num_leaves": 4},
        ),
        regression_presets=(
            SLOW_BOOSTING,
            {"learning_rate": 0.05, "num_leaves": 7, "colsample_bytree": 0.5},
            {},
            {**SLOW_BOOSTING, "extra_trees": True},
            {"learning_rate": 0.05, "colsample_bytree": 0.5},
        ),
        amount_presets=({**SLOW_BOOSTING, "objective": "tweedie"},),
        fit_early=fit_lightgbm_early,
        keeps_best_rounds=True,
        # Few rounds have to suffice, so each one must learn a lot. Trials are compared on a sample, which would favour
        # slower learning and small leaves, although neither suits the whole table.
        values_for_many_rows={
            "learning_rate": (0.3,),
            "num_leaves": (31, 63),
            "min_child_samples": (20,),
            "colsample_bytree": (1.0,),
        },
        presets_for_many_rows=({}, {"num_leaves": 63}),
    ),
    "random_forest": ModelFamily(
        _build_forest,
        shared={"min_samples_leaf": (3, 1, 10)},
        classification={"max_features": ("sqrt", 0.3)},
        classification_presets=({}, {"max_features": 0.3}),
        regression={"max_features": (0.33, 0.7)},
        regression_presets=({"min_samples_leaf": 1}, {}),
        max_rows=MANY_ROWS,
    ),
    "extra_trees": ModelFamily(
        _build_extra_trees,
        shared={"min_samples_leaf": (3, 1, 10)},
        classification={"max_features": ("sqrt", 0.3)},
        classification_presets=({}, {"min_samples_leaf": 10, "max_features": 0.3}),
        regression={"max_features": (0.7, 0.33)},
        regression_presets=({"min_samples_leaf": 1}, {}),
        max_rows=MANY_ROWS,
    ),
    "decision_tree": ModelFamily(_build_tree, shared={"max_depth": (6, 3, 10, None), "min_samples_leaf": (10, 3, 30)}),
}


def build_model(trial: Trial, options: ModelOptions) -> Any:
    """Return the unfitted model of a trial."""
    return MODEL_FAMILIES[trial.algorithm].build(options, trial.model_settings)


def load_libraries(trials: Sequence[Trial]) -> None:
    """Import the optional packages of the trials, so that thread limits set later apply to them, too."""
    if any(trial.algorithm == "lightgbm" for trial in trials):
        importlib.import_module("lightgbm")


def average_settings(trials: Sequence[Trial]) -> Trial:
    """Return one trial that replaces several of the same algorithm, with their mean settings.

    The trials may only differ in numbers found by training, such as the number of boosting rounds. Means are rounded
    up.
    """
    settings: dict[str, Any] = {}
    names = dict.fromkeys(name for trial in trials for name in trial.settings)  # without repetitions, in order
    for name in names:
        values = [trial.settings[name] for trial in trials if name in trial.settings]
        are_equal = all(value == values[0] for value in values)
        settings[name] = values[0] if are_equal else math.ceil(float(np.mean(values)))
    return Trial(trials[0].algorithm, settings)


def search_space(algorithm: str, options: ModelOptions) -> list[Trial]:
    """Return a trial for every combination of settings of an algorithm.

    They are in the order in which they are tried: the presets, followed by the other combinations in random order.
    """
    presets = _preset_trials(algorithm, options)
    return [*presets, *_remaining_trials(algorithm, options, presets)]


def _preset_trials(algorithm: str, options: ModelOptions) -> list[Trial]:
    """Return the trials with the presets of an algorithm."""
    family = MODEL_FAMILIES[algorithm]
    preferred_settings = {name: values[0] for name, values in family.values_by_setting(options).items()}
    trials = [Trial(algorithm, {**preferred_settings, **preset}) for preset in family.presets(options)]

    if family.has_discriminant_analysis and options.tries_discriminant_analysis:
        class_weight = preferred_settings[CLASS_WEIGHT]
        trials.append(Trial(algorithm, {METHOD: DISCRIMINANT_ANALYSIS, CLASS_WEIGHT: class_weight}))
    return trials


def _remaining_trials(algorithm: str, options: ModelOptions, presets: Sequence[Trial]) -> list[Trial]:
    """Return the trials with the settings that no preset covers, shuffled by the seed."""
    values_by_setting = MODEL_FAMILIES[algorithm].values_by_setting(options)
    trials = []
    for values in product(*values_by_setting.values()):
        trial = Trial(algorithm, dict(zip(values_by_setting, values, strict=True)))
        if trial not in presets:
            trials.append(trial)

    shuffled_positions = np.random.default_rng(options.seed).permutation(len(trials))
    return [trials[position] for position in shuffled_positions]


def plan_trials(algorithms: Sequence[str], options: ModelOptions, *, max_trials: int) -> list[Trial]:
    """Return up to `max_trials` trials of the given algorithms, in the order in which they are tried.

    The algorithms take turns, one trial at a time. All presets come before the other settings.
    """
    presets = {name: _preset_trials(name, options) for name in algorithms}
    remaining = [_remaining_trials(name, options, presets[name]) for name in algorithms]
    return [*_interleave_trials(list(presets.values())), *_interleave_trials(remaining)][:max_trials]


def _interleave_trials(trials_by_algorithm: Sequence[Sequence[Trial]]) -> list[Trial]:
    """Return the first trial of every algorithm, then the second of each, and so on."""
    # An algorithm without further trials contributes None to the remaining rounds.
    rounds = zip_longest(*trials_by_algorithm)
    return [trial for round_trials in rounds for trial in round_trials if trial is not None]
