"""Arrays that grow at their end while readers keep the values so far."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """An array that grows along its last axis.

    The values that `view` returned are never written again, so readers may keep them while the array grows.
    """

    def __init__(self, dtype: Any, leading_shape: tuple[int, ...] = ()) -> None:
        self._buffer: NDArray[Any] = np.empty((*leading_shape, 0), dtype)
        self._size = 0
        # The buffer that will replace the present one, and how many values it holds already.
        self._next_buffer: NDArray[Any] | None = None
        self._copied_size = 0

    def extend(self, values: NDArray[Any]) -> None:
        """Append values; when the buffer is full, it is replaced by one of twice the size.

        The values are copied to the next buffer little by little, as others are appended, so that no call takes long.
        """
        end = self._size + values.shape[-1]
        if end > self._buffer.shape[-1]:
            self._replace_buffer(end)

        self._buffer[..., self._size : end] = values
        self._size = end
        self._fill_next_buffer()

    def _fill_next_buffer(self) -> None:
        """Copy twice as many values to the next buffer as have been appended since the present one was half full."""
        capacity = self._buffer.shape[-1]
        copied_size = 2 * self._size - capacity
        if copied_size <= self._copied_size:
            return

        if self._next_buffer is None:
            self._next_buffer = self._new_buffer(2 * capacity)
        missing = slice(self._copied_size, copied_size)
        self._next_buffer[..., missing] = self._buffer[..., missing]
        self._copied_size = copied_size

    def _replace_buffer(self, min_capacity: int) -> None:
        """Use the next buffer from now on, or a larger one if it is too small."""
        if self._next_buffer is None or self._next_buffer.shape[-1] < min_capacity:
            self._next_buffer = self._new_buffer(min_capacity)
            self._copied_size = 0

        missing = slice(self._copied_size, self._size)
        self._next_buffer[..., missing] = self._buffer[..., missing]
        self._buffer = self._next_buffer
        self._next_buffer = None
        self._copied_size = 0

    def _new_buffer(self, capacity: int) -> NDArray[Any]:
        """Return an empty buffer for some values."""
        return np.empty((*self._buffer.shape[:-1], capacity), self._buffer.dtype)

    def view(self) -> NDArray[Any]:
        """Return the values so far."""
        return self._buffer[..., : self._size]
