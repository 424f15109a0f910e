"""Hashes of the rows of a table, for finding equal rows quickly."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from touchstone.core.prefetch import map_ahead
from touchstone.learning.fitting_pool import usable_core_count

Hashes = npt.NDArray[np.uint64]

COLUMN_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio, as in Fibonacci hashing.


def row_hashes(frame: pd.DataFrame) -> Hashes:
    """Return a hash of each row.

    Equal rows have equal hashes, and different rows almost certainly have different hashes. Two missing values count as
    equal, and so do 0 and -0.
    """
    columns = (frame[name] for name in frame.columns)
    hashes = np.zeros(len(frame), dtype=np.uint64)
    for cell_hashes in map_ahead(_cell_hashes, columns, thread_count=usable_core_count()):
        hashes *= COLUMN_FACTOR
        hashes ^= cell_hashes
    return hashes


def _cell_hashes(cells: "pd.Series[Any]") -> Hashes:
    """Return a hash of each cell of a column."""
    if cells.dtype.kind == "f":
        numbers = cells.to_numpy(dtype=np.float64) + 0.0  # The sum turns -0 into 0.
        numbers[np.isnan(numbers)] = np.nan
        return pd.util.hash_array(numbers)

    # Hash each distinct value only once, because columns of strings have far fewer distinct values than rows.
    codes, values = pd.factorize(cells.to_numpy(), use_na_sentinel=False)
    return pd.util.hash_array(np.asarray(values))[codes]
