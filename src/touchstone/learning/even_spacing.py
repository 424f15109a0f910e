"""Selecting evenly spaced elements to represent a long list."""

import numpy as np

from touchstone.learning.target import Indices


def evenly_spaced_positions(length: int, max_count: int) -> Indices:
    """Return at most `max_count` evenly spaced positions in a list, including the first and the last.

    A list with at most `max_count` elements keeps all of its positions.
    """
    if length <= max_count:
        return np.arange(length)
    return np.linspace(0, length - 1, max_count).round().astype(np.intp)
