"""Thinning out long lists: some elements at equal distances stand for all of them."""

import numpy as np

from touchstone.learning.target import Indices


def evenly_spaced_positions(length: int, max_count: int) -> Indices:
    """Return at most `max_count` positions in a list at equal distances, the first and the last one included.

    A list that is not longer keeps all its positions.
    """
    if length <= max_count:
        return np.arange(length)
    return np.linspace(0, length - 1, max_count).round().astype(np.intp)
