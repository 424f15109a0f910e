"""Sorting the strings of many records without a Python object for each string.

Strings not yet distinguished from each other form a group; at first there is only one group. Each round measures the
prefix shared by all strings of a group, sorts the group by the seven bytes after it, and splits the group where these
bytes differ. A long shared prefix is therefore read only once.

Large inputs are first divided into parts by their first seven bytes. The strings of a part are copied next to each
other, so that they fit into the CPU cache while they are sorted.
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
_MAX_COPIED_BYTES: Final = 1 << 26  # larger parts, which consist of long strings with equal beginnings, are not copied


@dataclass(frozen=True, slots=True)
class TextOrder:
    """The sorted order of strings, divided into groups of equal strings.

    Attributes:
        order: the indices of the strings, sorted by the strings in ascending order.
        is_first: for each position in `order`, whether its string is the first of a group of equal strings.
    """

    order: NDArray[np.uint32]
    is_first: Bools

    def ranks(self) -> NDArray[np.uint32]:
        """Return the zero-based rank of each string, which equal strings share."""
        ranks = np.empty(len(self.order), np.uint32)
        ranks[self.order] = np.cumsum(self.is_first, dtype=np.uint32) - 1
        return ranks


def sort_folded(data: Bytes, offsets: Ints, accented: AccentedTexts, *, thread_count: int = 1) -> TextOrder:
    """Sort strings stably, ignoring case and accents.

    Args:
        data: the UTF-8 bytes of all strings.
        offsets: the start of each string in `data`, followed by the end of the last one.
        accented: the folded form of the strings that are not plain ASCII.
        thread_count: the number of threads that sort parts in parallel.
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
        sorted_parts = list(threads.map(lambda indices: _sort_part(texts, indices), _divide_into_parts(texts)))

    order = np.concatenate([part.order for part in sorted_parts])
    is_first = np.concatenate([part.is_first for part in sorted_parts])
    return TextOrder(order, is_first)


def _divide_into_parts(texts: ComparedTexts) -> list[NDArray[np.uint32]]:
    """Divide strings into parts such that every string of a part sorts before every string of the next part.

    Returns:
        the indices of the strings in each part, in ascending order. Equal strings are in the same part.
    """
    indices = np.arange(len(texts.substitutes), dtype=np.uint32)
    part_count = len(indices) // _TEXTS_PER_PART
    if part_count <= 1:
        return [indices]

    chunks = np.empty(len(indices), np.uint64)
    text_sort_kernels.read_chunks(texts, indices, np.zeros(len(indices), np.int32), chunks)
    # A chunk is the first seven bytes of a string. A sample of chunks yields boundaries for parts of similar size.
    sample_step = max(1, len(chunks) // (part_count * _SAMPLES_PER_PART))
    sample = np.sort(chunks[::sample_step])
    first_chunks = np.unique(sample[_SAMPLES_PER_PART::_SAMPLES_PER_PART])  # lower bounds of all parts but the first

    part_numbers = to_smallest_unsigned(np.searchsorted(first_chunks, chunks, side="right"))
    by_part = np.argsort(part_numbers, kind="stable").astype(np.uint32)
    part_ends = np.cumsum(np.bincount(part_numbers))
    return np.split(by_part, part_ends[:-1])


def _sort_part(texts: ComparedTexts, indices: NDArray[np.uint32]) -> TextOrder:
    """Sort the strings at the given ascending indices."""
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
    """Sort the strings within each group and split it into groups of equal strings, modifying `groups` in place."""
    unsorted_positions = np.arange(len(groups.order), dtype=np.uint32)
    known_prefix_lengths = np.zeros(len(groups.order), np.int32)
    while len(unsorted_positions):
        common_lengths = _common_prefix_lengths(texts, groups, unsorted_positions, known_prefix_lengths)

        # Single strings and groups of equal strings need no further sorting.
        is_unsorted = common_lengths < SAME_TEXT
        unsorted_positions = unsorted_positions[is_unsorted]
        known_prefix_lengths = common_lengths[is_unsorted]
        _sort_by_next_bytes(texts, groups, unsorted_positions, known_prefix_lengths)
    return groups


def _common_prefix_lengths(
    texts: ComparedTexts, groups: TextOrder, positions: NDArray[np.uint32], known_prefix_lengths: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return, for each position, the length of the prefix shared by all strings in its group.

    Args:
        texts: the strings.
        groups: their current order and groups.
        positions: the positions of the groups in that order. They cover whole groups.
        known_prefix_lengths: for each position, a prefix length in bytes that its group is known to share.

    Returns:
        lengths in bytes, or SAME_TEXT if all strings of the group are equal.
    """
    is_first = groups.is_first[positions]
    lengths = np.empty(len(positions), np.int32)
    text_sort_kernels.measure_common_prefixes(texts, groups.order[positions], known_prefix_lengths, is_first, lengths)

    group_starts = np.flatnonzero(is_first)
    group_sizes = np.diff(group_starts, append=len(positions))
    common_lengths = np.minimum.reduceat(lengths, group_starts)
    return np.repeat(common_lengths, group_sizes)


def _sort_by_next_bytes(
    texts: ComparedTexts, groups: TextOrder, positions: NDArray[np.uint32], known_prefix_lengths: NDArray[np.int32]
) -> None:
    """Sort the groups at the given positions by the seven bytes after their prefix, and split them."""
    indices = groups.order[positions]
    chunks = np.empty(len(indices), np.uint64)
    text_sort_kernels.read_chunks(texts, indices, known_prefix_lengths, chunks)

    scratch = TextChunks(np.empty_like(indices), np.empty_like(chunks))
    text_sort_kernels.sort_groups(TextChunks(indices, chunks), groups.is_first[positions], scratch)
    groups.order[positions] = indices

    # A new group begins where these bytes differ from the bytes of the previous string.
    groups.is_first[positions[1:]] |= chunks[1:] != chunks[:-1]
