"""Arrays that can be extended while other threads read their previous values."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """An array that grows along its last axis.

    Values returned by `view` are never overwritten, so readers can continue to use them while the array grows.
    """

    def __init__(self, dtype: Any, leading_shape: tuple[int, ...] = ()) -> None:
        self._buffer: NDArray[Any] = np.empty((*leading_shape, 0), dtype)
        self._size = 0
        # The buffer that will replace the current one, and the number of values copied to it so far.
        self._next_buffer: NDArray[Any] | None = None
        self._copied_size = 0

    def extend(self, values: NDArray[Any]) -> None:
        """Append values, replacing a full buffer by one of twice the size.

        Every call copies some existing values to the next buffer, so that no single call has to copy all of them.
        """
        end = self._size + values.shape[-1]
        if end > self._buffer.shape[-1]:
            self._replace_buffer(end)

        self._buffer[..., self._size : end] = values
        self._size = end
        self._fill_next_buffer()

    def _fill_next_buffer(self) -> None:
        """Copy two values to the next buffer for each value appended since the current buffer was half full."""
        capacity = self._buffer.shape[-1]
        copied_size = 2 * self._size - capacity
        if copied_size <= self._copied_size:
            return

        if self._next_buffer is None:
            self._next_buffer = self._new_buffer(2 * capacity)
        uncopied = slice(self._copied_size, copied_size)
        self._next_buffer[..., uncopied] = self._buffer[..., uncopied]
        self._copied_size = copied_size

    def _replace_buffer(self, min_capacity: int) -> None:
        """Replace the current buffer by the next one, or by a larger one if it is too small."""
        if self._next_buffer is None or self._next_buffer.shape[-1] < min_capacity:
            self._next_buffer = self._new_buffer(min_capacity)
            self._copied_size = 0

        uncopied = slice(self._copied_size, self._size)
        self._next_buffer[..., uncopied] = self._buffer[..., uncopied]
        self._buffer = self._next_buffer
        self._next_buffer = None
        self._copied_size = 0

    def _new_buffer(self, capacity: int) -> NDArray[Any]:
        """Allocate a buffer with the given capacity along the last axis."""
        return np.empty((*self._buffer.shape[:-1], capacity), self._buffer.dtype)

    def view(self) -> NDArray[Any]:
        """Return the current values without copying them."""
        return self._buffer[..., : self._size]
