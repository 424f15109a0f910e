"""The search for the best trial: fit, look at rows that were not learned from, keep the score.

What is chosen by is never what is reported: inside every outer part the trials are compared on inner parts of its
training rows only, so the outer test rows meet the winner for the first time.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.compose import ColumnTransformer

from touchstone.learning.algorithms import Conditions, Trial, make_model
from touchstone.learning.column_types import Column
from touchstone.learning.evaluation import Measured, better, measure
from touchstone.learning.preparation import make_preparation, transform
from touchstone.learning.splits import Part
from touchstone.learning.target import Floats, Indices, Target


@dataclass(frozen=True, slots=True)
class Material:
    """What one training learns from: its rows (those of the target, in its order), features and conditions."""

    frame: pd.DataFrame = field(repr=False)
    columns: tuple[Column, ...]
    conditions: Conditions
    metric: str

    @property
    def target(self) -> Target:
        """What is predicted."""
        return self.conditions.target


@dataclass(frozen=True, slots=True)
class Encoded:
    """One part as matrices, prepared by what its training rows alone taught."""

    preparation: ColumnTransformer
    train: Floats = field(repr=False)
    test: Floats = field(repr=False)
    part: Part = field(repr=False)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the warnings of the numeric libraries (no convergence, a class missing in a fold) out of the log.

    What they mean for a caller shows in the metrics.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def encode(material: Material, part: Part) -> Encoded:
    """Fit the preparation on the training rows of a part, and encode both sides."""
    preparation = make_preparation(material.columns, material.target, material.conditions.seed)
    values = material.target.values[part.train]
    train = np.asarray(preparation.fit_transform(material.frame.iloc[part.train], values), dtype=np.float64)
    return Encoded(preparation, train, transform(preparation, material.frame.iloc[part.test]), part)


def fit(material: Material, trial: Trial, encoded: Encoded) -> Any:
    """The model of a trial, fitted on the training rows of a part."""
    return make_model(trial, material.conditions).fit(encoded.train, material.target.values[encoded.part.train])


def measured(material: Material, model: Any, encoded: Encoded) -> Measured:
    """The test rows of a part, true beside predicted."""
    values, probabilities = predict(model, encoded.test, len(material.target.classes))
    return Measured(material.target.values[encoded.part.test], values, len(material.target.classes), probabilities)


def predict(model: Any, matrix: Floats, classes: int) -> tuple[npt.NDArray[Any], Floats]:
    """Predicted values and probabilities; a class that was absent from training gets probability 0."""
    if not classes:
        return np.asarray(model.predict(matrix), dtype=np.float64), np.empty((0, 0))
    probabilities = np.zeros((len(matrix), classes))
    probabilities[:, model.classes_] = model.predict_proba(matrix)
    return probabilities.argmax(axis=1), probabilities


def compare(
    material: Material, trials: Sequence[Trial], parts: Sequence[Part], *, until: float, told: Callable[[], None]
) -> list[float]:
    """The mean score of each trial over the inner parts, as many trials as the deadline lets (at least one).

    `until` is a moment of `time.monotonic`; `told` is called after each trial.
    """
    sides = [encode(material, part) for part in parts]
    scores: list[float] = []
    for trial in trials:
        scores.append(float(np.mean([_score(material, trial, side) for side in sides])))
        told()
        if time.monotonic() > until:
            break
    return scores


def _score(material: Material, trial: Trial, side: Encoded) -> float:
    worst = -better(material.metric) * np.inf
    if one_class(material.target, side.part):
        return worst
    value = measure(material.metric, measured(material, fit(material, trial, side), side))
    return value if np.isfinite(value) else worst


def one_class(target: Target, part: Part) -> bool:
    """Whether the training rows of a part show a single class, so that nothing can be learned from them."""
    return target.classification and len(np.unique(target.values[part.train])) < 2


def best(metric: str, scores: Sequence[float]) -> int:
    """The position of the best score; of equal ones the first, which is the simpler."""
    return int(np.argmax(better(metric) * np.asarray(scores)))


def rows_of(frame: pd.DataFrame, target: Target, names: Sequence[str]) -> pd.DataFrame:
    """The feature columns of the rows that have a target."""
    return frame[list(names)].iloc[target.rows].reset_index(drop=True)


def everything(target: Target) -> Indices:
    """Every position of the target's values."""
    return np.arange(len(target.values))
