"""Substring search in the texts of a pool with compiled kernels."""

import math
from threading import Event
from typing import Final

import numpy as np

from touchstone.ranking.array_types import Bools
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.kernels import text_kernels
from touchstone.ranking.kernels.bits import BITS_PER_WORD, Words
from touchstone.ranking.kernels.compilation import are_kernels_replaced
from touchstone.ranking.kernels.text_kernels import BYTES_PER_PASS, CandidateMarks, EncodedTexts
from touchstone.ranking.kernels.two_threads import run_in_halves

_is_warm: Final = Event()


def warm_up_search_in_memory() -> None:
    """Search a text in memory, so that the kernels are compiled for texts in memory."""
    texts_containing(TextPool.from_texts(["text in memory"]), "warm")
    if are_kernels_replaced():
        _is_warm.set()


def is_search_in_memory_warm() -> bool:
    """Return whether the kernels have been compiled for texts in memory, so that searches need not wait for it."""
    return _is_warm.is_set()


def texts_containing(pool: TextPool, folded_substring: str) -> Bools:
    """Return whether each text of a pool contains a folded, non-empty substring.

    Only the case of ASCII letters is ignored. The search releases the GIL.
    """
    text_count = len(pool)
    substring = np.frombuffer(bytearray(folded_substring.encode()), np.uint8)
    matches = np.zeros(math.ceil(text_count / BITS_PER_WORD), np.uint64)

    def search_range(start: int, end: int) -> None:
        texts = EncodedTexts(pool.data, pool.offsets[start : end + 1])
        marks = np.zeros(BYTES_PER_PASS, np.bool_)
        scratch = CandidateMarks(marks, marks.view(np.uint64))
        text_kernels.select_texts(texts, substring, scratch, matches[start // BITS_PER_WORD :])

    # Divide the texts at a word boundary of the bitmap, so that the threads never write to the same word.
    boundary = BITS_PER_WORD * (len(matches) // 2)
    run_in_halves(text_count, search_range, boundary)
    return _unpack(matches, text_count)


def _unpack(bitmap: Words, count: int) -> Bools:
    """Return the first `count` bits of a bitmap as booleans."""
    return np.unpackbits(bitmap.view(np.uint8), count=count, bitorder="little").view(np.bool_)
