"""The algorithms that can be trained, and the settings that are tried for each.

The first trials of every algorithm take settings that are known to work well on many tables. The other combinations of
values follow, in an order that is shuffled by the seed, once all of these have been planned.
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
    ROUNDS,
    EarlyStoppingFit,
    build_histogram_boosting,
    build_lightgbm,
    fit_histogram_boosting_early,
    fit_lightgbm_early,
)
from touchstone.learning.target import Floats, Target

FOREST_SAMPLE: Final = 50_000  # Each tree of a forest sees at most this many rows, which bounds the size of the model.
MANY_ROWS: Final = 100_000  # With more rows, models are neither combined nor of a kind that learns slowly.
MAX_ROUNDS: Final = 500
KERNEL_ROWS: Final = 300  # A kernel model compares a row with at most this many training rows.
KERNEL_WEIGHT: Final = 10.0  # Similarities are small numbers, which the penalty for large coefficients would suppress.
MANY_ROWS_FOR_KERNEL: Final = 20_000
MOST_ZEROS: Final = 0.25
CLASS_WEIGHT: Final = "class_weight"  # The setting that is not the model's own: how rows are weighted by their class.
BALANCED: Final = "balanced"
Settings = Mapping[str, Any]
ModelBuilder = Callable[["ModelOptions", Settings], Any]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options that all models of one training share.

    With `balances_classes` the metric counts every class the same, so that models for which they weigh the same are
    tried first.
    """

    target: Target
    balances_classes: bool
    seed: int

    @property
    def has_many_rows(self) -> bool:
        """Whether there are so many rows that the time of a fit matters more than the choice of settings."""
        return len(self.target.values) > MANY_ROWS

    @property
    def max_rounds(self) -> int:
        """The largest number of rounds of boosting; of many rows each round takes long, but also teaches more."""
        return ROUNDS if self.has_many_rows else MAX_ROUNDS


@dataclass(frozen=True, slots=True)
class Trial:
    """One algorithm with one choice of settings."""

    algorithm: str
    settings: Settings = field(default_factory=dict)

    @property
    def is_balanced(self) -> bool:
        """Whether every class has the same total weight in training."""
        return self.settings.get(CLASS_WEIGHT) == BALANCED

    @property
    def model_settings(self) -> dict[str, Any]:
        """The settings of the model itself."""
        return {name: value for name, value in self.settings.items() if name != CLASS_WEIGHT}


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """How models of one algorithm are built, and which settings are tried.

    The presets are tried first, then the other combinations of values. The values of `shared` settings are tried for
    both tasks, the others for one task only; a preset takes the first value of each setting that it does not name.
    `amount_presets` are further ones for numbers that are amounts (`are_amounts`).
    """

    build: ModelBuilder
    shared: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classification: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    regression: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classification_presets: Sequence[Settings] = ({},)
    regression_presets: Sequence[Settings] = ({},)
    amount_presets: Sequence[Settings] = ()
    weighs_classes: bool = True
    weight_argument: str = "sample_weight"  # The argument of `fit` that takes the weights of the rows.
    most_rows: int | None = None  # With more rows the algorithm is only tried if it is asked for; None: no limit.
    fit_early: EarlyStoppingFit | None = None  # For models that are built in rounds, whose number is found by training.
    keeps_best_rounds: bool = False  # Whether a model that stopped early predicts with its best rounds only.
    for_many_rows: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # Values in place of the usual ones.
    presets_for_many_rows: Sequence[Settings] = ()  # In place of the usual ones, if there are any.

    def values_by_setting(self, options: ModelOptions) -> dict[str, Sequence[Any]]:
        """Return the values to try for each setting, the preferred one first."""
        replacements = self.for_many_rows if options.has_many_rows else {}
        if not options.target.is_classification:
            return {**self.shared, **self.regression, **replacements}

        values_by_setting = {**self.shared, **self.classification, **replacements}
        if self.weighs_classes:
            values_by_setting[CLASS_WEIGHT] = (BALANCED, None) if options.balances_classes else (None,)
        return values_by_setting

    def presets(self, options: ModelOptions) -> Sequence[Settings]:
        """Return the settings that are tried first, as far as they differ from the preferred values."""
        if options.has_many_rows and self.presets_for_many_rows:
            return self.presets_for_many_rows
        if options.target.is_classification:
            return self.classification_presets

        if are_amounts(options.target.values):
            return (*self.regression_presets, *self.amount_presets)
        return self.regression_presets


