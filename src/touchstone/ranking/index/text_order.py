"""Sorting the texts of many records without a Python object for each of them.

Texts that are equal so far form a group; at first there is only one. Each round measures the beginning that all texts
of a group have in common, sorts the group by the seven bytes after it, and divides it where these bytes differ. So long
texts that begin alike are not read again and again.

Many texts are first divided into parts by their first seven bytes. The texts of a part are copied, so that they lie
together in the cache of the processor while they are sorted.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.array_types import Bools, Ints
from touchstone.ranking.columns.bitmaps import to_smallest_unsigned
from touchstone.ranking.columns.spool import AccentedTexts
from touchstone.ranking.columns.text_pool import Bytes
from touchstone.ranking.columns.trigram_signatures import LOWER_CASE
from touchstone.ranking.kernels import text_sort_kernels
from touchstone.ranking.kernels.text_sort_kernels import SAME_TEXT, ComparedTexts, TextChunks

_TEXTS_PER_PART: Final = 1 << 16
_SAMPLES_PER_PART: Final = 16
_MAX_COPIED_BYTES: Final = 1 << 26  # texts of a part with more bytes than this, which begin alike, are not copied


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


def sort_folded(data: Bytes, offsets: Ints, accented: AccentedTexts, *, thread_count: int = 1) -> TextOrder:
    """Return the order of texts without case and accents; equal texts keep their order.

    `data` and `offsets` are the bytes of all texts, and where each begins; `accented` are those that are not ASCII.
    """
    text_count = len(offsets) - 1
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
    with ThreadPoolExecutor(thread_count, "sort-texts") as threads:
        sorted_parts = [*threads.map(lambda indices: _sort_part(texts, indices), _divide(texts))]

    order = np.concatenate([part.order for part in sorted_parts])
    is_first = np.concatenate([part.is_first for part in sorted_parts])
    return TextOrder(order, is_first)


def _divide(texts: ComparedTexts) -> list[NDArray[np.uint32]]:
    """Divide texts into parts, so that the texts of each part sort before those of the next one.

    A part lists the indices of its texts in ascending order. Equal texts are in the same part.
    """
    indices = np.arange(len(texts.substitutes), dtype=np.uint32)
    part_count = len(indices) // _TEXTS_PER_PART
    if part_count <= 1:
        return [indices]

    chunks = np.empty(len(indices), np.uint64)
    text_sort_kernels.read_chunks(texts, indices, np.zeros(len(indices), np.int32), chunks)
    # A sample shows at which chunks, the first seven bytes of a text, the parts have about the same size.
    sample_step = max(1, len(chunks) // (part_count * _SAMPLES_PER_PART))
    sample = np.sort(chunks[::sample_step])
    first_chunks = np.unique(sample[_SAMPLES_PER_PART::_SAMPLES_PER_PART])  # of all parts but the first

    part_numbers = to_smallest_unsigned(np.searchsorted(first_chunks, chunks, side="right"))
    by_part = np.argsort(part_numbers, kind="stable").astype(np.uint32)
    part_ends = np.cumsum(np.bincount(part_numbers))
    return np.split(by_part, part_ends[:-1])


def _sort_part(texts: ComparedTexts, indices: NDArray[np.uint32]) -> TextOrder:
    """Return the order of the texts with some indices, which are in ascending order."""
    is_first = np.zeros(len(indices), np.bool_)
    is_first[:1] = True

    lengths = texts.offsets[indices + 1] - texts.offsets[indices]
    if lengths.sum() > _MAX_COPIED_BYTES:
        return _sort_groups(texts, TextOrder(indices, is_first))

    copied_texts = texts._replace(
        data=np.empty(int(lengths.sum()), np.uint8),
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        substitutes=texts.substitutes[indices],
    )
    text_sort_kernels.copy_texts(texts.data, texts.offsets, indices.astype(np.int64), copied_texts.data)
    groups = _sort_groups(copied_texts, TextOrder(np.arange(len(indices), dtype=np.uint32), is_first))
    return TextOrder(indices[groups.order], groups.is_first)


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
