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

    def extend(self, values: NDArray[Any]) -> None:
        """Append values; the buffer is doubled when it is full, so appending is cheap on average."""
        end = self._size + values.shape[-1]
        if end > self._buffer.shape[-1]:
            capacity = max(end, 2 * self._size)
            larger = np.empty((*self._buffer.shape[:-1], capacity), self._buffer.dtype)
            larger[..., : self._size] = self.view()
            self._buffer = larger

        self._buffer[..., self._size : end] = values
        self._size = end

    def view(self) -> NDArray[Any]:
        """Return the values so far."""
        return self._buffer[..., : self._size]