def are_amounts(numbers: Floats) -> bool:
    """Return whether numbers are amounts, such as prices: none is negative, and at most a quarter of them are 0.

    Errors are often proportional to amounts. A model that assumes this cannot learn from zeros alone, and with more of
    them some part of the rows might have nothing else.
    """
    return bool(numbers.min() >= 0 and np.mean(numbers == 0) <= MOST_ZEROS)


def _build_linear(options: ModelOptions, settings: Settings) -> Any:
    """Build a logistic regression, or a ridge regression for numbers."""
    if options.target.is_classification:
        return LogisticRegression(max_iter=1_000, **settings)
    return Ridge(**settings)


def _build_kernel(options: ModelOptions, settings: Settings) -> Any:
    """Build a linear model of the columns and of the similarity of a row to some training rows.

    Thanks to the similarities (Williams and Seeger 2001) it follows smooth curves and interactions, as a support vector
    machine with a Gaussian kernel does.
    """
    similarities = Nystroem(n_components=KERNEL_ROWS, random_state=options.seed)
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
    """Build a forest of extremely randomised trees, whose thresholds are drawn at random."""
    model_class = ExtraTreesClassifier if options.target.is_classification else ExtraTreesRegressor
    return model_class(bootstrap=True, **_forest_parameters(options), **settings)


def _forest_parameters(options: ModelOptions) -> dict[str, Any]:
    """Return the parameters that all forests share; their trees see a sample of the rows if there are many."""
    rows = len(options.target.values)
    sampled_share = FOREST_SAMPLE / rows if rows > FOREST_SAMPLE else None
    return {"n_estimators": 100, "max_samples": sampled_share, "n_jobs": 1, "random_state": options.seed}


def _build_histogram_boosting(options: ModelOptions, settings: Settings) -> Any:
    """Build a gradient boosting model over histograms, from scikit-learn."""
    return build_histogram_boosting(settings, is_classification=options.target.is_classification, seed=options.seed)


def _build_lightgbm(options: ModelOptions, settings: Settings) -> Any:
    """Build a LightGBM model."""
    return build_lightgbm(settings, is_classification=options.target.is_classification, seed=options.seed)


def _build_baseline(options: ModelOptions, _settings: Settings) -> Any:
    """Build a model that ignores the features: it predicts the shares of the classes, or the mean."""
    return DummyClassifier(strategy="prior") if options.target.is_classification else DummyRegressor()


BASELINE: Final = Trial("baseline")

# Small steps with random halves of the columns, which suits most tables of some thousand rows.
SLOW_BOOSTING: Final[Settings] = {
    "learning_rate": 0.05,
    "num_leaves": 15,
    "min_child_samples": 5,
    "colsample_bytree": 0.5,
}

