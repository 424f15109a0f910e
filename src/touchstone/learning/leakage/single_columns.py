"""Single columns that predict the target too well.

Such a column is often a consequence of the target, and then not yet known when a prediction is needed.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.stats import rankdata

from touchstone.learning.leakage.check_sample import CheckSample
from touchstone.learning.target import Floats

CERTAIN_SCORE: Final = 0.98
SUSPICIOUS_SCORE: Final = 0.93
ERROR_RATIO: Final = 2.5  # A column is suspicious if all others together make this many times as many errors,
STANDARD_ERRORS: Final = 3.0  # and if the difference is as many standard errors.


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """A column, and how well it alone predicts the target."""

    name: str
    score: float


def score_columns(sample: CheckSample) -> list[ColumnScore]:
    """Return how well each column alone predicts the target, by the default metric of the task."""
    return [
        ColumnScore(column.name, _score_column(sample, sample.matrix[:, position]))
        for position, column in enumerate(sample.columns)
    ]


def find_leaking_columns(sample: CheckSample, scores: list[ColumnScore]) -> list[ColumnScore]:
    """Return the columns that give the target away.

    These are the columns that predict it almost perfectly, and those that predict it well and far better than all
    other columns together.
    """
    suspects = [column for column in scores if column.score >= SUSPICIOUS_SCORE]
    certain = [column for column in suspects if column.score >= CERTAIN_SCORE]
    if certain:
        return certain

    # Where several columns predict the target well, it is simply easy to predict.
    return [column for column in suspects if _is_far_better_than_the_rest(sample, column)]


def _is_far_better_than_the_rest(sample: CheckSample, column: ColumnScore) -> bool:
    """Return whether a column alone leaves far fewer errors than all other columns together."""
    return is_far_better(column.score, sample.score_without([column.name]), sample.measured_rows)


def is_far_better(score: float, rest_score: float, measured_rows: int) -> bool:
    """Return whether a score leaves far fewer errors than the score of all other columns, beyond chance.

    Chance is judged as for two error rates that were measured on as many rows.
    """
    errors, rest_errors = 1 - score, 1 - rest_score
    variance = (errors * score + rest_errors * max(rest_score, 0.0)) / measured_rows
    is_beyond_chance = rest_errors - errors >= STANDARD_ERRORS * math.sqrt(max(variance, 0.0))
    return is_beyond_chance and rest_errors >= ERROR_RATIO * errors


def _score_column(sample: CheckSample, numbers: Floats) -> float:
    """Return how well a column predicts the target.

    A tree of few leaves cannot follow a number with a long tail. If a column orders the rows as the target does, it
    tells as much as a copy.
    """
    tree_score = sample.score_tree(numbers[:, None])
    if sample.target.is_classification:
        return tree_score

    measured = sample.halves.test
    return max(tree_score, _squared_rank_correlation(numbers[measured], sample.truth[measured]))


def _squared_rank_correlation(first: Floats, second: Floats) -> float:
    """Return the squared rank correlation (Spearman 1904); 0 if all values of one of them are equal."""
    first_ranks, second_ranks = rankdata(first), rankdata(second)
    if np.ptp(first_ranks) == 0 or np.ptp(second_ranks) == 0:
        return 0.0
    return float(np.corrcoef(first_ranks, second_ranks)[0, 1] ** 2)
