"""Shapley values of single predictions: how much each source column moves the prediction from the base value.

The value of a coalition of columns is the mean prediction when all other columns come from background rows
(interventional, as in Lundberg and Lee 2017). The first method that applies is used:

linear   phi_j = sum over the block of coefficient * (x - mean of the background), exact for a linear output;
exact    every coalition is evaluated (Shapley 1953), when few columns differ and matter;
sampled  permutations and their reverses (Castro et al. 2009; Mitchell et al. 2022), with a standard error.

In all three, base value and contributions add up to the prediction, up to rounding. In the terms of game theory, the
players are the source columns that can change the prediction at all.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from touchstone.learning.choices import Output, Task
from touchstone.learning.explaining.explained_model import ExplainedModel
from touchstone.learning.target import Floats, Indices

MAX_EXACT_COLUMNS: Final = 10
EVALUATIONS: Final = 30_000  # Rows that the model evaluates for one explained row.
CHEAP_EVALUATIONS: Final = 120_000  # The same for models that are fast to evaluate.
CHEAP_ALGORITHMS: Final = ("decision_tree", "linear", "baseline")
MIN_PERMUTATION_PAIRS: Final = 2  # A standard error needs two.
MAX_PERMUTATION_PAIRS: Final = 50
CHUNK_CELLS: Final = 2_000_000  # Encoded cells that are evaluated at once.

Coalitions = npt.NDArray[np.bool_]  # Shape (coalitions, players): which players each coalition contains.


@dataclass(frozen=True, slots=True)
class Attribution:
    """The contributions of the source columns to one prediction; zero for columns that do not matter."""

    base: float
    prediction: float
    contributions: Floats = field(repr=False)
    method: str
    standard_errors: Floats | None = field(default=None, repr=False)  # Only for sampled contributions.
    permutations: int = 0  # The number of sampled permutations.

    @property
    def additivity_error(self) -> float:
        """How far base value and contributions miss the prediction."""
        return abs(self.base + float(self.contributions.sum()) - self.prediction)


def explain_row(
    explained: ExplainedModel, row: Floats, rng: np.random.Generator, evaluations: int = EVALUATIONS
) -> Attribution:
    """Return how much each source column contributes to the prediction for one encoded row.

    The contributions are exact if the model is linear or if all coalitions of columns can be evaluated within the
    budget of `evaluations`; otherwise they are estimated from random permutations. The budget counts rows that the
    model evaluates; models that are fast to evaluate get a larger one.
    """
    if is_linear(explained):
        return _explain_linear_model(explained, row)

    base = float(explained.value(explained.background).mean())
    prediction = float(explained.value(row[None, :])[0])
    players = _find_players(explained, row)
    if len(players) == 0:
        no_contributions = np.zeros(len(explained.columns))
        return Attribution(base, prediction, no_contributions, method="exact")

    if explained.model.algorithm in CHEAP_ALGORITHMS:
        evaluations = max(evaluations, CHEAP_EVALUATIONS)
    evaluations_per_coalition = len(explained.background)

    all_coalitions = 2 ** len(players)
    if len(players) <= MAX_EXACT_COLUMNS and all_coalitions * evaluations_per_coalition <= evaluations:
        contributions = _exact_contributions(explained, row, players)
        return Attribution(base, prediction, contributions, method="exact")

    evaluations_per_pair = 2 * len(players) * evaluations_per_coalition
    pairs = max(MIN_PERMUTATION_PAIRS, min(MAX_PERMUTATION_PAIRS, evaluations // evaluations_per_pair))
    contributions, standard_errors = _sample_contributions(explained, row, players, pairs=pairs, rng=rng)
    return Attribution(
        base, prediction, contributions, method="sampled", standard_errors=standard_errors, permutations=2 * pairs
    )


def is_linear(explained: ExplainedModel) -> bool:
    """Return whether the explained number is linear: a linear regression, or the log-odds of one of two classes."""
    if explained.model.algorithm != "linear":
        return False
    if explained.model.task is Task.REGRESSION:
        return True
    return len(explained.model.classes) == 2 and explained.output is Output.LOG_ODDS


def _explain_linear_model(explained: ExplainedModel, row: Floats) -> Attribution:
    """Return the contributions for a linear model, which follow exactly from its coefficients.

    A column contributes its coefficient times its distance from the background mean, summed over the encoded columns
    that stem from it.
    """
    # The coefficients of a classifier describe the log-odds of its second class.
    sign = -1.0 if explained.class_code == 0 else 1.0
    coefficients = sign * np.ravel(explained.estimator.coef_)
    intercept = sign * float(np.ravel(explained.estimator.intercept_)[0])

    background_mean = explained.background.mean(axis=0)
    encoded_contributions = coefficients * (row - background_mean)
    contributions = np.bincount(explained.sources, weights=encoded_contributions, minlength=len(explained.columns))
    return Attribution(
        base=intercept + float(coefficients @ background_mean),
        prediction=intercept + float(coefficients @ row),
        contributions=contributions.astype(np.float64),
        method="linear",
    )


def _find_players(explained: ExplainedModel, row: Floats) -> Indices:
    """Return the source columns that the model uses and in which the row differs from some background row.

    The contribution of every other column is exactly zero.
    """
    differs = (explained.background != row).any(axis=0)
    return np.intersect1d(explained.used_sources(), explained.sources[differs])


def _exact_contributions(explained: ExplainedModel, row: Floats, players: Indices) -> Floats:
    """Return the Shapley values of the source columns, computed from every coalition of the players.

    The contribution of a player is a weighted mean of its gains, which are what it adds to the values of the
    coalitions without it. Coalitions are numbered such that bit i of a number says whether player i belongs to it.
    """
    player_count = len(players)
    coalition_numbers = np.arange(2**player_count)
    bits = np.arange(player_count)
    coalitions = (coalition_numbers[:, None] >> bits) & 1 == 1
    values = _coalition_values(explained, row, players, coalitions)

    coalition_sizes = coalitions.sum(axis=1)
    weight_by_size = np.array([_shapley_weight(size, player_count) for size in range(player_count)])

    contributions = np.zeros(len(explained.columns))
    for bit, player in enumerate(players):
        without_player = coalition_numbers[~coalitions[:, bit]]
        with_player = without_player | (1 << bit)
        gains = values[with_player] - values[without_player]
        contributions[player] = float(weight_by_size[coalition_sizes[without_player]] @ gains)
    return contributions


def _shapley_weight(size: int, player_count: int) -> float:
    """Return the weight of what a player adds to a coalition of this size.

    It is the share of all orders of the players in which exactly the players of the coalition come before this one.
    """
    return math.factorial(size) * math.factorial(player_count - size - 1) / math.factorial(player_count)


def _sample_contributions(
    explained: ExplainedModel, row: Floats, players: Indices, *, pairs: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Estimate the Shapley values of the source columns from random permutations, with their standard errors.

    Along a permutation the players join the coalition one after another, and the gain of a player is what its joining
    adds to the value. The gains of one permutation add up to the prediction minus the base value, and so does every
    estimate. Each permutation is paired with its reverse, which makes the standard errors smaller.
    """
    permutations = []
    for _ in range(pairs):
        permutation = rng.permutation(len(players))
        permutations += [permutation, permutation[::-1]]

    # The coalitions of a permutation consist of its first 0, 1, 2, ... players.
    sizes = np.arange(len(players) + 1)[:, None]
    coalitions_by_permutation = []
    for permutation in permutations:
        position_of_player = np.argsort(permutation)
        coalitions_by_permutation.append(position_of_player[None, :] < sizes)

    values = _coalition_values(explained, row, players, np.concatenate(coalitions_by_permutation))
    values_by_permutation = values.reshape(len(permutations), len(sizes))

    gains = np.zeros((len(permutations), len(explained.columns)))
    for number, permutation in enumerate(permutations):
        gains[number, players[permutation]] = np.diff(values_by_permutation[number])

    pair_means = gains.reshape(pairs, 2, -1).mean(axis=1)
    standard_errors = pair_means.std(axis=0, ddof=1) / math.sqrt(pairs)
    return pair_means.mean(axis=0), standard_errors