MODEL_FAMILIES: Final[dict[str, ModelFamily]] = {
    "baseline": ModelFamily(_build_baseline, weighs_classes=False),
    "linear": ModelFamily(
        _build_linear,
        classification={"C": (1.0, 0.1, 0.01, 10.0)},
        # The fewer rows there are, the more the penalty weighs, so small tables may need a weak one (a large C).
        classification_presets=({}, {"C": 0.1}, {"C": 0.01}, {"C": 10.0}),
        regression={"alpha": (1.0, 10.0, 100.0, 0.1)},
        regression_presets=({}, {"alpha": 100.0}),
    ),
    "kernel": ModelFamily(
        _build_kernel,
        classification={"C": (0.3, 0.03, 3.0)},
        classification_presets=({}, {"C": 0.03}),
        regression={"alpha": (3.0, 30.0, 0.3)},
        regression_presets=({}, {"alpha": 30.0}, {"alpha": 0.3}),
        weight_argument="linear__sample_weight",
        most_rows=MANY_ROWS_FOR_KERNEL,
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
        # Few rounds have to suffice, so each of them learns much. On a sample, models that learn less would win, and
        # leaves of few rows would be compared, which hardly occur in the whole table.
        for_many_rows={
            "learning_rate": (0.2,),
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
        most_rows=MANY_ROWS,
    ),
    "extra_trees": ModelFamily(
        _build_extra_trees,
        shared={"min_samples_leaf": (3, 1, 10)},
        classification={"max_features": ("sqrt", 0.3)},
        classification_presets=({}, {"min_samples_leaf": 10, "max_features": 0.3}),
        regression={"max_features": (0.7, 0.33)},
        regression_presets=({"min_samples_leaf": 1}, {}),
        most_rows=MANY_ROWS,
    ),
    "decision_tree": ModelFamily(_build_tree, shared={"max_depth": (6, 3, 10, None), "min_samples_leaf": (10, 3, 30)}),
}


def build_model(trial: Trial, options: ModelOptions) -> Any:
    """Return the unfitted model of a trial."""
    return MODEL_FAMILIES[trial.algorithm].build(options, trial.model_settings)


def load_libraries(trials: Sequence[Trial]) -> None:
    """Import the optional packages of trials, so that limits on threads apply to them, too."""
    if any(trial.algorithm == "lightgbm" for trial in trials):
        importlib.import_module("lightgbm")


def average_settings(trials: Sequence[Trial]) -> Trial:
    """Return a trial for several that only differ in numbers found by training: it has their mean, rounded up."""
    settings: dict[str, Any] = {}
    for name in {name: None for trial in trials for name in trial.settings}:
        values = [trial.settings[name] for trial in trials if name in trial.settings]
        are_equal = all(value == values[0] for value in values)
        settings[name] = values[0] if are_equal else math.ceil(float(np.mean(values)))
    return Trial(trials[0].algorithm, settings)


def search_space(algorithm: str, options: ModelOptions) -> list[Trial]:
    """Return a trial for every combination of settings of an algorithm, in the order in which they are tried.

    The presets come first; the others are shuffled.
    """
    presets = _preset_trials(algorithm, options)
    return [*presets, *_other_trials(algorithm, options, presets)]


def _preset_trials(algorithm: str, options: ModelOptions) -> list[Trial]:
    """Return the trials of an algorithm whose settings are known to work well on many tables."""
    family = MODEL_FAMILIES[algorithm]
    preferred_settings = {name: values[0] for name, values in family.values_by_setting(options).items()}
    return [Trial(algorithm, {**preferred_settings, **preset}) for preset in family.presets(options)]


def _other_trials(algorithm: str, options: ModelOptions, presets: Sequence[Trial]) -> list[Trial]:
    """Return the trials with the other combinations of settings of an algorithm, shuffled by the seed."""
    values_by_setting = MODEL_FAMILIES[algorithm].values_by_setting(options)
    trials = []
    for values in product(*values_by_setting.values()):
        trial = Trial(algorithm, dict(zip(values_by_setting, values, strict=True)))
        if trial not in presets:
            trials.append(trial)

    shuffled_positions = np.random.default_rng(options.seed).permutation(len(trials))
    return [trials[position] for position in shuffled_positions]


def plan_trials(algorithms: Sequence[str], options: ModelOptions, *, max_trials: int) -> list[Trial]:
    """Return the trials in the order in which they are tried, within the budget.

    One of each algorithm is tried in turn: first the presets of all of them, then the other settings.
    """
    presets = {name: _preset_trials(name, options) for name in algorithms}
    others = [_other_trials(name, options, presets[name]) for name in algorithms]
    return [*_take_turns(list(presets.values())), *_take_turns(others)][:max_trials]


def _take_turns(trials_by_algorithm: Sequence[Sequence[Trial]]) -> list[Trial]:
    """Return the first trial of every algorithm, then the second of each, and so on."""
    # An algorithm whose trials are used up contributes None to the remaining rounds.
    rounds = zip_longest(*trials_by_algorithm)
    return [trial for round_trials in rounds for trial in round_trials if trial is not None]
