"""Sorting the texts of many records without a Python object for each text."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Ints

_TEXTS_PER_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class TextOrder:
    """The sorted order of texts, divided into groups of equal texts.

    Attributes:
        order: the indices of the texts, sorted by the texts in ascending order.
        is_first: for each position in `order`, whether its text is the first of a group of equal texts.
    """

    order: NDArray[np.uint32]
    is_first: Bools

    def ranks(self) -> NDArray[np.uint32]:
        """Return the zero-based rank of each text, which equal texts share."""
        ranks = np.empty(len(self.order), np.uint32)
        ranks[self.order] = np.cumsum(self.is_first, dtype=np.uint32) - 1
        return ranks


def sort_texts(texts: pa.Array, tie_breakers: Ints) -> TextOrder:
    """Sort the texts of an Arrow array without nulls by their bytes, and equal texts by their tie breakers."""
    table = pa.table({"text": texts, "tie_breaker": tie_breakers})
    indices = pc.sort_indices(table, sort_keys=[("text", "ascending"), ("tie_breaker", "ascending")])
    order = indices.to_numpy().astype(np.uint32)
    return TextOrder(order, _mark_first_texts(texts, order))


def _mark_first_texts(texts: pa.Array, order: NDArray[np.uint32]) -> Bools:
    """Return whether each text in an order differs from the text before it."""
    is_first = np.ones(len(order), np.bool_)
    # Copying all texts in this order at once would need much memory.
    for start in range(1, len(order), _TEXTS_PER_CHUNK):
        end = min(start + _TEXTS_PER_CHUNK, len(order))
        chunk = texts.take(pa.array(order[start - 1 : end]))
        is_first[start:end] = pc.not_equal(chunk[1:], chunk[:-1]).to_numpy(zero_copy_only=False)
    return is_first
