"""Shapley values: the contribution of each source column to a single prediction.

The value of a coalition of columns is the mean prediction when all other columns come from background rows
(interventional, as in Lundberg and Lee 2017). The first method that applies is used:

linear   phi_j = sum over the block of coefficient * (x - mean of the background), exact for a linear output;
exact    every coalition is evaluated (Shapley 1953), when few columns differ and matter;
sampled  permutations and their reverses (Castro et al. 2009; Mitchell et al. 2022).

With all three, the base value and the contributions add up to the prediction, up to rounding. In terms of game theory,
the players are the source columns that can change the prediction.

The standard errors measure how much the contributions depend on the choice of the background rows and, if sampled, on
the permutations. A contribution within its standard error is not significant.
"""

import math
from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.request_choices import Output, Task
from touchstone.learning.target import Floats, Indices

MAX_EXACT_COLUMNS: Final = 10
EVALUATIONS: Final = 30_000  # the maximum number of model evaluations for each explained row
CHEAP_EVALUATIONS: Final = 120_000  # the maximum for models that are fast to evaluate
CHEAP_ALGORITHMS: Final = ("decision_tree", "linear", "baseline")
MIN_PERMUTATION_PAIRS: Final = 2  # The standard error of a single pair is not defined.
MAX_PERMUTATION_PAIRS: Final = 50
CHUNK_CELLS: Final = 2_000_000  # the number of encoded cells evaluated at once

Coalitions = npt.NDArray[np.bool_]  # shape (coalitions, players): which players each coalition contains


@dataclass(frozen=True, slots=True)
class Attribution:
    """The contributions of the source columns to one prediction, which are zero without an effect."""

    base: float
    prediction: float
    contributions: Floats = field(repr=False)
    standard_errors: Floats = field(repr=False)
    method: str
    permutations: int = 0  # the number of sampled permutations

    @property
    def additivity_error(self) -> float:
        """The difference between the prediction and the sum of the base value and the contributions."""
        return abs(self.base + float(self.contributions.sum()) - self.prediction)

    @property
    def is_uncertain(self) -> npt.NDArray[np.bool_]:
        """A mask of the columns whose contribution is within its standard error."""
        is_within_error = np.abs(self.contributions) <= self.standard_errors
        is_uncertain: npt.NDArray[np.bool_] = np.logical_and(self.contributions != 0, is_within_error)
        return is_uncertain


def explain_row(
    explained: ExplainedModel, row: Floats, rng: np.random.Generator, evaluations: int = EVALUATIONS
) -> Attribution:
    """Return the contributions of the source columns to the prediction for one encoded row.

    The contributions are exact if the model is linear, or if few columns can change the prediction. Otherwise they are
    estimated from random permutations of these columns. `evaluations` is the maximum number of rows to evaluate, which
    is raised for models that are fast to evaluate.
    """
    if is_linear(explained):
        return _explain_linear_model(explained, row)

    base = float(explained.value(explained.background).mean())
    matrix_of_one_row = row.reshape(1, -1)
    prediction = float(explained.value(matrix_of_one_row)[0])
    game = _Game(explained, row, _find_players(explained, row))
    if len(game.players) == 0:
        zeros = np.zeros(len(explained.columns))
        return Attribution(base, prediction, zeros, zeros, method="exact")

    if explained.model.algorithm in CHEAP_ALGORITHMS:
        evaluations = max(evaluations, CHEAP_EVALUATIONS)

    if game.can_evaluate_all_coalitions(evaluations):
        contributions, standard_errors = game.exact_contributions()
        return Attribution(base, prediction, contributions, standard_errors, method="exact")

    pairs = game.affordable_permutation_pairs(evaluations)
    contributions, standard_errors = game.sample_contributions(pairs, rng)
    return Attribution(base, prediction, contributions, standard_errors, method="sampled", permutations=2 * pairs)


