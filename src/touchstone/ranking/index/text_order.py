"""Sorting the texts of many records without a Python object for each of them.

Texts that are equal so far form a group; at first there is only one. Each round measures the beginning that all texts
of a group have in common, sorts the group by the seven bytes after it, and divides it where these bytes differ. So long
texts that begin alike are not read again and again.
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
    """Texts in ascending order, divided into groups of equal texts.

    Attributes:
        order: The indices of the texts, in ascending order of the texts.
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
    single_group = TextOrder(np.arange(text_count, dtype=np.uint32), is_first)
    return _sort_groups(_folded_texts(texts), single_group)


def sort_distinct(texts: SpooledTexts, folded_order: TextOrder) -> TextOrder:
    """Return an order of texts in which exactly the same ones lie together, given that without case and accents.

    Texts that differ only in case and accents are sorted by their bytes; equal texts keep their order.
    """
    copied_order = TextOrder(folded_order.order.copy(), folded_order.is_first.copy())
    return _sort_groups(_exact_texts(texts), copied_order)


def _folded_texts(texts: SpooledTexts) -> ComparedTexts:
    """Return texts in the form in which kernels compare them without case and accents."""
    accented_count = len(texts.accented_records)
    substitutes = np.zeros(len(texts.offsets) - 1, np.uint32)
    substitutes[texts.accented_records] = np.arange(1, accented_count + 1)
    return ComparedTexts(
        data=texts.data,
        offsets=texts.offsets,
        byte_map=LOWER_CASE,
        substitutes=substitutes,
        substitute_data=texts.accented_data,
        substitute_offsets=np.concatenate([[0], texts.accented_offsets]),
    )


def _exact_texts(texts: SpooledTexts) -> ComparedTexts:
    """Return texts in the form in which kernels compare them byte by byte."""
    return ComparedTexts(
        data=texts.data,
        offsets=texts.offsets,
        byte_map=_SAME_BYTES,
        substitutes=np.zeros(len(texts.offsets) - 1, np.uint32),
        substitute_data=np.empty(0, np.uint8),
        substitute_offsets=np.zeros(2, np.int64),
    )


def _sort_groups(texts: ComparedTexts, groups: TextOrder) -> TextOrder:
    """Sort the texts of each group, and divide it into groups of equal texts; the arrays of `groups` are changed."""
    unsorted_places: NDArray[Any] = np.arange(len(groups.order))
    depths = np.zeros(len(groups.order), np.int32)  # how many first bytes are known to be the same in a group
    while len(unsorted_places):
        common_lengths = _measure_groups(texts, groups, unsorted_places, depths)

        # Single texts and groups of equal texts are sorted already.
        is_unsorted = common_lengths < SAME_TEXT
        unsorted_places = unsorted_places[is_unsorted]
        depths = common_lengths[is_unsorted]
        _sort_by_next_bytes(texts, groups, unsorted_places, depths)
    return groups


def _measure_groups(
    texts: ComparedTexts, groups: TextOrder, places: NDArray[Any], depths: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return for each of some places how many bytes all texts of its group have in common.

    The places are those of whole groups. If all texts of a group are equal, the result is SAME_TEXT.
    """
    is_first = groups.is_first[places]
    lengths = np.empty(len(places), np.int32)
    text_sort_kernels.measure_common_beginnings(texts, groups.order[places], depths, is_first, lengths)

    group_starts = np.flatnonzero(is_first)
    group_sizes = np.diff(group_starts, append=len(places))
    common_lengths = np.minimum.reduceat(lengths, group_starts)
    return np.repeat(common_lengths, group_sizes)


def _sort_by_next_bytes(
    texts: ComparedTexts, groups: TextOrder, places: NDArray[Any], depths: NDArray[np.int32]
) -> None:
    """Sort the groups at some places by the seven bytes after the first `depths` ones, and divide them, in place."""
    indices = groups.order[places]
    chunks = np.empty(len(indices), np.uint64)
    text_sort_kernels.read_chunks(texts, indices, depths, chunks)

    by_chunk = _sort_in_groups(chunks, groups.is_first[places])
    groups.order[places] = indices[by_chunk]

    # A new group begins where these bytes differ from those of the text before.
    sorted_chunks = chunks[by_chunk]
    groups.is_first[places[1:]] |= sorted_chunks[1:] != sorted_chunks[:-1]


def _sort_in_groups(chunks: NDArray[np.uint64], is_first: Bools) -> NDArray[Any]:
    """Return the indices of chunks, group by group, and sorted within each group; equal chunks keep their order."""
    has_one_group = np.count_nonzero(is_first) <= 1
    if has_one_group:
        return np.argsort(chunks, kind="stable")

    groups = np.cumsum(is_first, dtype=np.uint32)
    return np.lexsort((chunks, groups))
