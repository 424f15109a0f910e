"""Kernels that compare texts, copy them, and list their trigrams.

Texts are compared without case and accents: `byte_map` makes ASCII letters lower-case, and texts with other characters
are replaced by copies that have been folded beforehand.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES: Final = 7
"""How many bytes of a text are compared at once."""
SAME_TEXT: Final = 2**31 - 1
"""Stands for the length of the common beginning of two equal texts."""
PAST_END: Final = -1
"""Stands for the byte past the end of a text; it is lower than every byte."""
TRIGRAM_BYTES: Final = 3
TRIGRAM_BUCKETS: Final = 1 << 14
_SHORT_RUN: Final = 16  # so many chunks are sorted by insertion before such runs are merged
_TRIGRAM_MULTIPLIER: Final = 2654435761  # Knuth's multiplicative hash: 2**32 divided by the golden ratio
_WORD_MASK: Final = 2**32 - 1


class ComparedTexts(NamedTuple):
    """Texts, and how they are compared.

    Attributes:
        data, offsets: The bytes of all texts, where each begins, and at the end where the last one ends.
        byte_map: What each byte counts as, such as the lower-case letter for an upper-case one.
        substitutes: For each text the index of the substitute that is compared instead, or 0 if there is none.
        substitute_data, substitute_offsets: The bytes of the substitutes, which are compared without `byte_map`. The
            substitute with the index 0 is an empty text that is not used.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    byte_map: NDArray[np.uint8]
    substitutes: NDArray[np.uint32]
    substitute_data: NDArray[np.uint8]
    substitute_offsets: NDArray[np.int64]


class TextChunks(NamedTuple):
    """Some texts, given by their indices, and a chunk of each."""

    indices: NDArray[np.uint32]
    chunks: NDArray[np.uint64]


def byte_at(texts: ComparedTexts, text: int, index: int) -> int:
    """Return the byte at an index of a text as it is compared, or PAST_END if the text is shorter."""
    substitute = int(texts.substitutes[text])
    if substitute != 0:
        return stored_byte_at(texts.substitute_data, texts.substitute_offsets, substitute, index)

    byte = stored_byte_at(texts.data, texts.offsets, text, index)
    return byte if byte == PAST_END else int(texts.byte_map[byte])


def stored_byte_at(data: NDArray[np.uint8], offsets: NDArray[np.int64], text: int, index: int) -> int:
    """Return the byte at an index of a text as it is stored, or PAST_END if the text is shorter."""
    position = offsets[text] + index
    if position >= offsets[text + 1]:
        return PAST_END
    return int(data[position])


def read_chunks(
    texts: ComparedTexts, indices: NDArray[np.uint32], depths: NDArray[np.int32], chunks: NDArray[np.uint64]
) -> None:
    """Write a chunk of each of some texts, which begins after as many of its bytes as `depths` says."""
    for i in range(len(indices)):
        chunks[i] = read_chunk(texts, int(indices[i]), int(depths[i]))


def read_chunk(texts: ComparedTexts, text: int, depth: int) -> np.uint64:
    """Return the seven bytes of a text after the first `depth` ones as a number, by which such texts can be sorted.

    The first byte is the most significant one. Bytes past the end are 0. The lowest eight bits of the number tell how
    many bytes are not past the end, so that a text sorts before those that continue it.
    """
    chunk = np.uint64(0)
    byte_count = 0
    for index in range(depth, depth + CHUNK_BYTES):
        byte = byte_at(texts, text, index)
        if byte == PAST_END:
            byte = 0
        else:
            byte_count += 1
        chunk = (chunk << np.uint64(8)) | np.uint64(byte)
    return (chunk << np.uint64(8)) | np.uint64(byte_count)


def sort_groups(texts: TextChunks, is_first: NDArray[np.bool_], scratch: TextChunks) -> None:
    """Sort the texts of each group by their chunks, in place; texts with the same chunk keep their order.

    A group begins where `is_first` is true. `scratch` has as many elements as `texts`, and is overwritten.
    """
    start = 0
    for end in range(1, len(is_first) + 1):
        if end == len(is_first) or is_first[end]:
            sort_group(texts, start, end, scratch)
            start = end


def sort_group(texts: TextChunks, start: int, end: int, scratch: TextChunks) -> None:
    """Sort the texts from `start` to before `end` like `sort_groups`: short runs first, which are then merged."""
    for run_start in range(start, end, _SHORT_RUN):
        insert_in_order(texts, run_start, min(run_start + _SHORT_RUN, end))

    run_length = _SHORT_RUN
    while run_length < end - start:
        for run_start in range(start, end - run_length, 2 * run_length):
            merge_neighbours(texts, run_start, run_start + run_length, min(run_start + 2 * run_length, end), scratch)
        run_length *= 2


