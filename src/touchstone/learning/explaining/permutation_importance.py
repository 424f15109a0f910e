"""Permutation importance: the loss of the metric when one source column is shuffled.

See Breiman (2001) and Fisher et al. (2019). Chance alone makes some columns look important, especially if there are few
rows. The same losses are therefore measured against shuffled targets, which no column can predict. A column only
matters if its loss exceeds the losses by chance (compare Altmann et al. 2010).
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
from touchstone.learning.explaining.weighted_truth import WeightedTruth
from touchstone.learning.target import Floats, Indices

REPEATS: Final = 5
MAX_ROWS: Final = 2_000
SHUFFLED_TARGETS: Final = 20
FALSE_ALARM_RATE: Final = 0.01  # the probability that any column seems to matter although none does


@dataclass(frozen=True, slots=True)
class Importance:
    """The losses of the metric when a column is shuffled, one per repeat.

    A positive loss means that the column helps. `shuffled_target_loss` is the largest mean loss to be expected by
    chance, estimated with shuffled targets.
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
        """The largest mean loss that chance explains, which is at least twice the standard error of the mean."""
        standard_error = self.deviation / math.sqrt(len(self.losses))
        return max(self.shuffled_target_loss, 2 * standard_error)

    @property
    def is_significant(self) -> bool:
        """Whether the mean loss exceeds the largest loss that chance explains."""
        return self.mean > self.chance


def permutation_importance(
    explained: ExplainedModel,
    matrix: Floats,
    truth: WeightedTruth,
    *,
    seed: int,
    on_column_measured: Callable[[int], None],
) -> list[Importance]:
    """Measure the permutation importance of every source column.

    A column is shuffled several times. The same predictions are also compared with shuffled targets, so that the losses
    that chance explains need no further predictions.

    Args:
        explained: the model.
        matrix: encoded rows that the model has not learned from, of shape (rows, encoded columns).
        truth: the true values of the target, and the weights of the rows in the metric.
        seed: the seed of the permutations.
        on_column_measured: called after each column with the number of columns measured so far.

    Returns:
        the importances in the order of the columns.
    """
    rng = np.random.default_rng(seed)
    shuffled_truths = [truth.shuffle(rng) for _ in range(SHUFFLED_TARGETS)]
    intact_output = _ModelOutput.from_model(explained, matrix)

    importances = []
    for position, column in enumerate(explained.columns):
        encoded_columns = explained.block(position)
        shuffled_rows = [truth.shuffled_positions(rng) for _ in range(REPEATS)]
        shuffled_outputs = [
            _ModelOutput.from_model(explained, _shuffle_columns(matrix, encoded_columns, rows))
            for rows in shuffled_rows
        ]

        losses = _compute_losses(explained, intact_output, shuffled_outputs, truth)
        mean_losses_by_chance = [
            float(np.mean(_compute_losses(explained, intact_output, shuffled_outputs, shuffled_truth)))
            for shuffled_truth in shuffled_truths
        ]
        chance = _largest_loss_by_chance(mean_losses_by_chance, column_count=len(explained.columns))

        importances.append(Importance(column.name, tuple(losses), chance))
        on_column_measured(position + 1)
    return importances


@dataclass(frozen=True, slots=True)
class _ModelOutput:
    """The predictions of a model for several rows, with the probabilities of a classifier."""

    predicted: npt.NDArray[Any]
    probabilities: Floats

    @classmethod
    def from_model(cls, explained: ExplainedModel, matrix: Floats) -> "_ModelOutput":
        """Return the predictions of a model for encoded rows."""
        predicted, probabilities = explained.predict(matrix)
        return cls(predicted, probabilities)

    def score(self, explained: ExplainedModel, truth: WeightedTruth) -> float:
        """Return the metric used to choose the model, with its sign adjusted so that higher is better."""
        class_count = len(explained.model.classes)
        predictions = Predictions(truth.values, self.predicted, class_count, self.probabilities, truth.weights)
        metric = explained.model.metric
        return metric_sign(metric) * compute_metric(metric, predictions)


def _compute_losses(
    explained: ExplainedModel,
    intact_output: _ModelOutput,
    shuffled_outputs: Sequence[_ModelOutput],
    truth: WeightedTruth,
) -> list[float]:
    """Return how much each shuffle of a column lowers the metric, compared with the intact rows."""
    intact_score = intact_output.score(explained, truth)
    return [intact_score - shuffled_output.score(explained, truth) for shuffled_output in shuffled_outputs]


def _largest_loss_by_chance(mean_losses: Sequence[float], *, column_count: int) -> float:
    """Return the largest mean loss of a column that chance explains.

    `mean_losses` holds its mean losses for shuffled targets, which are assumed to be normally distributed. The rate of
    false alarms is divided among all columns (Bonferroni).
    """
    quantile = float(norm.isf(FALSE_ALARM_RATE / column_count))
    return float(np.mean(mean_losses) + quantile * np.std(mean_losses, ddof=1))


def rank_importances(importances: Iterable[Importance]) -> list[Importance]:
    """Sort importances in descending order, keeping the order of equal ones."""
    return sorted(importances, key=lambda importance: importance.mean, reverse=True)


def _shuffle_columns(matrix: Floats, columns: Indices, rows: Indices) -> Floats:
    """Return a copy of the matrix with the given columns taken from the given rows, in their order.

    All columns are taken from the same rows, so that the encoded columns of a source value stay together.
    """
    shuffled = matrix.copy()
    shuffled[:, columns] = matrix[rows][:, columns]
    return shuffled
