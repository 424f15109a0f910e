"""Storage for the arrays of an index during its construction: in memory or in a memory-mapped file."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Component = TypeVar("Component")


class ArrayStore(Protocol):
    """Stores arrays and returns them in the form that the index uses.

    It is safe to use from several threads.
    """

    def add_chunks(self, chunks: Iterable[NDArray[Any]], size: int, dtype: Any) -> NDArray[Any]:
        """Concatenate one-dimensional chunks with `size` elements in total, and return the stored array."""

    def add(self, values: NDArray[Any]) -> NDArray[Any]:
        """Store an array, and return an array with the same values."""


class MemoryStore(ArrayStore):
    """Stores arrays in the memory of the process."""

    def add_chunks(self, chunks: Iterable[NDArray[Any]], size: int, dtype: Any) -> NDArray[Any]:
        """Concatenate one-dimensional chunks with `size` elements in total, and return the stored array."""
        values = np.empty(size, dtype)
        end = 0
        for chunk in chunks:
            start, end = end, end + len(chunk)
            values[start:end] = chunk
        return values

    def add(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the array itself, which is in memory already."""
        return values


def store_arrays(store: ArrayStore, component: Component) -> Component:
    """Return a copy of an array, dataclass or mapping with all arrays in it replaced by stored ones."""
    stored_component: Any = component
    if isinstance(component, np.ndarray):
        stored_component = store.add(component)
    elif isinstance(component, Mapping):
        stored_component = {name: store_arrays(store, value) for name, value in component.items()}
    elif is_dataclass(component) and not isinstance(component, type):
        values = {field.name: getattr(component, field.name) for field in fields(component)}
        stored_values = {name: store_arrays(store, value) for name, value in values.items()}
        stored_component = replace(component, **stored_values)
    return stored_component  # type: ignore[no-any-return]
