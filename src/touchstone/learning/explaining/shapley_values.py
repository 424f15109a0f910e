"""Shapley values of single predictions: how much each source column moves the prediction from the reference.

The value of a coalition of columns is the mean prediction when all other columns come from background rows
(interventional, as in Lundberg and Lee 2017). The first method that applies is used:

linear   phi_j = sum over the block of coefficient * (x - mean of the background), exact for a linear output;
exact    every coalition is evaluated (Shapley 1953), when few columns differ and matter;
sampled  permutations and their reverses (Castro et al. 2009; Mitchell et al. 2022), with a standard error.

In all three, base value and contributions add up to the prediction, up to rounding.
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
MAX_PAIRS: Final = 50
CHUNK_CELLS: Final = 2_000_000  # Encoded cells that are evaluated at once.

Coalitions = npt.NDArray[np.bool_]  # Shape (coalitions, players): which players each coalition contains.


@dataclass(frozen=True, slots=True)
class Attribution:
    """The contributions of the source columns to one prediction; zero for columns that do not matter."""

    base: float
    prediction: float
    contributions: Floats = field(repr=False)
    errors: Floats | None = field(repr=False)  # Standard errors of sampled contributions.
    method: str
    permutations: int = 0

    @property
    def additivity_error(self) -> float:
        """How far base value and contributions miss the prediction."""
        return abs(self.base + float(self.contributions.sum()) - self.prediction)


def explain_row(
    explained: ExplainedModel, row: Floats, rng: np.random.Generator, evaluations: int = EVALUATIONS
) -> Attribution:
    """Return the contributions for one encoded row, with about as many evaluations of the model."""
    if is_linear(explained):
        return _linear_attribution(explained, row)

    base = float(explained.value(explained.background).mean())
    players = _find_players(explained, row)
    prediction = float(explained.value(row[None, :])[0])
    if not len(players):
        return Attribution(base, prediction, np.zeros(len(explained.columns)), None, "exact")

    if explained.model.algorithm in CHEAP_ALGORITHMS:
        evaluations = max(evaluations, CHEAP_EVALUATIONS)
    background_rows = len(explained.background)
    if len(players) <= MAX_EXACT_COLUMNS and 2 ** len(players) * background_rows <= evaluations:
        return Attribution(base, prediction, _exact_contributions(explained, row, players), None, "exact")

    pairs = max(2, min(MAX_PAIRS, evaluations // (2 * len(players) * background_rows)))
    contributions, errors = _sample_contributions(explained, row, players, pairs=pairs, rng=rng)
    return Attribution(base, prediction, contributions, errors, "sampled", 2 * pairs)


def is_linear(explained: ExplainedModel) -> bool:
    """Return whether the explained number is linear: a linear regression, or the log-odds of one of two classes."""
    if explained.model.algorithm != "linear":
        return False
    if explained.model.task is Task.REGRESSION:
        return True
    return len(explained.model.classes) == 2 and explained.output is Output.LOG_ODDS


def _linear_attribution(explained: ExplainedModel, row: Floats) -> Attribution:
    estimator = explained.estimator
    sign = -1.0 if explained.class_code == 0 else 1.0  # The coefficients speak of the second class.
    weights = sign * np.ravel(estimator.coef_)
    intercept = sign * float(np.ravel(estimator.intercept_)[0])

    mean = explained.background.mean(axis=0)
    parts = weights * (row - mean)
    contributions = np.bincount(explained.sources, weights=parts, minlength=len(explained.columns))
    return Attribution(
        base=intercept + float(weights @ mean),
        prediction=intercept + float(weights @ row),
        contributions=contributions.astype(np.float64),
        errors=None,
        method="linear",
    )


def _find_players(explained: ExplainedModel, row: Floats) -> Indices:
    """Return the source columns that the model uses and in which the row differs from some background row.

    The contribution of every other column is exactly zero.
    """
    differs = (explained.background != row).any(axis=0)
    return np.intersect1d(explained.used_sources(), explained.sources[differs])


def _exact_contributions(explained: ExplainedModel, row: Floats, players: Indices) -> Floats:
    """Evaluate every coalition; bit i of a coalition's number says whether it contains player i."""
    count = len(players)
    numbers = np.arange(2**count)
    coalitions = (numbers[:, None] >> np.arange(count)) & 1 == 1
    values = _coalition_values(explained, row, players, coalitions)

    sizes = coalitions.sum(axis=1)
    weight_by_size = np.array(
        [math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count) for size in range(count)]
    )
    contributions = np.zeros(len(explained.columns))
    for place, player in enumerate(players):
        without_player = numbers[~coalitions[:, place]]
        gains = values[without_player | (1 << place)] - values[without_player]
        contributions[player] = float(weight_by_size[sizes[without_player]] @ gains)
    return contributions


def _sample_contributions(
    explained: ExplainedModel, row: Floats, players: Indices, *, pairs: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return mean gains over pairs of a permutation and its reverse, and their standard errors.

    Along one permutation the gains telescope to prediction minus base value, so every estimate adds up.
    """
    count = len(players)
    permutations = []
    for _ in range(pairs):
        permutation = rng.permutation(count)
        permutations += [permutation, permutation[::-1]]

    steps = np.arange(count + 1)[:, None]
    coalitions = np.concatenate([np.argsort(permutation)[None, :] < steps for permutation in permutations])
    values = _coalition_values(explained, row, players, coalitions).reshape(len(permutations), count + 1)

    gains = np.zeros((len(permutations), len(explained.columns)))
    for number, permutation in enumerate(permutations):
        gains[number, players[permutation]] = np.diff(values[number])
    pair_means = gains.reshape(pairs, 2, -1).mean(axis=1)
    return pair_means.mean(axis=0), pair_means.std(axis=0, ddof=1) / math.sqrt(pairs)


def _coalition_values(explained: ExplainedModel, row: Floats, players: Indices, coalitions: Coalitions) -> Floats:
    """Return the mean prediction of each coalition, in chunks that bound the memory."""
    cells = len(coalitions) * explained.background.size
    chunks: list[Any] = np.array_split(coalitions, max(1, math.ceil(cells / CHUNK_CELLS)))
    return np.concatenate([_chunk_values(explained, row, players, chunk) for chunk in chunks])


def _chunk_values(explained: ExplainedModel, row: Floats, players: Indices, coalitions: Coalitions) -> Floats:
    """Take each coalition's columns from the row and all others from the background, and average the predictions."""
    background = explained.background
    comes_from_row = np.zeros((len(coalitions), len(explained.columns)), dtype=np.bool_)
    comes_from_row[:, players] = coalitions
    mixed = np.where(comes_from_row[:, explained.sources][:, None, :], row, background[None, :, :])
    values = explained.value(mixed.reshape(-1, background.shape[1]))
    means: Floats = values.reshape(len(coalitions), len(background)).mean(axis=1)
    return means