def insert_in_order(texts: TextChunks, start: int, end: int) -> None:
    """Sort the few texts from `start` to before `end`: each is inserted at its place among those before it."""
    indices, chunks = texts.indices, texts.chunks
    for i in range(start + 1, end):
        index, chunk = indices[i], chunks[i]
        place = i
        while place > start and chunks[place - 1] > chunk:
            indices[place], chunks[place] = indices[place - 1], chunks[place - 1]
            place -= 1
        indices[place], chunks[place] = index, chunk


def merge_neighbours(texts: TextChunks, start: int, middle: int, end: int, scratch: TextChunks) -> None:
    """Merge two sorted runs into one: that from `start` to before `middle`, and that from there to before `end`."""
    indices, chunks = texts.indices, texts.chunks
    if chunks[middle - 1] <= chunks[middle]:
        return

    for i in range(start, middle):
        scratch.indices[i], scratch.chunks[i] = indices[i], chunks[i]

    # The merged run grows from `start` on, and never reaches the next text of the second run before that is taken.
    left, right, place = start, middle, start
    while left < middle:
        if right < end and chunks[right] < scratch.chunks[left]:
            indices[place], chunks[place] = indices[right], chunks[right]
            right += 1
        else:
            indices[place], chunks[place] = scratch.indices[left], scratch.chunks[left]
            left += 1
        place += 1


def measure_common_prefixes(
    texts: ComparedTexts,
    indices: NDArray[np.uint32],
    depths: NDArray[np.int32],
    is_first: NDArray[np.bool_],
    lengths: NDArray[np.int32],
) -> None:
    """Write how many bytes each of some texts has in common with the one before it, or SAME_TEXT if they are equal.

    The first `depths` bytes are known to be the same. A text that is the first of its group is not compared, and its
    length is SAME_TEXT.
    """
    for i in range(len(indices)):
        if is_first[i]:
            lengths[i] = SAME_TEXT
        else:
            lengths[i] = common_length(texts, int(indices[i - 1]), int(indices[i]), int(depths[i]))


def common_length(texts: ComparedTexts, first: int, second: int, depth: int) -> int:
    """Return how many bytes two texts have in common, or SAME_TEXT if they are equal.

    The first `depth` bytes are known to be the same.
    """
    if texts.substitutes[first] == 0 and texts.substitutes[second] == 0:
        return common_plain_length(texts, first, second, depth)

    length = depth
    while True:
        byte = byte_at(texts, first, length)
        if byte != byte_at(texts, second, length):
            return length
        if byte == PAST_END:
            return SAME_TEXT
        length += 1


def common_plain_length(texts: ComparedTexts, first: int, second: int, depth: int) -> int:
    """Return the same as `common_length`, in less time, for two texts without substitutes."""
    data, byte_map = texts.data, texts.byte_map
    first_start, first_end = texts.offsets[first], texts.offsets[first + 1]
    second_start, second_end = texts.offsets[second], texts.offsets[second + 1]
    first_size, second_size = first_end - first_start, second_end - second_start

    length = depth
    while length < first_size and length < second_size:
        first_byte, second_byte = data[first_start + length], data[second_start + length]
        if first_byte != second_byte and byte_map[first_byte] != byte_map[second_byte]:
            return length
        length += 1
    return SAME_TEXT if first_size == second_size else length


def copy_texts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], indices: NDArray[np.int64], target: NDArray[np.uint8]
) -> None:
    """Copy the bytes of some texts into the target, one text after the other."""
    target_end = 0
    for index in indices:
        for position in range(offsets[index], offsets[index + 1]):
            target[target_end] = data[position]
            target_end += 1


def mark_trigrams(
    data: NDArray[np.uint8],
    borders: NDArray[np.int64],
    byte_map: NDArray[np.uint8],
    signatures: NDArray[np.uint8],
) -> None:
    """Mark which trigrams, three bytes in a row, occur in the bytes of each leaf.

    `borders` says where the bytes of each leaf begin, and at the end where those of the last one end. `byte_map` makes
    letters lower-case. `signatures` has a row for each bucket of trigrams, in which each leaf has a bit.
    """
    for leaf in range(len(borders) - 1):
        leaf_byte, leaf_bit = leaf >> 3, np.uint8(1 << (leaf & 7))
        end_of_beginnings = borders[leaf + 1] - TRIGRAM_BYTES + 1  # the last trigram begins before this byte
        for position in range(borders[leaf], end_of_beginnings):
            first, second, third = byte_map[data[position]], byte_map[data[position + 1]], byte_map[data[position + 2]]
            trigram = (int(first) << 16) | (int(second) << 8) | int(third)
            signatures[trigram_bucket(trigram), leaf_byte] |= leaf_bit


def trigram_bucket(trigram: int) -> int:
    """Return the bucket of a trigram, a number of 24 bits: the row of the signatures that it is marked in."""
    product = (trigram * _TRIGRAM_MULTIPLIER) & _WORD_MASK
    return (product >> 12) & (TRIGRAM_BUCKETS - 1)
