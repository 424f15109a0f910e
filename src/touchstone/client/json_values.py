"""Conversion of the values that notebooks contain, such as those of NumPy and pandas, to values of JSON."""

from collections.abc import Mapping
from datetime import date
from math import isnan
from typing import Any, Final
from uuid import UUID

# The types of the missing values of pandas, by name because the client does not depend on pandas.
_PANDAS_MISSING_TYPES: Final = frozenset({"NAType", "NaTType"})


def json_value(value: Any) -> Any:
    """Return a value in the form in which JSON can represent it.

    Scalars and arrays of NumPy and columns of pandas become numbers and lists, dates become texts in ISO 8601, and ids
    become texts. NaN and the missing values of pandas become None. Other values are returned unchanged, so that the
    encoder refuses those that JSON cannot represent, such as infinity.
    """
    if isinstance(value, Mapping):
        return {json_value(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item) for item in value]
    if hasattr(value, "tolist"):
        return json_value(_with_microseconds(value).tolist())
    return _json_scalar(value)


def _with_microseconds(value: Any) -> Any:
    """Return times and durations of NumPy in microseconds, the finest unit of Python's own, and other values unchanged.

    In nanoseconds, as pandas stores them, they would become integers.
    """
    if type(value).__module__ == "numpy" and value.dtype.kind in "mM":
        return value.astype(f"{value.dtype.kind}8[us]")
    return value


def _json_scalar(value: Any) -> Any:
    """Return a single value in the form in which JSON can represent it; a missing value becomes None."""
    is_nan = isinstance(value, float) and isnan(value)
    if is_nan or type(value).__name__ in _PANDAS_MISSING_TYPES:
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    return value
