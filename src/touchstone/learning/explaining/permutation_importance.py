"""Permutation importance: how much the metric suffers when one source column is shuffled.

See Breiman (2001) and Fisher et al. (2019). Chance alone makes some columns look important, the more so the fewer rows
there are. The same losses are therefore measured against shuffled targets, which no column can predict, and a column
only matters if its loss is beyond what these show (compare Altmann et al. 2010).
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from touchstone.learning.evaluation import Predictions, compute_metric, metric_sign
from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats, Indices

REPEATS: Final = 5
MAX_ROWS: Final = 2_000
SHUFFLED_TARGETS: Final = 20
FALSE_ALARMS: Final = 0.01  # How probable it may be that any column seems to matter if none does.


@dataclass(frozen=True, slots=True)
class Importance:
    """The losses of the metric when a column is shuffled, one per repeat; a positive loss means the column helps.

    `shuffled_target_loss` is the largest mean loss that chance explains if the column says nothing about the target.
    """

    column: str
    losses: tuple[float, ...] = field(repr=False)
    shuffled_target_loss: float = 0.0

    @property
    def mean(self) -> float:
        """The mean loss."""
        return float(np.mean(self.losses))

    @property
    def deviation(self) -> float:
        """The standard deviation of the loss over the repeats."""
        return float(np.std(self.losses, ddof=1))

    @property
    def chance(self) -> float:
        """The largest mean loss that chance explains: for shuffled targets, or as two of its standard errors."""
        standard_error = self.deviation / math.sqrt(len(self.losses))
        return max(self.shuffled_target_loss, 2 * standard_error)

    @property
    def is_significant(self) -> bool:
        """Whether the mean loss is beyond what chance explains."""
        return self.mean > self.chance


def permutation_importance(
    explained: ExplainedModel,
    matrix: Floats,
    truth: npt.NDArray[Any],
    *,
    seed: int,
    on_column_measured: Callable[[int], None],
) -> list[Importance]:
    """Measure how much worse the predictions become when the values of one source column are shuffled between rows.

    A column that the model relies on makes a large difference. `matrix` holds encoded rows, which the model has not
    learned from, and `truth` the values to predict for them. After each column, `on_column_measured` is called with the
    number of columns measured so far.
    """
    rng = np.random.default_rng(seed)
    shuffled_truths = [rng.permutation(truth) for _ in range(SHUFFLED_TARGETS)]
    intact = _Answers.of(explained, matrix)

    importances = []
    for position, column in enumerate(explained.columns):
        encoded_columns = explained.block(position)
        repeats = [_Answers.of(explained, _shuffle_columns(matrix, encoded_columns, rng)) for _ in range(REPEATS)]

        losses = _losses(explained, intact, repeats, truth)
        mean_losses_by_chance = [
            float(np.mean(_losses(explained, intact, repeats, shuffled_truth))) for shuffled_truth in shuffled_truths
        ]
        chance = _largest_loss_by_chance(mean_losses_by_chance, column_count=len(explained.columns))

        importances.append(Importance(column.name, tuple(losses), chance))
        on_column_measured(position + 1)
    return importances


@dataclass(frozen=True, slots=True)
class _Answers:
    """What a model answers for some rows: predictions, and the probabilities of a classifier."""

    predicted: npt.NDArray[Any]
    probabilities: Floats

    @classmethod
    def of(cls, explained: ExplainedModel, matrix: Floats) -> "_Answers":
        """Return the answers of a model for encoded rows."""
        predicted, probabilities = explained.predict(matrix)
        return cls(predicted, probabilities)

    def score(self, explained: ExplainedModel, truth: npt.NDArray[Any]) -> float:
        """Return the metric by which the model was chosen, higher values being better."""
        predictions = Predictions(truth, self.predicted, len(explained.model.classes), self.probabilities)
        metric = explained.model.metric
        return metric_sign(metric) * compute_metric(metric, predictions)


def _losses(
    explained: ExplainedModel, intact: _Answers, repeats: Sequence[_Answers], truth: npt.NDArray[Any]
) -> list[float]:
    """Return by how much each repeat, in which a column was shuffled, is worse than the answers for intact rows."""
    intact_score = intact.score(explained, truth)
    return [intact_score - shuffled.score(explained, truth) for shuffled in repeats]


def _largest_loss_by_chance(mean_losses: Sequence[float], *, column_count: int) -> float:
    """Return the largest mean loss of a column that chance explains, given its mean losses for shuffled targets.

    These are taken as normally distributed. The share of false alarms is divided among all columns (Bonferroni).
    """
    deviations = float(norm.isf(FALSE_ALARMS / column_count))
    return float(np.mean(mean_losses) + deviations * np.std(mean_losses, ddof=1))


def rank_importances(importances: Iterable[Importance]) -> list[Importance]:
    """Sort importances with the largest first; equal ones keep their order."""
    return sorted(importances, key=lambda importance: importance.mean, reverse=True)


def _shuffle_columns(matrix: Floats, columns: Indices, rng: np.random.Generator) -> Floats:
    """Return a copy of the matrix in which some columns are shuffled between the rows.

    All of these columns follow the same permutation, so the encoded columns of a source value stay together.
    """
    shuffled = matrix.copy()
    shuffled[:, columns] = matrix[rng.permutation(len(matrix))][:, columns]
    return shuffled
