"""Pairs of columns that reveal the target together, for example because it is their sum or ratio."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from operator import attrgetter
from typing import Final

import numpy as np

from touchstone.learning.column_types import MAX_MAGNITUDE, ColumnKind
from touchstone.learning.leakage.check_sample import CheckSample
from touchstone.learning.leakage.single_columns import ColumnScore, is_far_better
from touchstone.learning.plain_numbers import NUMBER_FOR_MISSING
from touchstone.learning.target import Floats

PAIR_SCORE: Final = 0.99
MAX_CLASSIFIED_COLUMNS: Final = 15  # All pairs of the columns with the best single scores are tried.

# A quick screening on a few rows excludes nearly all pairs. A pair that reveals the target scores well on them, too.
SCREENED_ROWS: Final = 300
SCREENED_SCORE: Final = 0.9
MIN_SCREENED_CLASS_ROWS: Final = 20
MIN_UNSHARED_VARIANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class PairScore:
    """Two columns, and the score of predicting the target from both."""

    names: tuple[str, str]
    score: float


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """Two columns, and the features computed from them."""

    names: tuple[str, str]
    features: Floats = field(repr=False)


def find_leaking_pair(sample: CheckSample, scores: list[ColumnScore]) -> PairScore | None:
    """Return the two columns that together reveal the target, or None if there are none.

    They must predict the target almost perfectly, and all other columns together must make far more errors. If the
    others are nearly as good, the target is simply easy to predict. `scores` holds the score of each single column.
    """
    pairs = _score_classifying_pairs(sample, scores) if sample.target.is_classification else _score_linear_pairs(sample)
    best = max(pairs, key=attrgetter("score"), default=None)
    if best is None or best.score < PAIR_SCORE:
        return None

    other_score = sample.score_without(best.names)
    return best if is_far_better(best.score, other_score, sample.test_rows) else None


def _score_classifying_pairs(sample: CheckSample, scores: list[ColumnScore]) -> Iterator[PairScore]:
    """Yield pairs of columns with the score of a tree that predicts the class from them.

    The tree uses both columns, their sum, difference, product and ratio. Only the columns with the best single scores
    are paired, and pairs are screened on a small part of the sample.
    """
    score_by_name = {column.name: column.score for column in scores}
    best_first = sorted(range(len(sample.columns)), key=lambda position: -score_by_name[sample.columns[position].name])
    paired_positions = sorted(best_first[:MAX_CLASSIFIED_COLUMNS])

    pairs = []
    for first, second in combinations(paired_positions, 2):
        names = (sample.columns[first].name, sample.columns[second].name)
        features = _combine(sample.matrix[:, first], sample.matrix[:, second])
        pairs.append(ColumnPair(names, features))

    for pair in _screen_pairs(sample, pairs):
        yield PairScore(pair.names, sample.score_tree(pair.features))


def _screen_pairs(sample: CheckSample, pairs: list[ColumnPair]) -> list[ColumnPair]:
    """Return the pairs that may reveal the target, judged by a small part of the sample.

    If a pair reveals the target, a tree that can use all pairs finds it. If this tree has a low score, no pair needs to
    be examined.
    """
    small_sample = sample.subsample(SCREENED_ROWS)
    rows_per_class = np.bincount(sample.truth[small_sample.halves.train], minlength=len(sample.target.classes))
    if not pairs or rows_per_class.min() < MIN_SCREENED_CLASS_ROWS:
        return pairs

    all_features = np.column_stack([pair.features for pair in pairs])
    if small_sample.score_tree(all_features) < SCREENED_SCORE:
        return []
    return [pair for pair in pairs if small_sample.score_tree(pair.features) >= SCREENED_SCORE]


def _combine(first: Floats, second: Floats) -> Floats:
    """Return two columns with their sum, difference, product and ratio."""
    ratio = np.divide(first, second, out=np.zeros(len(first)), where=second != 0)
    features = np.column_stack([first, second, first + second, first - second, first * second, ratio])
    clipped_features: Floats = np.clip(features, -MAX_MAGNITUDE, MAX_MAGNITUDE)
    return clipped_features


def _score_linear_pairs(sample: CheckSample) -> Iterator[PairScore]:
    """Yield the best pair for a sum or difference, and the best pair for a product or ratio."""
    number_positions = [position for position, column in enumerate(sample.columns) if column.kind is ColumnKind.NUMBER]
    matrix = np.where(sample.matrix == NUMBER_FOR_MISSING, np.nan, sample.matrix)[:, number_positions]
    names = [sample.columns[position].name for position in number_positions]

    linear_pair = _best_linear_pair(names, _fill_in_medians(matrix), sample.truth)
    if linear_pair is not None:
        yield linear_pair

    # The logarithm of a product is a sum of logarithms, which requires positive numbers.
    is_positive = np.all((matrix > 0) | np.isnan(matrix), axis=0)
    if np.all(sample.truth > 0):
        positive_names = [name for name, positive in zip(names, is_positive, strict=True) if positive]
        logarithms = np.log(_fill_in_medians(matrix[:, is_positive]))
        logarithmic_pair = _best_linear_pair(positive_names, logarithms, np.log(sample.truth))
        if logarithmic_pair is not None:
            yield logarithmic_pair


def _best_linear_pair(names: list[str], matrix: Floats, truth: Floats) -> PairScore | None:
    """Return the pair whose linear combination predicts the target best, or None if there is none.

    The score is the share of the target's variance explained by the linear combination.
    """
    # The correlation of a constant column is not defined.
    varies = np.ptp(matrix, axis=0) > 0 if matrix.size else np.zeros(0, dtype=np.bool_)
    varying_names = [name for name, is_varying in zip(names, varies, strict=True) if is_varying]
    if len(varying_names) < 2 or np.ptp(truth) == 0:
        return None

    with_target = np.column_stack([matrix[:, varies], truth])
    correlations = np.corrcoef(with_target, rowvar=False)
    explained = _explained_variance(between=correlations[:-1, :-1], with_target=correlations[:-1, -1])

    first, second = np.unravel_index(int(explained.argmax()), explained.shape)
    return PairScore((varying_names[first], varying_names[second]), float(explained[first, second]))


def _explained_variance(*, between: Floats, with_target: Floats) -> Floats:
    """Return the share of the target's variance explained by each pair of columns, as a symmetric matrix.

    `between` holds the correlations between the columns, and `with_target` their correlations with the target. The
    share is 0 for two practically identical columns.
    """
    squares = with_target**2
    mixed = 2 * np.outer(with_target, with_target) * between
    unshared_variance = 1 - between**2
    is_distinct_pair = unshared_variance > MIN_UNSHARED_VARIANCE
    explained = np.zeros_like(between)
    np.divide(squares[:, None] + squares[None, :] - mixed, unshared_variance, out=explained, where=is_distinct_pair)
    return explained


def _fill_in_medians(matrix: Floats) -> Floats:
    """Return a matrix with missing numbers replaced by the median of their column."""
    medians = np.nanmedian(matrix, axis=0) if matrix.size else np.zeros(matrix.shape[1])
    filled: Floats = np.where(np.isnan(matrix), medians, matrix)
    return filled
