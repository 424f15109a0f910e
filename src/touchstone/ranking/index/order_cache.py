"""A cache of the orders in which an index lists its records."""

from threading import Lock
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from touchstone.core.evidence import Assurance
from touchstone.ranking.index.lru_cache import LruCache

_CACHED_BEGINNINGS: Final = 48  # of half a byte for each record of the catalog
_CACHED_PERMUTATIONS: Final = 2  # of 4 bytes for each record

Positions: TypeAlias = NDArray[np.uint32]


class OrderKey(NamedTuple):
    """What an order depends on: the sort column, the direction, and for some columns the assurance."""

    assurance: Assurance
    column: str
    descending: bool


class OrderCache:
    """The orders that have been used most recently, at every assurance.

    Attributes:
        beginnings: The first positions of an order, which are enough for most pages.
        permutations: The positions of all records.
        lock: Held while an order is computed, so that two threads do not compute the same one.
    """

    def __init__(self) -> None:
        self.beginnings: LruCache[OrderKey, Positions] = LruCache(_CACHED_BEGINNINGS)
        self.permutations: LruCache[OrderKey, Positions] = LruCache(_CACHED_PERMUTATIONS)
        self.lock = Lock()
