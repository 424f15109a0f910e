"""The orders of the records of an index by sort columns, kept for the next lists."""

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
    """What an order depends on: the assurance if the column does, the sort column and the direction."""

    assurance: Assurance
    column: str
    descending: bool


class OrderCache:
    """The orders that were used most recently, at all assurances.

    Attributes:
        beginnings: The first positions of an order, which are enough for most pages.
        permutations: The positions of all records.
        lock: Held while an order is made, so that two threads do not make the same.
    """

    def __init__(self) -> None:
        self.beginnings: LruCache[OrderKey, Positions] = LruCache(_CACHED_BEGINNINGS)
        self.permutations: LruCache[OrderKey, Positions] = LruCache(_CACHED_PERMUTATIONS)
        self.lock = Lock()
