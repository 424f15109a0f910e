"""The strength of association between two columns of any kind, from 0 (none) to 1 (one decides the other).

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

MAX_ROWS: Final = 5_000
MIN_ROWS: Final = 10  # With fewer rows in which both columns have a value, no association is claimed.
ORDERED_KINDS: Final = (ColumnKind.NUMBER, ColumnKind.DATE)
CATEGORY_KINDS: Final = (ColumnKind.CATEGORY, ColumnKind.BOOLEAN)

Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ComparableColumn:
    """A column as numbers (when ordered) or category codes, with a mask of the rows that have a value."""

    values: npt.NDArray[Any]
    is_present: npt.NDArray[np.bool_]
    is_ordered: bool


def is_comparable(column: ColumnSchema) -> bool:
    """Return whether associations can be measured: not for texts, identifiers, or columns of a single value."""
    return column.kind in (*ORDERED_KINDS, *CATEGORY_KINDS) and column.distinct > 1


def comparable_values(column: ColumnSchema, cells: "pd.Series[Any]") -> ComparableColumn:
    """Convert the cells of a column into numbers or codes."""
    if column.kind in ORDERED_KINDS:
        numbers = cells.to_numpy().astype(np.float64)
        return ComparableColumn(numbers, is_present=~cells.isna().to_numpy(), is_ordered=True)
    codes = pd.factorize(cells, sort=True)[0]
    return ComparableColumn(codes, is_present=(cells != MISSING).to_numpy(), is_ordered=False)


def association(first: ComparableColumn, second: ComparableColumn) -> float:
    """Return the strength of the association over the rows where both have a value; 0 when these are too few."""
    both = first.is_present & second.is_present
    if both.sum() < MIN_ROWS:
        return 0.0
    a = first.values[both]
    b = second.values[both]
    if first.is_ordered and second.is_ordered:
        return _rank_correlation(a, b)
    if first.is_ordered:
        return _correlation_ratio(codes=b, numbers=a)
    if second.is_ordered:
        return _correlation_ratio(codes=a, numbers=b)
    return _cramers_v(a, b)


def association_matrix(columns: Sequence[ColumnSchema], frame: pd.DataFrame) -> Floats:
    """Return the associations between every two of the columns, 1 on the diagonal."""
    sample = frame if len(frame) <= MAX_ROWS else frame.sample(MAX_ROWS, random_state=0)
    comparable = [comparable_values(column, sample[column.name]) for column in columns]
    strengths = np.eye(len(columns))
    for i in range(len(columns)):
        for j in range(i):
            strengths[i, j] = strengths[j, i] = association(comparable[i], comparable[j])
    return strengths


def _rank_correlation(a: Floats, b: Floats) -> float:
    ranks_a = rankdata(a)
    ranks_b = rankdata(b)
    if ranks_a.std() == 0 or ranks_b.std() == 0:
        return 0.0
    return float(abs(np.corrcoef(ranks_a, ranks_b)[0, 1]))


def _correlation_ratio(codes: Codes, numbers: Floats) -> float:
    """Return the root of the share of the ranks' variance that lies between the groups, corrected for chance."""
    ranks = rankdata(numbers)
    groups = np.unique(codes, return_inverse=True)[1]
    group_sizes = np.bincount(groups)
    total = float(((ranks - ranks.mean()) ** 2).sum())

    rows = len(ranks)
    group_count = len(group_sizes)
    if total == 0 or group_count < 2 or rows <= group_count:
        return 0.0
    means = np.bincount(groups, weights=ranks) / group_sizes
    between = float((group_sizes * (means - ranks.mean()) ** 2).sum()) / total
    adjusted = 1 - (1 - between) * (rows - 1) / (rows - group_count)
    return float(np.sqrt(min(1.0, max(0.0, adjusted))))


def _cramers_v(a: Codes, b: Codes) -> float:
    """Return Cramér's V with Bergsma's correction of the statistic and of the numbers of categories."""
    codes_a = np.unique(a, return_inverse=True)[1]
    codes_b = np.unique(b, return_inverse=True)[1]
    rows = len(codes_a)
    count_a = int(codes_a.max()) + 1
    count_b = int(codes_b.max()) + 1

    counts = np.bincount(codes_a * count_b + codes_b, minlength=count_a * count_b).reshape(count_a, count_b)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / rows
    phi_squared = float(((counts - expected) ** 2 / expected).sum()) / rows

    corrected = max(0.0, phi_squared - (count_a - 1) * (count_b - 1) / (rows - 1))
    corrected_a = count_a - (count_a - 1) ** 2 / (rows - 1)
    corrected_b = count_b - (count_b - 1) ** 2 / (rows - 1)
    largest = min(corrected_a, corrected_b) - 1
    return float(np.sqrt(min(1.0, corrected / largest))) if largest > 0 else 0.0
