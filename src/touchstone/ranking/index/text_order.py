"""Sorting the texts of many records without a Python object for each of them.

Texts that are equal so far form a group; at first there is only one. Each round measures the beginning that all texts
of a group have in common, sorts the group by the seven bytes after it, and divides it where these bytes differ. So long
texts that begin alike are not read again and again.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.spool import AccentedTexts
from touchstone.ranking.columns.text_pool import Bytes
from touchstone.ranking.columns.trigram_signatures import LOWER_CASE
from touchstone.ranking.kernels import text_sort_kernels
from touchstone.ranking.kernels.text_sort_kernels import SAME_TEXT, ComparedTexts, TextChunks


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


def sort_folded(data: Bytes, offsets: Ints, accented: AccentedTexts) -> TextOrder:
    """Return the order of texts without case and accents; equal texts keep their order.

    `data` and `offsets` are the bytes of all texts, and where each begins; `accented` are those that are not ASCII.
    """
    text_count = len(offsets) - 1
    is_first = np.zeros(text_count, np.bool_)
    is_first[:1] = True
    single_group = TextOrder(np.arange(text_count, dtype=np.uint32), is_first)

    substitutes = np.zeros(text_count, np.uint32)
    substitutes[accented.indices] = np.arange(1, len(accented.indices) + 1)
    texts = ComparedTexts(
        data=data,
        offsets=offsets,
        byte_map=LOWER_CASE,
        substitutes=substitutes,
        substitute_data=accented.data,
        substitute_offsets=np.concatenate([[0], accented.offsets]),
    )
    return _sort_groups(texts, single_group)


def _sort_groups(texts: ComparedTexts, groups: TextOrder) -> TextOrder:
    """Sort the texts of each group, and divide it into groups of equal texts; the arrays of `groups` are changed."""
    unsorted_places = np.arange(len(groups.order), dtype=np.uint32)
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
    texts: ComparedTexts, groups: TextOrder, places: NDArray[np.uint32], depths: NDArray[np.int32]
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
    texts: ComparedTexts, groups: TextOrder, places: NDArray[np.uint32], depths: NDArray[np.int32]
) -> None:
    """Sort the groups at some places by the seven bytes after the first `depths` ones, and divide them, in place."""
    indices = groups.order[places]
    chunks = np.empty(len(indices), np.uint64)
    text_sort_kernels.read_chunks(texts, indices, depths, chunks)

    scratch = TextChunks(np.empty_like(indices), np.empty_like(chunks))
    text_sort_kernels.sort_groups(TextChunks(indices, chunks), groups.is_first[places], scratch)
    groups.order[places] = indices

    # A new group begins where these bytes differ from those of the text before.
    groups.is_first[places[1:]] |= chunks[1:] != chunks[:-1]
