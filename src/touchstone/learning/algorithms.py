"""How each algorithm is made, and what is tried of it.

A space lists a few values a setting; the first trial of an algorithm takes the first of each, the others follow in an
order shuffled by the seed. Everything runs on one thread: sums then never depend on the machine.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
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

FOREST_SAMPLE: Final = 50_000  # rows a tree of a forest sees at most: its size, and its file, stay bounded
Settings = Mapping[str, Any]
Maker = Callable[["Conditions", Settings], Any]


@dataclass(frozen=True, slots=True)
class Conditions:
    """What every model of one training shares: its target, whether classes weigh the same, and the seed."""

    target: Target
    balanced: bool
    seed: int

    @property
    def weights(self) -> dict[str, Any]:
        """The class weights, where there are classes."""
        if not self.target.classification:
            return {}
        return {"class_weight": "balanced" if self.balanced else None}


@dataclass(frozen=True, slots=True)
class Trial:
    """One algorithm with one choice of settings."""

    algorithm: str
    settings: Settings = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a family of models is made, and the values of its settings worth trying (`shared`, then by task)."""

    make: Maker
    shared: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    classification: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    regression: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def _linear(given: Conditions, settings: Settings) -> Any:
    if given.target.classification:
        return LogisticRegression(max_iter=1_000, **settings, **given.weights)
    return Ridge(**settings)


def _tree(given: Conditions, settings: Settings) -> Any:
    family = DecisionTreeClassifier if given.target.classification else DecisionTreeRegressor
    return family(random_state=given.seed, **settings, **given.weights)


def _forest(given: Conditions, settings: Settings) -> Any:
    family = RandomForestClassifier if given.target.classification else RandomForestRegressor
    rows = len(given.target.values)
    share = FOREST_SAMPLE / rows if rows > FOREST_SAMPLE else None
    return family(n_estimators=100, max_samples=share, n_jobs=1, random_state=given.seed, **settings, **given.weights)


def _boosting(given: Conditions, settings: Settings) -> Any:
    family = HistGradientBoostingClassifier if given.target.classification else HistGradientBoostingRegressor
    return family(random_state=given.seed, **settings, **given.weights)


def _lightgbm(given: Conditions, settings: Settings) -> Any:
    package = importlib.import_module("lightgbm")
    family = package.LGBMClassifier if given.target.classification else package.LGBMRegressor
    fixed = {"n_jobs": 1, "deterministic": True, "force_row_wise": True, "verbose": -1}
    return family(random_state=given.seed, **fixed, **settings, **given.weights)


def _baseline(given: Conditions, _settings: Settings) -> Any:
    """The most frequent class with the classes' shares as probabilities, or the mean."""
    return DummyClassifier(strategy="prior") if given.target.classification else DummyRegressor()


BASELINE: Final = Trial("baseline")

RECIPES: Final[dict[str, Recipe]] = {
    "baseline": Recipe(_baseline),
    "linear": Recipe(
        _linear, classification={"C": (1.0, 0.1, 0.01, 10.0)}, regression={"alpha": (1.0, 10.0, 100.0, 0.1)}
    ),
    "decision_tree": Recipe(_tree, shared={"max_depth": (6, 3, 10, None), "min_samples_leaf": (10, 3, 30)}),
    "random_forest": Recipe(
        _forest,
        shared={"min_samples_leaf": (3, 1, 8)},
        classification={"max_features": ("sqrt", 0.3)},
        regression={"max_features": (0.33, 0.7)},
    ),
    "hist_gradient_boosting": Recipe(
        _boosting,
        shared={
            "learning_rate": (0.1, 0.05, 0.2),
            "max_leaf_nodes": (15, 31, 7),
            "min_samples_leaf": (20, 5, 50),
            "l2_regularization": (0.0, 1.0),
        },
    ),
    "lightgbm": Recipe(
        _lightgbm,
        shared={"learning_rate": (0.1, 0.05), "num_leaves": (15, 31, 7), "min_child_samples": (20, 5, 50)},
    ),
}


def make_model(trial: Trial, given: Conditions) -> Any:
    """An unfitted model for a trial."""
    return RECIPES[trial.algorithm].make(given, trial.settings)


def space(algorithm: str, *, classification: bool, seed: int) -> list[Trial]:
    """Every trial of an algorithm: its first settings, then the others in an order that the seed decides."""
    recipe = RECIPES[algorithm]
    values = {**recipe.shared, **(recipe.classification if classification else recipe.regression)}
    trials = [Trial(algorithm, dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]
    order = np.random.default_rng(seed).permutation(len(trials) - 1) + 1
    return [trials[0], *(trials[position] for position in order)]


def plan(algorithms: Sequence[str], *, classification: bool, max_trials: int, seed: int) -> list[Trial]:
    """The trials in the order in which they are tried: one of each algorithm in turn, within the budget."""
    spaces = [space(name, classification=classification, seed=seed) for name in algorithms]
    longest = max(map(len, spaces))
    turns = [trials[turn] for turn in range(longest) for trials in spaces if turn < len(trials)]
    return turns[:max_trials]