def _coalition_values(explained: ExplainedModel, row: Floats, players: Indices, coalitions: Coalitions) -> Floats:
    """Return the mean prediction of each coalition, computed in chunks that bound the memory."""
    cells = len(coalitions) * explained.background.size
    chunk_count = max(1, math.ceil(cells / CHUNK_CELLS))
    chunks: list[Any] = np.array_split(coalitions, chunk_count)
    return np.concatenate([_chunk_values(explained, row, players, chunk) for chunk in chunks])


def _chunk_values(explained: ExplainedModel, row: Floats, players: Indices, coalitions: Coalitions) -> Floats:
    """Return the mean prediction of each coalition of a chunk.

    The columns of a coalition come from the row, and all others from each background row in turn.
    """
    is_source_from_row = np.zeros((len(coalitions), len(explained.columns)), dtype=np.bool_)
    is_source_from_row[:, players] = coalitions
    is_from_row = is_source_from_row[:, explained.sources]

    # Shape (coalitions, background rows, encoded columns).
    background = explained.background
    mixed_rows = np.where(is_from_row[:, None, :], row, background[None, :, :])

    predictions = explained.value(mixed_rows.reshape(-1, background.shape[1]))
    means: Floats = predictions.reshape(len(coalitions), len(background)).mean(axis=1)
    return means
