"""Pairs of columns that give the target away together, such as two columns of which it is the sum or the ratio."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from touchstone.learning.column_types import MAX_MAGNITUDE, ColumnKind
from touchstone.learning.leakage.check_sample import CheckSample
from touchstone.learning.leakage.single_columns import ColumnScore, is_far_better
from touchstone.learning.plain_numbers import NUMBER_FOR_MISSING
from touchstone.learning.target import Floats

PAIR_SCORE: Final = 0.99
MAX_CLASSIFIED_COLUMNS: Final = 15  # Each pair of these columns is tried, the ones that predict best alone.
SCREENED_ROWS: Final = 300  # Nearly all pairs are ruled out by so many rows, in a small part of the time,
SCREENED_SCORE: Final = 0.9  # because a pair that gives the target away does nearly as well on them.
MIN_SCREENED_CLASS_ROWS: Final = 20
MIN_VARIANCE_LEFT: Final = 1e-9


@dataclass(frozen=True, slots=True)
class PairScore:
    """Two columns, and how well they predict the target together."""

    names: tuple[str, str]
    score: float


@dataclass(frozen=True, slots=True)
class ColumnPair:
    """Two columns, and what a tree may learn from them: both, and what arithmetic makes of them."""

    names: tuple[str, str]
    features: Floats = field(repr=False)


def find_leaking_pair(sample: CheckSample, scores: list[ColumnScore]) -> PairScore | None:
    """Return the two columns that together give the target away, or None if there are none.

    They must predict the target almost perfectly, and all other columns together must make far more errors: where they
    do nearly as well, the target is simply easy to predict. `scores` says how well each column does alone.
    """
    pairs = _classifying_pairs(sample, scores) if sample.target.is_classification else _linear_pairs(sample)
    best = max(pairs, key=_score_of_pair, default=None)
    if best is None or best.score < PAIR_SCORE:
        return None

    score_of_others = sample.score_without(best.names)
    return best if is_far_better(best.score, score_of_others, sample.measured_rows) else None


def _score_of_pair(pair: PairScore) -> float:
    """Sort pairs by their scores."""
    return pair.score


def _classifying_pairs(sample: CheckSample, scores: list[ColumnScore]) -> Iterator[PairScore]:
    """Yield pairs of columns, each with how well a tree predicts the class from it.

    The tree sees both columns, their sum, difference, product and ratio. Only the columns that predict the class best
    alone are paired, and pairs that a small part of the sample rules out are skipped.
    """
    score_by_name = {column.name: column.score for column in scores}
    score_by_position = [score_by_name[column.name] for column in sample.columns]
    best_first = sorted(range(len(sample.columns)), key=lambda position: -score_by_position[position])
    paired_positions = sorted(best_first[:MAX_CLASSIFIED_COLUMNS])

    pairs = []
    for first, second in combinations(paired_positions, 2):
        names = (sample.columns[first].name, sample.columns[second].name)
        features = _combine(sample.matrix[:, first], sample.matrix[:, second])
        pairs.append(ColumnPair(names, features))

    for pair in _promising_pairs(sample, pairs):
        yield PairScore(pair.names, sample.score_tree(pair.features))


def _promising_pairs(sample: CheckSample, pairs: list[ColumnPair]) -> list[ColumnPair]:
    """Return the pairs that may give the target away, judged quickly by a small part of the sample.

    If a pair gives the target away, a tree that may use all pairs finds it, too. So if this tree does badly, no pair
    has to be examined.
    """
    small_sample = sample.thinned(SCREENED_ROWS)
    rows_per_class = np.bincount(sample.truth[small_sample.halves.train], minlength=len(sample.target.classes))
    if not pairs or rows_per_class.min() < MIN_SCREENED_CLASS_ROWS:
        return pairs

    features_of_all = np.column_stack([pair.features for pair in pairs])
    if small_sample.score_tree(features_of_all) < SCREENED_SCORE:
        return []
    return [pair for pair in pairs if small_sample.score_tree(pair.features) >= SCREENED_SCORE]


def _combine(first: Floats, second: Floats) -> Floats:
    """Return two columns with their sum, difference, product and ratio."""
    ratio = np.divide(first, second, out=np.zeros(len(first)), where=second != 0)
    features = np.column_stack([first, second, first + second, first - second, first * second, ratio])
    clipped_features: Floats = np.clip(features, -MAX_MAGNITUDE, MAX_MAGNITUDE)
    return clipped_features


def _linear_pairs(sample: CheckSample) -> Iterator[PairScore]:
    """Yield the pairs that explain the target best as a sum or difference, and as a product or ratio."""
    numbers = [position for position, column in enumerate(sample.columns) if column.kind is ColumnKind.NUMBER]
    matrix = np.where(sample.matrix == NUMBER_FOR_MISSING, np.nan, sample.matrix)[:, numbers]
    is_complete = ~np.isnan(matrix)
    names = [sample.columns[position].name for position in numbers]

    yield from _best_linear_pair(names, _fill_in_medians(matrix), sample.truth)

    # A product is a sum of logarithms, which only positive numbers have.
    is_positive = np.all((matrix > 0) | ~is_complete, axis=0)
    if np.all(sample.truth > 0):
        positive_names = [name for name, positive in zip(names, is_positive, strict=True) if positive]
        logarithms = np.log(_fill_in_medians(matrix[:, is_positive]))
        yield from _best_linear_pair(positive_names, logarithms, np.log(sample.truth))


def _best_linear_pair(names: list[str], matrix: Floats, truth: Floats) -> Iterator[PairScore]:
    """Yield the pair of columns from which a linear function predicts the target best; none without such a pair.

    Its score is the share of the target's variance that the function explains.
    """
    # A column with a single value has no correlation.
    varies = np.ptp(matrix, axis=0) > 0 if matrix.size else np.zeros(0, dtype=np.bool_)
    varying_names = [name for name, is_varying in zip(names, varies, strict=True) if is_varying]
    if len(varying_names) < 2 or np.ptp(truth) == 0:
        return

    with_target = np.column_stack([matrix[:, varies], truth])
    correlations = np.corrcoef(with_target, rowvar=False)
    explained = _explained_by_pairs(between=correlations[:-1, :-1], with_target=correlations[:-1, -1])

    first, second = np.unravel_index(int(explained.argmax()), explained.shape)
    yield PairScore((varying_names[first], varying_names[second]), float(explained[first, second]))


def _explained_by_pairs(*, between: Floats, with_target: Floats) -> Floats:
    """Return the share of the variance that each pair of columns explains, by the formula for two predictors.

    `between` has the correlations of the columns with each other, and `with_target` those with the target. Pairs of
    columns that are practically the same explain nothing together.
    """
    squares = with_target**2
    mixed = 2 * np.outer(with_target, with_target) * between
    variance_left = 1 - between**2
    is_distinct_pair = variance_left > MIN_VARIANCE_LEFT
    explained = np.zeros_like(between)
    np.divide(squares[:, None] + squares[None, :] - mixed, variance_left, out=explained, where=is_distinct_pair)
    return explained


def _fill_in_medians(matrix: Floats) -> Floats:
    """Return a matrix with missing numbers replaced by the median of their column."""
    medians = np.nanmedian(matrix, axis=0) if matrix.size else np.zeros(matrix.shape[1])
    filled: Floats = np.where(np.isnan(matrix), medians, matrix)
    return filled
