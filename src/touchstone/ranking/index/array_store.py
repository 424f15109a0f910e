"""Where the arrays of an index are kept while it is built: in memory, or in a file that is mapped into memory."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Component = TypeVar("Component")


class ArrayStore(Protocol):
    """Takes arrays, from any thread, and returns each in the form in which the index refers to it."""

    def keep_pieces(self, pieces: Iterable[NDArray[Any]], size: int, dtype: Any) -> NDArray[Any]:
        """Return an array with one dimension that consists of some pieces, of `size` elements altogether."""

    def keep(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return an array with the same values."""


class MemoryStore(ArrayStore):
    """Keeps arrays in the memory of the process."""

    def keep_pieces(self, pieces: Iterable[NDArray[Any]], size: int, dtype: Any) -> NDArray[Any]:
        """Return an array with one dimension that consists of some pieces, of `size` elements altogether."""
        values = np.empty(size, dtype)
        end = 0
        for piece in pieces:
            start, end = end, end + len(piece)
            values[start:end] = piece
        return values

    def keep(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the array itself."""
        return values


def keep_arrays(store: ArrayStore, component: Component) -> Component:
    """Return a part of an index, a record or a mapping, with all of its arrays kept in a store."""
    kept: Any
    if isinstance(component, np.ndarray):
        kept = store.keep(component)
    elif isinstance(component, Mapping):
        kept = {name: keep_arrays(store, value) for name, value in component.items()}
    elif is_dataclass(component) and not isinstance(component, type):
        values = {field.name: getattr(component, field.name) for field in fields(component)}
        kept = replace(component, **{name: keep_arrays(store, value) for name, value in values.items()})
    else:
        kept = component
    return kept  # type: ignore[no-any-return]
