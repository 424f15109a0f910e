"""Permutation importance: how much the metric suffers when one source column is shuffled.

See Breiman (2001) and Fisher et al. (2019).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.evaluation import Predictions, compute_metric, metric_sign
from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats, Indices

REPEATS: Final = 5
MAX_ROWS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Importance:
    """The losses of the metric when a column is shuffled, one per repeat; a positive loss means the column helps."""

    column: str
    losses: tuple[float, ...] = field(repr=False)

    @property
    def mean(self) -> float:
        """The mean loss."""
        return float(np.mean(self.losses))

    @property
    def deviation(self) -> float:
        """The standard deviation of the loss over the repeats."""
        return float(np.std(self.losses, ddof=1))

    @property
    def is_significant(self) -> bool:
        """Whether the mean loss is more than two of its standard errors above zero."""
        return self.mean > 2 * self.deviation / math.sqrt(len(self.losses))


def permutation_importance(
    explained: ExplainedModel,
    matrix: Floats,
    truth: npt.NDArray[Any],
    *,
    seed: int,
    on_column_measured: Callable[[int], None],
) -> list[Importance]:
    """Measure how much worse the predictions become when the values of one source column are shuffled between rows.

    A column that the model relies on makes a large difference. `matrix` holds encoded rows, and `truth` the values to
    predict for them. After each column, `on_column_measured` is called with the number of columns measured so far.
    """
    rng = np.random.default_rng(seed)
    intact_score = _score(explained, matrix, truth)

    importances = []
    for position, column in enumerate(explained.columns):
        encoded_columns = explained.block(position)

        losses = []
        for _ in range(REPEATS):
            shuffled_matrix = _shuffle_columns(matrix, encoded_columns, rng)
            shuffled_score = _score(explained, shuffled_matrix, truth)
            losses.append(_loss(explained, intact_score, shuffled_score))

        importances.append(Importance(column.name, tuple(losses)))
        on_column_measured(position + 1)
    return importances


def _loss(explained: ExplainedModel, intact_score: float, shuffled_score: float) -> float:
    """Return by how much shuffling made the score worse, whether high or low scores of the metric are good."""
    return metric_sign(explained.model.metric) * (intact_score - shuffled_score)


def rank_importances(importances: Iterable[Importance]) -> list[Importance]:
    """Sort importances with the largest first; equal ones keep their order."""
    return sorted(importances, key=lambda importance: importance.mean, reverse=True)


def _score(explained: ExplainedModel, matrix: Floats, truth: npt.NDArray[Any]) -> float:
    """Return the model's own metric on encoded rows."""
    values, probabilities = explained.predict(matrix)
    predictions = Predictions(truth, values, len(explained.model.classes), probabilities)
    return compute_metric(explained.model.metric, predictions)


def _shuffle_columns(matrix: Floats, columns: Indices, rng: np.random.Generator) -> Floats:
    """Return a copy of the matrix in which some columns are shuffled between the rows.

    All of these columns follow the same permutation, so the encoded columns of a source value stay together.
    """
    shuffled = matrix.copy()
    shuffled[:, columns] = matrix[rng.permutation(len(matrix))][:, columns]
    return shuffled
