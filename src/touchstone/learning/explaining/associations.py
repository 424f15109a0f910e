"""How strongly two columns go together, from 0 (not at all) to 1 (one decides the other), whatever they hold.

Numbers and dates: the absolute rank correlation (Spearman 1904). Categories: Cramér's V corrected for chance (Bergsma
2013). A category and a number: the correlation ratio (Fisher 1925) of the ranks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import rankdata

from touchstone.learning.column_types import MISSING, Column, Kind
from touchstone.learning.target import Floats

ROWS: Final = 5_000
FEWEST: Final = 10  # rows with both values, below which nothing is said
ORDERED: Final = (Kind.NUMBER, Kind.DATE)
WORDED: Final = (Kind.CATEGORY, Kind.BOOLEAN)


@dataclass(frozen=True, slots=True)
class Side:
    """One column as codes (words) or numbers, with a mask of the rows that have a value."""

    values: npt.NDArray[Any]
    present: npt.NDArray[np.bool_]
    ordered: bool


def comparable(column: Column) -> bool:
    """Whether an association can be measured: not for texts, identifiers, or columns of a single value."""
    return column.kind in (*ORDERED, *WORDED) and column.distinct > 1


def side_of(column: Column, cells: "pd.Series[Any]") -> Side:
    """A column made ready for comparing."""
    if column.kind in ORDERED:
        numbers = cells.to_numpy().astype(np.float64)
        return Side(numbers, ~cells.isna().to_numpy(), ordered=True)
    return Side(pd.factorize(cells, sort=True)[0], (cells != MISSING).to_numpy(), ordered=False)


def association(first: Side, second: Side) -> float:
    """The strength of the association over the rows where both have a value; 0 when these are too few."""
    both = first.present & second.present
    if both.sum() < FEWEST:
        return 0.0
    a, b = first.values[both], second.values[both]
    if first.ordered and second.ordered:
        return _rank_correlation(a, b)
    if first.ordered or second.ordered:
        return _correlation_ratio(b if first.ordered else a, a if first.ordered else b)
    return _cramers_v(a, b)


def matrix_of(columns: Sequence[Column], frame: pd.DataFrame) -> Floats:
    """The associations between every two of the columns, 1 on the diagonal."""
    some = frame if len(frame) <= ROWS else frame.sample(ROWS, random_state=0)
    sides = [side_of(column, some[column.name]) for column in columns]
    strengths = np.eye(len(columns))
    for i in range(len(columns)):
        for j in range(i):
            strengths[i, j] = strengths[j, i] = association(sides[i], sides[j])
    return strengths


def _rank_correlation(a: Floats, b: Floats) -> float:
    x, y = rankdata(a), rankdata(b)
    if x.std() == 0 or y.std() == 0:
        return 0.0
    return float(abs(np.corrcoef(x, y)[0, 1]))


def _correlation_ratio(codes: npt.NDArray[Any], numbers: Floats) -> float:
    """The share of the spread of the ranks that lies between the groups, less what chance gives, as a root."""
    ranks, groups = rankdata(numbers), np.unique(codes, return_inverse=True)[1]
    counts = np.bincount(groups)
    total = float(((ranks - ranks.mean()) ** 2).sum())
    rows, kinds = len(ranks), len(counts)
    if total == 0 or kinds < 2 or rows <= kinds:
        return 0.0
    means = np.bincount(groups, weights=ranks) / counts
    between = float((counts * (means - ranks.mean()) ** 2).sum()) / total
    adjusted = 1 - (1 - between) * (rows - 1) / (rows - kinds)
    return float(np.sqrt(min(1.0, max(0.0, adjusted))))


def _cramers_v(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    x, y = np.unique(a, return_inverse=True)[1], np.unique(b, return_inverse=True)[1]
    rows, high, wide = len(x), int(x.max()) + 1, int(y.max()) + 1
    counts = np.bincount(x * wide + y, minlength=high * wide).reshape(high, wide)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / rows
    spread = float(((counts - expected) ** 2 / expected).sum()) / rows
    corrected = max(0.0, spread - (high - 1) * (wide - 1) / (rows - 1))
    room = min(high - (high - 1) ** 2 / (rows - 1), wide - (wide - 1) ** 2 / (rows - 1)) - 1
    return float(np.sqrt(min(1.0, corrected / room))) if room > 0 else 0.0
