"""The algorithms that can be trained, and the settings that are tried for each.

The first trial of an algorithm takes the first value of each setting; the other combinations follow in an order that
is shuffled by the seed. Every model is fitted on one thread, so that sums never depend on the number of cores.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product, zip_longest
from typing import Any, Final

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from touchstone.learning.target import Target

FOREST_SAMPLE: Final = 50_000  # Each tree of a forest sees at most this many rows, which bounds the size of the model.
Settings = Mapping[str, Any]
ModelBuilder = Callable[["ModelOptions", Settings], Any]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The options that all models of one training share; `balanced` gives every class the same weight."""

    target: Target
    balanced: bool
    seed: int

    @property
    def class_weights(self) -> dict[str, Any]:
        """The keyword argument by which a model weights the classes; none for a regression."""
        if not self.target.is_classification:
            return {}
        return {"class_weight": "balanced" if self.balanced else None}


@dataclass(frozen=True, slots=True)
class Trial:
    """One algorithm with one choice of settings."""

    algorithm: str
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """How models of one algorithm are built, and the values to try for each setting.

    `shared` settings are tried for both tasks, the others for one task only.
    """

    build: ModelBuilder
    shared: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classification: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    regression: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def _build_linear(options: ModelOptions, settings: Settings) -> Any:
    """Build a logistic regression, or a ridge regression for numbers."""
    if options.target.is_classification:
        return LogisticRegression(max_iter=1_000, **settings, **options.class_weights)
    return Ridge(**settings)


def _build_tree(options: ModelOptions, settings: Settings) -> Any:
    """Build a single decision tree."""
    model_class = DecisionTreeClassifier if options.target.is_classification else DecisionTreeRegressor
    return model_class(random_state=options.seed, **settings, **options.class_weights)


def _build_forest(options: ModelOptions, settings: Settings) -> Any:
    """Build a random forest; its trees see a sample of the rows if there are many."""
    model_class = RandomForestClassifier if options.target.is_classification else RandomForestRegressor

    rows = len(options.target.values)
    sampled_share = FOREST_SAMPLE / rows if rows > FOREST_SAMPLE else None
    return model_class(
        n_estimators=100,
        max_samples=sampled_share,
        n_jobs=1,
        random_state=options.seed,
        **settings,
        **options.class_weights,
    )


def _build_boosting(options: ModelOptions, settings: Settings) -> Any:
    """Build a gradient boosting model over histograms, from scikit-learn."""
    is_classification = options.target.is_classification
    model_class = HistGradientBoostingClassifier if is_classification else HistGradientBoostingRegressor
    return model_class(random_state=options.seed, **settings, **options.class_weights)


def _build_lightgbm(options: ModelOptions, settings: Settings) -> Any:
    """Build a LightGBM model that gives the same result in every run."""
    # Imported here, because LightGBM is an optional package, without which the service also runs.
    lightgbm = importlib.import_module("lightgbm")
    model_class = lightgbm.LGBMClassifier if options.target.is_classification else lightgbm.LGBMRegressor

    reproducibility = {"n_jobs": 1, "deterministic": True, "force_row_wise": True}
    return model_class(
        random_state=options.seed,
        verbose=-1,
        **reproducibility,
        **settings,
        **options.class_weights,
    )


def _build_baseline(options: ModelOptions, _settings: Settings) -> Any:
    """Build a model that ignores the features: it predicts the shares of the classes, or the mean."""
    return DummyClassifier(strategy="prior") if options.target.is_classification else DummyRegressor()


BASELINE: Final = Trial("baseline")

MODEL_FAMILIES: Final[dict[str, ModelFamily]] = {
    "baseline": ModelFamily(_build_baseline),
    "linear": ModelFamily(
        _build_linear, classification={"C": (1.0, 0.1, 0.01, 10.0)}, regression={"alpha": (1.0, 10.0, 100.0, 0.1)}
    ),
    "decision_tree": ModelFamily(_build_tree, shared={"max_depth": (6, 3, 10, None), "min_samples_leaf": (10, 3, 30)}),
    "random_forest": ModelFamily(
        _build_forest,
        shared={"min_samples_leaf": (3, 1, 8)},
        classification={"max_features": ("sqrt", 0.3)},
        regression={"max_features": (0.33, 0.7)},
    ),
    "hist_gradient_boosting": ModelFamily(
        _build_boosting,
        shared={
            "learning_rate": (0.1, 0.05, 0.2),
            "max_leaf_nodes": (15, 31, 7),
            "min_samples_leaf": (20, 5, 50),
            "l2_regularization": (0.0, 1.0),
        },
    ),
    "lightgbm": ModelFamily(
        _build_lightgbm,
        shared={"learning_rate": (0.1, 0.05), "num_leaves": (15, 31, 7), "min_child_samples": (20, 5, 50)},
    ),
}


def build_model(trial: Trial, options: ModelOptions) -> Any:
    """Return the unfitted model of a trial."""
    return MODEL_FAMILIES[trial.algorithm].build(options, trial.settings)


def search_space(algorithm: str, *, classification: bool, seed: int) -> list[Trial]:
    """Return a trial for every combination of settings of an algorithm, in the order in which they are tried.

    The first trial has the preferred value of each setting; the others are shuffled.
    """
    family = MODEL_FAMILIES[algorithm]
    values_of_task = family.classification if classification else family.regression
    values_by_setting = {**family.shared, **values_of_task}

    trials = []
    for values in product(*values_by_setting.values()):
        settings = dict(zip(values_by_setting, values, strict=True))
        trials.append(Trial(algorithm, settings))

    preferred, *others = trials
    shuffled_positions = np.random.default_rng(seed).permutation(len(others))
    shuffled = [others[position] for position in shuffled_positions]
    return [preferred, *shuffled]


def plan_trials(algorithms: Sequence[str], *, classification: bool, max_trials: int, seed: int) -> list[Trial]:
    """Return the trials in the order in which they are tried: one of each algorithm in turn, within the budget."""
    spaces = [search_space(name, classification=classification, seed=seed) for name in algorithms]

    # An algorithm whose trials are used up contributes None to the remaining rounds.
    rounds = zip_longest(*spaces)
    trials = [trial for round_trials in rounds for trial in round_trials if trial is not None]
    return trials[:max_trials]
