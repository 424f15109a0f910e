"""Shapley values of single predictions: how much each source column moves the prediction from the reference.

The value of a coalition is the mean prediction when the other columns come from background rows (interventional, as in
Lundberg and Lee 2017). Three ways, the first that applies:
linear  phi_j = sum over the block of coef * (x - mean of the background), exact for a linear output;
exact   every coalition is evaluated (Shapley 1953), when the columns that differ and matter are few;
sampled permutations and their reverses (Castro et al. 2009; Mitchell et al. 2022), with a standard error.
In all three the contributions and the base value add up to the prediction but for rounding.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from touchstone.learning.explaining.explained_model import Subject, used_sources
from touchstone.learning.requests import Output, Task
from touchstone.learning.target import Floats, Indices

EXACT_COLUMNS: Final = 10
CHEAP_EVALUATIONS: Final = 120_000  # rows evaluated for one explained row, for a single tree or a linear model
EVALUATIONS: Final = 30_000
MOST_PAIRS: Final = 50
CHUNK_CELLS: Final = 2_000_000  # encoded cells evaluated at once
CHEAP: Final = ("decision_tree", "linear", "baseline")


@dataclass(frozen=True, slots=True)
class Attribution:
    """One explained row: contributions by source column (zero for columns that don't matter)."""

    base: float
    prediction: float
    contributions: Floats = field(repr=False)
    errors: Floats | None = field(repr=False)  # standard errors, only when sampled
    method: str
    permutations: int = 0

    @property
    def additivity_error(self) -> float:
        """How far base value and contributions miss the prediction."""
        return abs(self.base + float(self.contributions.sum()) - self.prediction)


def attribute(subject: Subject, row: Floats, rng: np.random.Generator, evaluations: int = EVALUATIONS) -> Attribution:
    """Explain one encoded row."""
    if is_linear(subject):
        return _linear(subject, row)
    base = float(subject.value(subject.background).mean())
    players = _players(subject, row)
    prediction = float(subject.value(row[None, :])[0])
    if not len(players):
        return Attribution(base, prediction, np.zeros(len(subject.columns)), None, "exact")
    limit = max(evaluations, CHEAP_EVALUATIONS) if subject.kept.record["algorithm"] in CHEAP else evaluations
    if len(players) <= EXACT_COLUMNS and 2 ** len(players) * len(subject.background) <= limit:
        return Attribution(base, prediction, _exact(subject, row, players), None, "exact")
    pairs = max(2, min(MOST_PAIRS, limit // (2 * len(players) * len(subject.background))))
    values, errors = _sampled(subject, row, players, pairs=pairs, rng=rng)
    return Attribution(base, prediction, values, errors, "sampled", 2 * pairs)


def is_linear(subject: Subject) -> bool:
    """Whether the explained number is a linear function: a linear regression, or log-odds of one of two classes."""
    if subject.kept.record["algorithm"] != "linear":
        return False
    if subject.kept.task is Task.REGRESSION:
        return True
    return len(subject.kept.classes) == 2 and subject.output is Output.LOG_ODDS


def _linear(subject: Subject, row: Floats) -> Attribution:
    model: Any = subject.model
    sign = -1.0 if subject.code == 0 else 1.0
    weights = sign * np.ravel(model.coef_)
    intercept = sign * float(np.ravel(model.intercept_)[0])
    middle = subject.background.mean(axis=0)
    parts = weights * (row - middle)
    contributions = np.bincount(subject.sources, weights=parts, minlength=len(subject.columns)).astype(np.float64)
    base, prediction = intercept + float(weights @ middle), intercept + float(weights @ row)
    return Attribution(base, prediction, contributions, None, "linear")


def _players(subject: Subject, row: Floats) -> Indices:
    """Source columns that the model uses and whose block differs from some background row: the others get exactly 0."""
    differs = (subject.background != row).any(axis=0)
    return np.intersect1d(used_sources(subject), subject.sources[differs])


def _exact(subject: Subject, row: Floats, players: Indices) -> Floats:
    count = len(players)
    coalitions = np.arange(2**count)
    members = (coalitions[:, None] >> np.arange(count)) & 1 == 1
    values = _worths(subject, row, players, members)
    sizes = members.sum(axis=1)
    shares = np.array(
        [math.factorial(size) * math.factorial(count - size - 1) / math.factorial(count) for size in range(count)]
    )
    contributions = np.zeros(len(subject.columns))
    for place, player in enumerate(players):
        without = coalitions[~members[:, place]]
        gains = values[without | (1 << place)] - values[without]
        contributions[player] = float(shares[sizes[without]] @ gains)
    return contributions


def _worths(subject: Subject, row: Floats, players: Indices, members: np.ndarray[Any, Any]) -> Floats:
    """`_coalition_values` in chunks that bound the memory, yet leave few calls of the model."""
    cells = len(members) * subject.background.size
    chunks = np.array_split(members, max(1, math.ceil(cells / CHUNK_CELLS)))
    return np.concatenate([_coalition_values(subject, row, players, chunk) for chunk in chunks])


def _coalition_values(subject: Subject, row: Floats, players: Indices, members: np.ndarray[Any, Any]) -> Floats:
    """Mean prediction of each coalition (a row of `members`): its columns from the row, others from the background."""
    background = subject.background
    present = np.zeros((len(members), len(subject.columns)), dtype=np.bool_)
    present[:, players] = members
    mixed = np.where(present[:, subject.sources][:, None, :], row, background[None, :, :])
    values = subject.value(mixed.reshape(-1, background.shape[1]))
    means: Floats = values.reshape(len(members), len(background)).mean(axis=1)
    return means


def _sampled(
    subject: Subject, row: Floats, players: Indices, *, pairs: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Mean marginal contributions over permutations, each followed by its reverse, and their standard errors.

    The gains of one permutation telescope to prediction less base, so every estimate adds up.
    """
    count = len(players)
    forth = [rng.permutation(count) for _ in range(pairs)]
    orders = [order for one in forth for order in (one, one[::-1])]
    joined = [np.argsort(order)[None, :] < np.arange(count + 1)[:, None] for order in orders]
    values = _worths(subject, row, players, np.concatenate(joined)).reshape(len(orders), count + 1)
    gains = np.zeros((len(orders), len(subject.columns)))
    for walk, order in enumerate(orders):
        gains[walk, players[order]] = np.diff(values[walk])
    draws = gains.reshape(pairs, 2, -1).mean(axis=1)
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) / math.sqrt(pairs)
