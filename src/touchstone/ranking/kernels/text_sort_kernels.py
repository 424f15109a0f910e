"""Kernels that sort texts, copy them, and mark their trigrams.

Texts are compared without case and accents: `byte_map` converts ASCII letters to lower case, and texts with other
characters are replaced by folded copies.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES: Final = 7
"""The number of bytes of a text that are compared together."""
SAME_TEXT: Final = 2**31 - 1
"""The result for the common prefix length of two equal texts."""
PAST_END: Final = -1
"""The result for a byte past the end of a text, which is lower than every byte."""
TRIGRAM_BYTES: Final = 3
TRIGRAM_BUCKETS: Final = 1 << 14
TRIGRAM_MULTIPLIER: Final = 2654435761  # Knuth's multiplicative hash: 2**32 divided by the golden ratio
TRIGRAM_SHIFT: Final = 12  # skips the low bits of a product, which depend only on the low bits of the trigram
_SHORT_RUN: Final = 16  # length of the runs that are sorted by insertion before they are merged
_WORD_MASK: Final = 2**32 - 1


class ComparedTexts(NamedTuple):
    """Texts and their forms for comparison.

    Attributes:
        data: the bytes of all texts.
        offsets: the start of each text, followed by the end of the last one.
        byte_map: the replacement of each byte for comparison, for example the lower case of an upper-case letter.
        substitutes: the index of the substitute that replaces each text for comparison, or 0 if there is none.
        substitute_data: the bytes of the substitutes, which are compared without `byte_map`.
        substitute_offsets: the start of each substitute, followed by the end of the last one. The substitute at index 0
            is an empty placeholder.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    byte_map: NDArray[np.uint8]
    substitutes: NDArray[np.uint32]
    substitute_data: NDArray[np.uint8]
    substitute_offsets: NDArray[np.int64]


class TextChunks(NamedTuple):
    """The indices of texts, and a chunk of each of these texts."""

    indices: NDArray[np.uint32]
    chunks: NDArray[np.uint64]


def byte_at(texts: ComparedTexts, text: int, index: int) -> int:
    """Return the byte at an index of a text's form for comparison, or PAST_END if the text is shorter."""
    substitute = int(texts.substitutes[text])
    if substitute != 0:
        return stored_byte_at(texts.substitute_data, texts.substitute_offsets, substitute, index)

    byte = stored_byte_at(texts.data, texts.offsets, text, index)
    return byte if byte == PAST_END else int(texts.byte_map[byte])


def stored_byte_at(data: NDArray[np.uint8], offsets: NDArray[np.int64], text: int, index: int) -> int:
    """Return the byte at an index of a stored text, or PAST_END if the text is shorter."""
    position = offsets[text] + index
    if position >= offsets[text + 1]:
        return PAST_END
    return int(data[position])


def read_chunks(
    texts: ComparedTexts, indices: NDArray[np.uint32], prefix_lengths: NDArray[np.int32], chunks: NDArray[np.uint64]
) -> None:
    """Read the chunk that follows the prefix of each text, and write it into `chunks`.

    Args:
        texts: all texts that are being sorted.
        indices: the indices of the texts to read.
        prefix_lengths: the length of the prefix of each of these texts, in bytes.
        chunks: the chunk of each of these texts, written by this function.
    """
    for i in range(len(indices)):
        chunks[i] = read_chunk(texts, int(indices[i]), int(prefix_lengths[i]))


def read_chunk(texts: ComparedTexts, text: int, prefix_length: int) -> np.uint64:
    """Return the seven bytes of a text after its first `prefix_length` bytes as an integer for sorting.

    The first byte is the most significant one. Bytes past the end are 0. The lowest eight bits are the number of bytes
    before the end, so that a text sorts before its extensions.
    """
    chunk = np.uint64(0)
    byte_count = 0
    for index in range(prefix_length, prefix_length + CHUNK_BYTES):
        byte = byte_at(texts, text, index)
        if byte == PAST_END:
            byte = 0
        else:
            byte_count += 1
        chunk = (chunk << np.uint64(8)) | np.uint64(byte)
    return (chunk << np.uint64(8)) | np.uint64(byte_count)


def sort_groups(texts: TextChunks, is_first: NDArray[np.bool_], scratch: TextChunks) -> None:
    """Sort the texts of each group stably by their chunks, in place.

    Args:
        texts: the texts and their chunks, modified in place.
        is_first: whether each text is the first one of its group.
        scratch: scratch space with as many elements as `texts`.
    """
    start = 0
    for end in range(1, len(is_first) + 1):
        if end == len(is_first) or is_first[end]:
            sort_group(texts, start, end, scratch)
            start = end


def sort_group(texts: TextChunks, start: int, end: int, scratch: TextChunks) -> None:
    """Sort the texts from `start` to before `end` with a merge sort that begins with short sorted runs."""
    for run_start in range(start, end, _SHORT_RUN):
        insertion_sort(texts, run_start, min(run_start + _SHORT_RUN, end))

    run_length = _SHORT_RUN
    while run_length < end - start:
        for run_start in range(start, end - run_length, 2 * run_length):
            merge_runs(texts, run_start, run_start + run_length, min(run_start + 2 * run_length, end), scratch)
        run_length *= 2


