"""The order of the texts of many records, found without an object for each of them.

Texts are compared seven bytes at a time. Those that are equal so far form a group, whose common beginning is skipped,
so that long texts that begin alike are not read again and again.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.column_types import Bools
from touchstone.ranking.columns.spool import SpooledTexts
from touchstone.ranking.columns.trigram_signatures import LOWER_CASE
from touchstone.ranking.kernels import text_sort_kernels
from touchstone.ranking.kernels.text_sort_kernels import SAME_TEXT, ComparedTexts

_SAME_BYTES: Final = np.arange(256, dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class TextOrder:
    """Texts in ascending order.

    Attributes:
        order: The numbers of the texts, in ascending order of the texts.
        is_first: For each place in this order whether its text differs from the one before.
    """

    order: NDArray[np.uint32]
    is_first: Bools

    def ranks(self) -> NDArray[np.uint32]:
        """Return the rank of each text, counted from 0; equal texts share a rank."""
        ranks = np.empty(len(self.order), np.uint32)
        ranks[self.order] = np.cumsum(self.is_first, dtype=np.uint32) - 1
        return ranks


def sort_folded(texts: SpooledTexts) -> TextOrder:
    """Return the order of texts without case and accents; equal texts keep their order."""
    text_count = len(texts.offsets) - 1
    is_first = np.zeros(text_count, np.bool_)
    is_first[:1] = True
    everything = TextOrder(np.arange(text_count, dtype=np.uint32), is_first)
    return _sort_groups(_folded_texts(texts), everything)


def sort_distinct(texts: SpooledTexts, folded_order: TextOrder) -> TextOrder:
    """Return the order of texts in which those of the same folded form are sorted by what distinguishes them."""
    copied_order = TextOrder(folded_order.order.copy(), folded_order.is_first.copy())
    return _sort_groups(_exact_texts(texts), copied_order)


def _folded_texts(texts: SpooledTexts) -> ComparedTexts:
    """Return texts in the form in which kernels compare them without case and accents."""
    accented_numbers = np.zeros(len(texts.offsets) - 1, np.uint32)
    accented_numbers[texts.accented_records] = np.arange(1, len(texts.accented_records) + 1)
    return ComparedTexts(
        texts.data, texts.offsets, LOWER_CASE, accented_numbers, texts.accented_data, texts.accented_offsets
    )


def _exact_texts(texts: SpooledTexts) -> ComparedTexts:
    """Return texts in the form in which kernels compare them byte by byte."""
    accented_numbers = np.zeros(len(texts.offsets) - 1, np.uint32)
    return ComparedTexts(
        texts.data, texts.offsets, _SAME_BYTES, accented_numbers, texts.accented_data, texts.accented_offsets
    )


def _sort_groups(texts: ComparedTexts, groups: TextOrder) -> TextOrder:
    """Sort the texts of each group, and divide it into groups of equal texts; the arrays of `groups` are changed."""
    order, is_first = groups.order, groups.is_first
    places: NDArray[Any] = np.arange(len(order))
    depths = np.zeros(len(order), np.int32)
    while len(places):
        # Leave out what is sorted already: single texts, and groups of equal texts.
        open_texts, group_depths = _measure_groups(texts, order[places], depths, is_first[places])
        places, depths = places[open_texts], group_depths[open_texts]

        # Sort each group by the seven bytes behind the common beginning of its texts.
        numbers = order[places]
        chunks = np.empty(len(numbers), np.uint64)
        text_sort_kernels.read_chunks(texts, numbers, depths, chunks)
        sorted_indices = _sort_in_groups(chunks, is_first[places])
        order[places] = numbers[sorted_indices]

        # A new group begins where these bytes differ.
        sorted_chunks = chunks[sorted_indices]
        is_first[places[1:]] |= sorted_chunks[1:] != sorted_chunks[:-1]
    return groups


def _measure_groups(
    texts: ComparedTexts, numbers: NDArray[np.uint32], depths: NDArray[np.int32], is_first: Bools
) -> tuple[Bools, NDArray[np.int32]]:
    """Return for each text whether its group has different texts, and the length of their common beginning.

    `depths` is a part of the common beginning that is known.
    """
    lengths = np.empty(len(numbers), np.int32)
    text_sort_kernels.measure_common_beginnings(texts, numbers, depths, is_first, lengths)

    group_starts = np.flatnonzero(is_first)
    group_sizes = np.diff(group_starts, append=len(numbers))
    group_depths = np.repeat(np.minimum.reduceat(lengths, group_starts), group_sizes)
    return group_depths < SAME_TEXT, group_depths


def _sort_in_groups(chunks: NDArray[np.uint64], is_first: Bools) -> NDArray[Any]:
    """Return the indices of some numbers, group by group, and sorted within each group; equal numbers keep order."""
    has_one_group = np.count_nonzero(is_first) <= 1
    if has_one_group:
        return np.argsort(chunks, kind="stable")

    groups = np.cumsum(is_first, dtype=np.uint32)
    return np.lexsort((chunks, groups))
