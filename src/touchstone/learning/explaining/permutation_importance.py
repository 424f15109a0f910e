"""Permutation importance: how much the metric suffers when one source column is shuffled.

See Breiman (2001) and Fisher et al. (2019).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.evaluation import Predictions, compute_metric, metric_sign
from touchstone.learning.explaining.explained_model import ExplainedModel, ProgressCallback
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
    on_progress: ProgressCallback,
) -> list[Importance]:
    """Return the importance of every source column on these encoded rows, by the model's own metric."""
    rng = np.random.default_rng(seed)
    sign = metric_sign(explained.model.metric)
    intact_score = _score(explained, matrix, truth)

    importances = []
    for position, column in enumerate(explained.columns):
        losses = []
        for _ in range(REPEATS):
            shuffled = _shuffle_block(matrix, explained.block(position), rng)
            losses.append(sign * (intact_score - _score(explained, shuffled, truth)))
        importances.append(Importance(column.name, tuple(losses)))
        on_progress(position + 1, len(explained.columns))
    return importances


def rank_importances(importances: Iterable[Importance]) -> list[Importance]:
    """Return the most important first, equal ones in the order of the columns."""
    return sorted(importances, key=lambda importance: -importance.mean)


def _score(explained: ExplainedModel, matrix: Floats, truth: npt.NDArray[Any]) -> float:
    values, probabilities = explained.predict(matrix)
    predictions = Predictions(truth, values, len(explained.model.classes), probabilities)
    return compute_metric(explained.model.metric, predictions)


def _shuffle_block(matrix: Floats, block: Indices, rng: np.random.Generator) -> Floats:
    """Return the rows with one block permuted between them, so that the parts of a source value stay together."""
    shuffled = matrix.copy()
    shuffled[:, block] = matrix[rng.permutation(len(matrix))][:, block]
    return shuffled