def insertion_sort(texts: TextChunks, start: int, end: int) -> None:
    """Sort the texts from `start` to before `end` by insertion."""
    indices, chunks = texts.indices, texts.chunks
    for i in range(start + 1, end):
        index, chunk = indices[i], chunks[i]
        target = i
        while target > start and chunks[target - 1] > chunk:
            indices[target], chunks[target] = indices[target - 1], chunks[target - 1]
            target -= 1
        indices[target], chunks[target] = index, chunk


def merge_runs(texts: TextChunks, start: int, middle: int, end: int, scratch: TextChunks) -> None:
    """Merge two adjacent sorted runs, from `start` to before `middle` and from `middle` to before `end`."""
    indices, chunks = texts.indices, texts.chunks
    if chunks[middle - 1] <= chunks[middle]:
        return

    for i in range(start, middle):
        scratch.indices[i], scratch.chunks[i] = indices[i], chunks[i]

    # The first run has been copied, so the merged run never overwrites an element that is still needed.
    left, right, target = start, middle, start
    while left < middle:
        if right < end and chunks[right] < scratch.chunks[left]:
            indices[target], chunks[target] = indices[right], chunks[right]
            right += 1
        else:
            indices[target], chunks[target] = scratch.indices[left], scratch.chunks[left]
            left += 1
        target += 1


def measure_common_prefixes(
    texts: ComparedTexts,
    indices: NDArray[np.uint32],
    prefix_lengths: NDArray[np.int32],
    is_first: NDArray[np.bool_],
    lengths: NDArray[np.int32],
) -> None:
    """Write the length of the prefix that each text shares with the previous one, or SAME_TEXT if they are equal.

    Args:
        texts: all texts that are being sorted.
        indices: the indices of the texts to compare.
        prefix_lengths: for each of them, a prefix length in bytes that is known to be shared.
        is_first: whether each of them is the first one of its group, which is not compared.
        lengths: the lengths in bytes, written by this function; SAME_TEXT for the first text of a group.
    """
    for i in range(len(indices)):
        if is_first[i]:
            lengths[i] = SAME_TEXT
        else:
            lengths[i] = common_prefix_length(texts, int(indices[i - 1]), int(indices[i]), int(prefix_lengths[i]))


def common_prefix_length(texts: ComparedTexts, first: int, second: int, prefix_length: int) -> int:
    """Return the length of the prefix shared by two texts in bytes, or SAME_TEXT if they are equal.

    The first `prefix_length` bytes are known to be equal.
    """
    if texts.substitutes[first] == 0 and texts.substitutes[second] == 0:
        return common_prefix_length_without_substitutes(texts, first, second, prefix_length)

    length = prefix_length
    while True:
        byte = byte_at(texts, first, length)
        if byte != byte_at(texts, second, length):
            return length
        if byte == PAST_END:
            return SAME_TEXT
        length += 1


def common_prefix_length_without_substitutes(texts: ComparedTexts, first: int, second: int, prefix_length: int) -> int:
    """Return the result of `common_prefix_length` for two texts without substitutes, which is faster."""
    data, byte_map = texts.data, texts.byte_map
    first_start, first_end = texts.offsets[first], texts.offsets[first + 1]
    second_start, second_end = texts.offsets[second], texts.offsets[second + 1]
    first_size, second_size = first_end - first_start, second_end - second_start

    length = prefix_length
    while length < first_size and length < second_size:
        first_byte, second_byte = data[first_start + length], data[second_start + length]
        if first_byte != second_byte and byte_map[first_byte] != byte_map[second_byte]:
            return length
        length += 1
    return SAME_TEXT if first_size == second_size else length


def copy_texts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], indices: NDArray[np.int64], target: NDArray[np.uint8]
) -> None:
    """Concatenate the bytes of the texts at the given indices in `target`."""
    target_end = 0
    for index in indices:
        for position in range(offsets[index], offsets[index + 1]):
            target[target_end] = data[position]
            target_end += 1


def mark_trigrams(
    data: NDArray[np.uint8],
    boundaries: NDArray[np.int64],
    byte_map: NDArray[np.uint8],
    signatures: NDArray[np.uint8],
) -> None:
    """Mark the trigrams (sequences of three bytes) that occur in each leaf.

    Args:
        data: the bytes of all leaves.
        boundaries: the start of each leaf's bytes, followed by the end of the last ones.
        byte_map: the replacement of each byte, which converts letters to lower case.
        signatures: one row for each trigram bucket, with one bit for each leaf; modified in place.
    """
    for leaf in range(len(boundaries) - 1):
        leaf_byte, leaf_bit = leaf >> 3, np.uint8(1 << (leaf & 7))
        trigram_end = boundaries[leaf + 1] - TRIGRAM_BYTES + 1  # the last trigram must begin before this byte
        for position in range(boundaries[leaf], trigram_end):
            first, second, third = byte_map[data[position]], byte_map[data[position + 1]], byte_map[data[position + 2]]
            trigram = (int(first) << 16) | (int(second) << 8) | int(third)
            signatures[trigram_bucket(trigram), leaf_byte] |= leaf_bit


def trigram_bucket(trigram: int) -> int:
    """Return the bucket of a trigram, given as a 24-bit number, which is its row in the signatures."""
    product = (trigram * TRIGRAM_MULTIPLIER) & _WORD_MASK
    return (product >> TRIGRAM_SHIFT) & (TRIGRAM_BUCKETS - 1)
