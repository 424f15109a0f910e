"""Measures of the association between two columns of any kind, from 0 (none) to 1 (one determines the other).

Two columns of numbers or dates: the absolute rank correlation (Spearman 1904). Two categories: Cramér's V, corrected
for chance (Bergsma 2013). A category and a number: the correlation ratio (Fisher 1925) of the ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata

from touchstone.learning.column_types import MISSING, ColumnKind, ColumnSchema
from touchstone.learning.target import Floats
from touchstone.learning.task_interface import Json

MAX_ROWS: Final = 5_000
MIN_ROWS: Final = 10  # The association counts as 0 if fewer rows have a value in both columns.
SMALLEST_ASSOCIATION: Final = 0.0005  # Weaker associations would be displayed as 0.000 and are not reported.
CATEGORY_KINDS: Final = (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ComparableColumn:
    """A column as numbers (if ordered) or category codes, with a mask of the rows that have a value."""

    values: npt.NDArray[Any]
    is_present: npt.NDArray[np.bool_]
    is_ordered: bool


def is_comparable(column: ColumnSchema) -> bool:
    """Return whether the associations of a column can be measured.

    Text columns, identifiers and constant columns cannot be compared.
    """
    has_comparable_kind = column.kind.is_ordered or column.kind in CATEGORY_KINDS
    return has_comparable_kind and column.distinct > 1


def comparable_values(column: ColumnSchema, cells: "pd.Series[Any]") -> ComparableColumn:
    """Convert the cells of a column to numbers or category codes."""
    if column.kind.is_ordered:
        numbers = cells.to_numpy().astype(np.float64)
        return ComparableColumn(numbers, is_present=~cells.isna().to_numpy(), is_ordered=True)

    codes, _categories = pd.factorize(cells, sort=True)
    return ComparableColumn(codes, is_present=(cells != MISSING).to_numpy(), is_ordered=False)


def association(first: ComparableColumn, second: ComparableColumn) -> float:
    """Return the strength of the association of two columns, from 0 (none) to 1 (one determines the other).

    The measure depends on whether the values of each column are ordered, as numbers and dates are. Only rows that
    have a value in both columns are used. The result is 0 if there are fewer than `MIN_ROWS` of them.
    """
    has_both_values = first.is_present & second.is_present
    if has_both_values.sum() < MIN_ROWS:
        return 0.0

    first_values = first.values[has_both_values]
    second_values = second.values[has_both_values]

    if first.is_ordered and second.is_ordered:
        return _rank_correlation(first_values, second_values)
    if first.is_ordered:
        return _correlation_ratio(codes=second_values, numbers=first_values)
    if second.is_ordered:
        return _correlation_ratio(codes=first_values, numbers=second_values)
    return _cramers_v(first_values, second_values)


def association_matrix(columns: Sequence[ColumnSchema], frame: pd.DataFrame) -> Floats:
    """Return the strength of the association between every two columns, as a symmetric matrix.

    The values lie between 0 and 1, with ones on the diagonal. A table with more than `MAX_ROWS` rows is sampled.
    """
    sample = frame if len(frame) <= MAX_ROWS else frame.sample(MAX_ROWS, random_state=0)
    comparable_columns = [comparable_values(schema, sample[schema.name]) for schema in columns]

    strengths = np.eye(len(columns))
    for position, column in enumerate(comparable_columns):
        for earlier_position, earlier_column in enumerate(comparable_columns[:position]):
            strength = association(column, earlier_column)
            strengths[position, earlier_position] = strength
            strengths[earlier_position, position] = strength
    return strengths


def strongest_pairs(names: Sequence[str], strengths: Floats, *, minimum: float) -> list[Json]:
    """Return the pairs of associated columns as `{first, second, association}`, the strongest first.

    Args:
        names: the names of the columns.
        strengths: their association matrix.
        minimum: the least association of a pair.
    """
    pairs = [
        {"first": names[first], "second": names[second], "association": float(strengths[first, second])}
        for second in range(len(names))
        for first in range(second)
        if strengths[first, second] >= minimum
    ]
    return strongest_first(pairs)


def strongest_first(entries: Sequence[Json]) -> list[Json]:
    """Sort entries by their association in descending order, keeping the order of equal ones."""
    return sorted(entries, key=lambda entry: float(entry["association"]), reverse=True)


def _rank_correlation(first: Floats, second: Floats) -> float:
    """Return the absolute value of Spearman's rank correlation, or 0 if one column is constant."""
    first_ranks = rankdata(first)
    second_ranks = rankdata(second)
    if first_ranks.std() == 0 or second_ranks.std() == 0:
        return 0.0

    correlation = np.corrcoef(first_ranks, second_ranks)[0, 1]
    return float(abs(correlation))


def _correlation_ratio(codes: Codes, numbers: Floats) -> float:
    """Return the correlation ratio of categories and the ranks of numbers, from 0 to 1.

    The correlation ratio is the square root of the share of variance between the categories. This share is corrected
    for the share that chance alone would produce. The result is 0 if there is only one category, or one per row.
    """
    ranks = rankdata(numbers)
    _distinct_codes, category_of_row = np.unique(codes, return_inverse=True)
    rows_per_category = np.bincount(category_of_row)
    rows = len(ranks)
    category_count = len(rows_per_category)

    total_variation = float(((ranks - ranks.mean()) ** 2).sum())
    if total_variation == 0 or category_count < 2 or rows <= category_count:
        return 0.0

    mean_by_category = np.bincount(category_of_row, weights=ranks) / rows_per_category
    variation_between = float((rows_per_category * (mean_by_category - ranks.mean()) ** 2).sum())
    share_between = variation_between / total_variation

    corrected_share = 1 - (1 - share_between) * (rows - 1) / (rows - category_count)
    return float(np.sqrt(min(1.0, max(0.0, corrected_share))))


def _cramers_v(first: Codes, second: Codes) -> float:
    """Return Cramér's V of two category columns, from 0 (independent) to 1 (one determines the other).

    Chance alone makes V grow with the number of categories. Bergsma's correction therefore reduces the chi-squared
    statistic and both numbers of categories by the values expected for independent columns.
    """
    observed = _contingency_table(first, second)
    rows = int(observed.sum())
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0)) / rows
    phi_squared = float(((observed - expected) ** 2 / expected).sum()) / rows

    first_count, second_count = observed.shape
    corrected_phi_squared = max(0.0, phi_squared - (first_count - 1) * (second_count - 1) / (rows - 1))
    corrected_first_count = first_count - (first_count - 1) ** 2 / (rows - 1)
    corrected_second_count = second_count - (second_count - 1) ** 2 / (rows - 1)

    largest_possible = min(corrected_first_count, corrected_second_count) - 1
    if largest_possible <= 0:
        return 0.0
    return float(np.sqrt(min(1.0, corrected_phi_squared / largest_possible)))


def _contingency_table(first: Codes, second: Codes) -> npt.NDArray[np.intp]:
    """Count the rows for every pair of categories, as a matrix of shape (first, second categories)."""
    first_categories, first_index_of_row = np.unique(first, return_inverse=True)
    second_categories, second_index_of_row = np.unique(second, return_inverse=True)

    rows_per_pair = np.zeros((len(first_categories), len(second_categories)), dtype=np.intp)
    np.add.at(rows_per_pair, (first_index_of_row, second_index_of_row), 1)
    return rows_per_pair
