"""Substring search in the texts of a pool."""

from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from touchstone.core.text import fold
from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.substring_search import texts_containing, warm_up_search_in_memory
from touchstone.ranking.columns.text_pool import TextPool

_FIRST_NON_ASCII_BYTE: Final = 128
_BYTES_PER_CHUNK: Final = 2**24
_TEXTS_PER_CHUNK: Final = 100_000


class AccentedTexts(NamedTuple):
    """The indices and folded forms of the texts of a pool that are not plain ASCII."""

    indices: Ints
    folded: TextPool


class TextSearch:
    """Finds the texts of a pool that contain a substring, ignoring case and accents.

    Plain ASCII texts are searched as stored. The folded forms of the other texts are passed by the caller or computed
    at the first search.
    """

    def __init__(self, pool: TextPool, accented: AccentedTexts | None = None) -> None:
        self._pool = pool
        self._given_accented = accented

    def containing(self, folded_substring: str) -> Bools:
        """Return whether each text of the pool contains a folded substring."""
        if not folded_substring:
            return np.ones(len(self._pool), np.bool_)

        # The search over all texts ignores only the case of ASCII letters, so search accented texts in folded form.
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
    """Search the first texts of a pool, so that the kernels are compiled before the first query.

    Kernels are compiled separately for read-only arrays, such as arrays mapped from a file, and for writable arrays.
    """
    first_texts = TextPool(pool.data, pool.offsets[: text_count + 1])
    texts_containing(first_texts, "warm")
    warm_up_search_in_memory()


def _find_accented(pool: TextPool) -> Ints:
    """Return the indices of the texts of a pool that are not plain ASCII."""
    indices = [np.empty(0, np.int64)]
    for start in range(0, len(pool.data), _BYTES_PER_CHUNK):
        data = pool.data[start : start + _BYTES_PER_CHUNK]
        accented_bytes = start + np.flatnonzero(data >= _FIRST_NON_ASCII_BYTE)
        texts_of_bytes = np.searchsorted(pool.offsets, accented_bytes, side="right") - 1
        indices.append(np.unique(texts_of_bytes))
    return np.unique(np.concatenate(indices))


def _fold_texts(pool: TextPool, indices: Ints) -> TextPool:
    """Return the texts at the given indices in folded form, without case and accents.

    The texts are folded in chunks, to limit the number of Python objects that exist at the same time.
    """
    folded_data = [np.empty(0, np.uint8)]
    lengths = [np.zeros(1, np.int64)]
    for start in range(0, len(indices), _TEXTS_PER_CHUNK):
        folded = TextPool.from_texts(map(fold, pool.take(indices[start : start + _TEXTS_PER_CHUNK])))
        folded_data.append(folded.data)
        offsets: Ints = folded.offsets.astype(np.int64)
        lengths.append(offsets[1:] - offsets[:-1])
    return TextPool(np.concatenate(folded_data), np.cumsum(np.concatenate(lengths)))
