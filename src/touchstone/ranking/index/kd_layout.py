"""Laying records out so that those with similar criteria lie together: a k-d order, in whole leaves.

(J. L. Bentley, "Multidimensional binary search trees used for associative searching", 1975.)
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_SAMPLE: Final = 2048
_SMALLEST_SPREAD: Final = 0.5  # in grades; below it all records of a node are alike


def kd_order(
    dimensions: NDArray[np.uint8], importance: NDArray[np.float64], names: NDArray[np.int64], leaf: int
) -> NDArray[np.int64]:
    """The records in leaf order.

    `dimensions`: one row of bytes for each dimension; `importance`: what a difference in it counts; `names`: each
    record's place by name, by which records that are alike in all dimensions are parted; `leaf`: records a leaf.
    """
    order = np.arange(dimensions.shape[1])
    pending = [(0, len(order))]
    while pending:
        start, end = pending.pop()
        half = _half(end - start, leaf)
        if half:
            part = order[start:end]
            keys = _widest(dimensions, importance, names, part)
            order[start:end] = part[np.argpartition(keys, half)]
            pending += [(start, start + half), (start + half, end)]
    return order


def _half(size: int, leaf: int) -> int:
    """Where a node is split: in the middle, at a whole number of leaves; 0 when it is one leaf."""
    return leaf * ((size + leaf - 1) // leaf // 2) if size > leaf else 0


def _widest(
    dimensions: NDArray[np.uint8], importance: NDArray[np.float64], names: NDArray[np.int64], part: NDArray[np.int64]
) -> NDArray[np.uint8] | NDArray[np.int64]:
    """The values of the dimension in which the records of a node differ most, judged from a sample."""
    sample = dimensions[:, part[:: max(1, len(part) // _SAMPLE)]]
    spreads = importance * sample.std(axis=1)
    widest = int(np.argmax(spreads))
    return dimensions[widest, part] if spreads[widest] > _SMALLEST_SPREAD else names[part]