def is_linear(explained: ExplainedModel) -> bool:
    """Return whether the model is a linear regression, or a binary linear model explained by log-odds."""
    if explained.model.algorithm != "linear" or not hasattr(explained.estimator, "coef_"):
        return False  # The wrapper of a calibrated linear model has no coefficients.
    if explained.model.task is Task.REGRESSION:
        return True
    return len(explained.model.classes) == 2 and explained.output is Output.LOG_ODDS


def _explain_linear_model(explained: ExplainedModel, row: Floats) -> Attribution:
    """Return the exact contributions of the source columns to the prediction of a linear model.

    An encoded column contributes its coefficient times the difference between its value and the background mean. The
    contribution of a source column is the sum over its encoded columns.
    """
    # The coefficients of a classifier describe the log-odds of its second class.
    sign = -1.0 if explained.class_code == 0 else 1.0
    coefficients = sign * np.ravel(explained.estimator.coef_)
    intercept = sign * float(np.ravel(explained.estimator.intercept_)[0])

    # Shape (background rows, source columns): the encoded columns of each source column are added up.
    encoded_contributions = coefficients * (row - explained.background)
    column_count = len(explained.columns)
    contributions = np.array(
        [
            np.bincount(explained.sources, weights=contributions_of_row, minlength=column_count)
            for contributions_of_row in encoded_contributions
        ]
    )
    background_mean = explained.background.mean(axis=0)
    return Attribution(
        base=intercept + float(coefficients @ background_mean),
        prediction=intercept + float(coefficients @ row),
        contributions=contributions.mean(axis=0),
        standard_errors=_standard_errors(contributions),
        method="linear",
    )


def _find_players(explained: ExplainedModel, row: Floats) -> Indices:
    """Return the source columns that the model uses and in which the row differs from some background row.

    The contribution of every other column is exactly zero.
    """
    differs = (explained.background != row).any(axis=0)
    return np.intersect1d(explained.used_sources, explained.sources[differs])


def _standard_errors(samples: Floats) -> Floats:
    """Return the standard error of the mean over the first axis, or zeros if there is a single sample."""
    count = len(samples)
    if count < 2:
        return np.zeros(samples.shape[1:])
    errors: Floats = samples.std(axis=0, ddof=1) / math.sqrt(count)
    return errors


