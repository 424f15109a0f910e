"""A cache of sort orders of an index."""

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
    """The identity of a sort order: its column, its direction, and for some columns its assurance."""

    assurance: Assurance
    column: str
    descending: bool


class OrderCache:
    """The most recently used sort orders, at every assurance.

    Attributes:
        beginnings: the first positions of each order, which are enough for most pages.
        permutations: the positions of all records in each order.
        lock: held while an order is computed, so that two threads do not compute the same one.
    """

    def __init__(self) -> None:
        self.beginnings: LruCache[OrderKey, Positions] = LruCache(_CACHED_BEGINNINGS)
        self.permutations: LruCache[OrderKey, Positions] = LruCache(_CACHED_PERMUTATIONS)
        self.lock = Lock()
