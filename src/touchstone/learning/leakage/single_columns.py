"""Single columns that predict the target too well.

Such a column is often a consequence of the target, which is not available when a prediction is needed.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import rankdata
from sklearn.feature_extraction.text import HashingVectorizer

from touchstone.learning.leakage.check_sample import CheckSample
from touchstone.learning.target import Floats

CERTAIN_SCORE: Final = 0.98
SUSPICIOUS_SCORE: Final = 0.93
HASHED_WORDS: Final = 2**14
ERROR_RATIO: Final = 2.5  # the least ratio of the error rate of all other columns to the rate of a suspicious one
STANDARD_ERRORS: Final = 3.0  # the least difference of both rates, in standard errors


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """A column, and the score of predicting the target from it alone."""

    name: str
    score: float


def score_columns(sample: CheckSample) -> list[ColumnScore]:
    """Return the score of each single column, by the default metric of the task."""
    return [
        ColumnScore(column.name, _score_column(sample, sample.matrix[:, position]))
        for position, column in enumerate(sample.columns)
    ]


def find_leaking_columns(sample: CheckSample, scores: list[ColumnScore]) -> list[ColumnScore]:
    """Return the columns that reveal the target.

    These are the columns that predict it almost perfectly. If there are none, they are the columns that predict it well
    and far better than all other columns together.
    """
    suspects = [column for column in scores if column.score >= SUSPICIOUS_SCORE]
    certain = [column for column in suspects if column.score >= CERTAIN_SCORE]
    if certain:
        return certain

    # If several columns predict the target well, it is simply easy to predict.
    return [
        column
        for column in suspects
        if is_far_better(column.score, sample.score_without([column.name]), sample.test_rows)
    ]


def find_leaking_texts(sample: CheckSample) -> list[ColumnScore]:
    """Return the text columns of which a few words reveal the target almost perfectly.

    A text may well be the only column that predicts the target, so texts that merely predict it well are no suspects.
    """
    words = HashingVectorizer(n_features=HASHED_WORDS, ngram_range=(1, 2), binary=True, norm=None)
    scores = [
        ColumnScore(name, sample.score_tree(csr_array(words.transform(texts)))) for name, texts in sample.texts.items()
    ]
    return [column for column in scores if column.score >= CERTAIN_SCORE]


def is_far_better(score: float, other_score: float, test_rows: int) -> bool:
    """Return whether a score is far better than the score of all other columns, beyond chance.

    Both scores are treated like accuracies on the given number of rows.
    """
    error_rate, other_error_rate = 1 - score, 1 - other_score
    variance = (error_rate * score + other_error_rate * max(other_score, 0.0)) / test_rows
    is_beyond_chance = other_error_rate - error_rate >= STANDARD_ERRORS * math.sqrt(max(variance, 0.0))
    return is_beyond_chance and other_error_rate >= ERROR_RATIO * error_rate


def _score_column(sample: CheckSample, numbers: Floats) -> float:
    """Return the score of predicting the target from a single column.

    A small tree cannot approximate a number with a long tail. For a regression, the squared rank correlation is
    therefore used if it is higher, because a column that orders the rows like the target reveals as much as a copy.
    """
    tree_score = sample.score_tree(numbers[:, None])
    if sample.target.is_classification:
        return tree_score

    test = sample.halves.test
    return max(tree_score, _squared_rank_correlation(numbers[test], sample.truth[test]))


def _squared_rank_correlation(first: Floats, second: Floats) -> float:
    """Return Spearman's squared rank correlation, or 0 if either column is constant."""
    first_ranks, second_ranks = rankdata(first), rankdata(second)
    if np.ptp(first_ranks) == 0 or np.ptp(second_ranks) == 0:
        return 0.0
    return float(np.corrcoef(first_ranks, second_ranks)[0, 1] ** 2)