@dataclass(frozen=True, slots=True)
class _Game:
    """The game whose outcome is the prediction for one encoded row.

    Attributes:
        players: the positions of the source columns that can change the prediction.
    """

    explained: ExplainedModel
    row: Floats = field(repr=False)
    players: Indices = field(repr=False)

    def can_evaluate_all_coalitions(self, evaluations: int) -> bool:
        """Return whether every subset of the players can be evaluated within the given number of evaluations."""
        if len(self.players) > MAX_EXACT_COLUMNS:
            return False
        coalition_count: int = 2 ** len(self.players)
        return coalition_count * len(self.explained.background) <= evaluations

    def exact_contributions(self) -> tuple[Floats, Floats]:
        """Return the exact Shapley values of the source columns, and their standard errors.

        The contribution of a player is the weighted mean of its gains: the changes of the prediction when it joins each
        coalition of other players.
        """
        player_count = len(self.players)
        coalitions = _all_coalitions(player_count)
        values = self._values(coalitions)

        coalition_sizes = coalitions.sum(axis=1)
        weight_by_size = np.array([_shapley_weight(size, player_count) for size in range(player_count)])

        contributions = np.zeros((len(self.explained.background), len(self.explained.columns)))
        for index, player in enumerate(self.players):
            # The coalitions with the player are in the same order as the coalitions without it.
            is_member = coalitions[:, index]
            gains = values[is_member] - values[~is_member]
            weights = weight_by_size[coalition_sizes[~is_member]]
            contributions[:, player] = weights @ gains
        return contributions.mean(axis=0), _standard_errors(contributions)

    def affordable_permutation_pairs(self, evaluations: int) -> int:
        """Return the number of pairs of permutations that can be evaluated, within fixed limits."""
        evaluations_per_permutation = len(self.players) * len(self.explained.background)
        affordable_pairs = evaluations // (2 * evaluations_per_permutation)
        return max(MIN_PERMUTATION_PAIRS, min(MAX_PERMUTATION_PAIRS, affordable_pairs))

    def sample_contributions(self, pairs: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Estimate the Shapley values of the source columns, and their standard errors, from random permutations.

        The players join a coalition in the order of a permutation, and each contributes the resulting change of the
        prediction. Each permutation is paired with its reverse, which reduces the variance.
        """
        permutations = []
        for _ in range(pairs):
            permutation = rng.permutation(len(self.players))
            permutations += [permutation, permutation[::-1]]

        # Evaluate the coalitions of all permutations at once.
        coalitions = np.concatenate([_growing_coalitions(permutation) for permutation in permutations])
        values_by_permutation = self._values(coalitions).reshape(len(permutations), len(self.players) + 1, -1)

        by_pair = np.zeros((pairs, len(self.explained.columns)))
        by_background_row = np.zeros((len(self.explained.background), len(self.explained.columns)))
        for number, permutation in enumerate(permutations):
            players_in_order = self.players[permutation]
            gains = np.diff(values_by_permutation[number], axis=0)
            by_pair[number // 2, players_in_order] += gains.mean(axis=1) / 2
            by_background_row[:, players_in_order] += gains.transpose() / len(permutations)

        # Both samples, of permutations and of background rows, contribute to the error.
        standard_errors = np.hypot(_standard_errors(by_pair), _standard_errors(by_background_row))
        return by_pair.mean(axis=0), standard_errors

    def _values(self, coalitions: Coalitions) -> Floats:
        """Return the predictions for each coalition in chunks, of shape (coalitions, background rows)."""
        cells = len(coalitions) * self.explained.background.size
        chunk_count = max(1, math.ceil(cells / CHUNK_CELLS))
        chunks: list[Any] = np.array_split(coalitions, chunk_count)
        return np.concatenate([self._values_of_chunk(chunk) for chunk in chunks])

    def _values_of_chunk(self, coalitions: Coalitions) -> Floats:
        """Return the predictions for each coalition of a chunk, of shape (coalitions, background rows).

        The columns in a coalition have the values of the explained row, and all other columns have the values of a
        background row.
        """
        background = self.explained.background
        coalition_count = len(coalitions)
        background_count, encoded_column_count = background.shape

        # Translate the players in each coalition to source columns, and the source columns to encoded columns.
        is_source_from_row = np.zeros((coalition_count, len(self.explained.columns)), dtype=np.bool_)
        is_source_from_row[:, self.players] = coalitions
        is_encoded_from_row = is_source_from_row[:, self.explained.sources]

        # Broadcasting combines every coalition with every background row: the result has the shape (coalitions,
        # background rows, encoded columns).
        is_from_row = is_encoded_from_row.reshape(coalition_count, 1, encoded_column_count)
        mixed_rows = np.where(is_from_row, self.row, background)

        # The model expects a matrix, so the first two axes are merged for the prediction.
        predictions = self.explained.value(mixed_rows.reshape(-1, encoded_column_count))
        return predictions.reshape(coalition_count, background_count)


def _all_coalitions(player_count: int) -> Coalitions:
    """Return every subset of the players, one per row, from the empty set to the set of all players."""
    memberships = list(product([False, True], repeat=player_count))
    return np.array(memberships)[:, ::-1]  # reversed, so that the first player varies fastest


def _shapley_weight(size: int, player_count: int) -> float:
    """Return the weight of the gain of a player that joins a coalition of `size` other players.

    The weight is the share of all orders of the players in which exactly this coalition precedes the player.
    """
    return math.factorial(size) * math.factorial(player_count - size - 1) / math.factorial(player_count)


def _growing_coalitions(permutation: Indices) -> Coalitions:
    """Return the coalitions that form as the players join in this order, beginning with the empty one."""
    coalitions = np.zeros((len(permutation) + 1, len(permutation)), dtype=np.bool_)
    for size, player in enumerate(permutation, start=1):
        coalitions[size] = coalitions[size - 1]
        coalitions[size, player] = True
    return coalitions
