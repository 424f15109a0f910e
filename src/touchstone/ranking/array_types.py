"""The types of columns: arrays with one value for each record."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

Facts: TypeAlias = Mapping[str, NDArray[Any]]
"""Columns by attribute: numbers in float64 (NaN if unknown) and flags in int8 (1, 0, or -1 if unknown)."""
