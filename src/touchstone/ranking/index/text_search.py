"""Search for substrings in all texts of a pool."""

from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from touchstone.core.text import fold
from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.substring_search import texts_containing, warm_up_search_in_memory
from touchstone.ranking.columns.text_pool import TextPool

_FIRST_BYTE_BEYOND_ASCII: Final = 128
_BYTES_AT_A_TIME: Final = 2**24
_TEXTS_AT_A_TIME: Final = 100_000


class AccentedTexts(NamedTuple):
    """The texts of a pool that are not plain ASCII: their indices, and the same texts folded."""

    indices: Ints
    folded: TextPool


class TextSearch:
    """Finds the texts of a pool that contain a substring, ignoring case and accents.

    Plain ASCII texts are searched as they are stored. The other texts are folded at the first search, unless they are
    given folded.
    """

    def __init__(self, pool: TextPool, accented: AccentedTexts | None = None) -> None:
        self._pool = pool
        self._given_accented = accented

    def containing(self, folded_substring: str) -> Bools:
        """Return for each text of the pool whether it contains a folded substring."""
        if not folded_substring:
            return np.ones(len(self._pool), np.bool_)

        # The search over all texts only ignores the case of ASCII letters, so accented texts are searched folded.
        contains = texts_containing(self._pool, folded_substring)
        accented = self._accented
        contains[accented.indices] = texts_containing(accented.folded, folded_substring)
        return contains

    @cached_property
    def _accented(self) -> AccentedTexts:
        """The texts that are not plain ASCII, folded."""
        if self._given_accented is not None:
            return self._given_accented

        indices = _find_accented(self._pool)
        return AccentedTexts(indices, _fold_texts(self._pool, indices))


def warm_up_search(pool: TextPool, text_count: int) -> None:
    """Search the first texts of a pool, so that the kernels are compiled before the first search.

    They are compiled once for read-only arrays, such as those mapped from a file, and once for writable ones in memory.
    """
    first_texts = TextPool(pool.data, pool.offsets[: text_count + 1])
    texts_containing(first_texts, "warm")
    warm_up_search_in_memory()


def _find_accented(pool: TextPool) -> Ints:
    """Return the indices of the texts of a pool that are not plain ASCII."""
    indices = [np.empty(0, np.int64)]
    for start in range(0, len(pool.data), _BYTES_AT_A_TIME):
        data = pool.data[start : start + _BYTES_AT_A_TIME]
        accented_bytes = start + np.flatnonzero(data >= _FIRST_BYTE_BEYOND_ASCII)
        texts_of_bytes = np.searchsorted(pool.offsets, accented_bytes, side="right") - 1
        indices.append(np.unique(texts_of_bytes))
    return np.unique(np.concatenate(indices))


def _fold_texts(pool: TextPool, indices: Ints) -> TextPool:
    """Return some texts of a pool in folded form, without case and accents.

    They are folded piece by piece, so that only some of them are Python objects at the same time.
    """
    folded_data = [np.empty(0, np.uint8)]
    lengths = [np.zeros(1, np.int64)]
    for start in range(0, len(indices), _TEXTS_AT_A_TIME):
        folded = TextPool.from_texts(map(fold, pool.take(indices[start : start + _TEXTS_AT_A_TIME])))
        folded_data.append(folded.data)
        offsets: Ints = folded.offsets.astype(np.int64)
        lengths.append(offsets[1:] - offsets[:-1])
    return TextPool(np.concatenate(folded_data), np.cumsum(np.concatenate(lengths)))
