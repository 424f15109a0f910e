"""Permutation importance: what a model loses when one source column is shuffled (Breiman 2001; Fisher et al. 2019)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.evaluation import Measured, better, measure
from touchstone.learning.explaining.explained_model import Subject, Told
from touchstone.learning.model_search import predict
from touchstone.learning.target import Floats, Indices

REPEATS: Final = 5
ROWS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Importance:
    """Losses of the metric for one column, one a repeat; positive means that the column helps."""

    column: str
    losses: tuple[float, ...] = field(repr=False)

    @property
    def mean(self) -> float:
        """The mean loss."""
        return float(np.mean(self.losses))

    @property
    def spread(self) -> float:
        """The standard deviation of the loss over repeats."""
        return float(np.std(self.losses, ddof=1))

    @property
    def matters(self) -> bool:
        """Whether the mean loss is more than two of its standard errors above nothing."""
        return self.mean > 2 * self.spread / math.sqrt(len(self.losses))


def permutation_importance(
    subject: Subject, matrix: Floats, truth: npt.NDArray[Any], *, seed: int, told: Told
) -> list[Importance]:
    """The importance of every source column on these encoded rows, by the metric that the model was chosen by."""
    metric, rng = subject.kept.record["metric"], np.random.default_rng(seed)
    sign, whole = better(metric), _score(subject, metric, matrix, truth)
    found: list[Importance] = []
    for position, column in enumerate(subject.columns):
        shuffles = (_shuffled(matrix, subject.block(position), rng) for _ in range(REPEATS))
        losses = tuple(sign * (whole - _score(subject, metric, shuffled, truth)) for shuffled in shuffles)
        found.append(Importance(column.name, losses))
        told(position + 1, len(subject.columns))
    return found


def ranked(found: Sequence[Importance]) -> list[Importance]:
    """Most important first, equal ones in the order of the columns."""
    return sorted(found, key=lambda one: -one.mean)


def _score(subject: Subject, metric: str, matrix: Floats, truth: npt.NDArray[Any]) -> float:
    classes = len(subject.kept.classes)
    values, probabilities = predict(subject.model, matrix, classes)
    return measure(metric, Measured(truth, values, classes, probabilities))


def _shuffled(matrix: Floats, block: Indices, rng: np.random.Generator) -> Floats:
    """The rows with one block exchanged between them; the parts of one source value stay together."""
    mixed = matrix.copy()
    mixed[:, block] = matrix[rng.permutation(len(matrix))][:, block]
    return mixed
