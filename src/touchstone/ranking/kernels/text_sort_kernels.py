"""Texts as bytes: comparing them without case, copying them into another order, and listing their trigrams."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES: Final = 7
"""How many bytes of a text are compared at once."""
SAME_TEXT: Final = 2**31 - 1
"""The length of the common beginning of two texts that do not differ."""
TRIGRAM_BUCKETS: Final = 1 << 14
_TRIGRAM_MULTIPLIER: Final = 2654435761  # Knuth's multiplicative hash: 2**32 divided by the golden ratio
_WORD_MASK: Final = 2**32 - 1


class ComparedTexts(NamedTuple):
    """Texts as they are compared.

    Attributes:
        data, offsets: The bytes of all texts, where each begins, and at the end where the last one ends.
        byte_map: What each byte counts as, such as the lower-case letter for an upper-case one.
        accented_numbers: For each text 0, or 1 plus the index of the text that it is compared as instead.
        accented_data, accented_offsets: The bytes of these texts, where each begins, and where the last one ends.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    byte_map: NDArray[np.uint8]
    accented_numbers: NDArray[np.uint32]
    accented_data: NDArray[np.uint8]
    accented_offsets: NDArray[np.int64]


def byte_at(texts: ComparedTexts, text: int, index: int) -> int:
    """Return a byte of a text as it is compared; -1 behind its end."""
    accented_number = int(texts.accented_numbers[text])
    if accented_number:
        accented_place = texts.accented_offsets[accented_number - 1] + index
        if accented_place >= texts.accented_offsets[accented_number]:
            return -1
        return int(texts.accented_data[accented_place])

    place = texts.offsets[text] + index
    if place >= texts.offsets[text + 1]:
        return -1
    return int(texts.byte_map[texts.data[place]])


def read_chunks(
    texts: ComparedTexts, order: NDArray[np.uint32], depths: NDArray[np.int32], chunks: NDArray[np.uint64]
) -> None:
    """Write seven bytes of each text as one number, so that the numbers are in the order of the texts.

    `order` lists the texts, and `depths` where in each of them the seven bytes begin. The lowest byte of a number says
    how many bytes there are, so that a text that ends comes before all that go on.
    """
    for i in range(len(order)):
        text = int(order[i])
        number = np.uint64(0)
        count = 0
        for index in range(CHUNK_BYTES):
            byte = byte_at(texts, text, depths[i] + index)
            if byte >= 0:
                count += 1
            number = (number << np.uint64(8)) | np.uint64(max(byte, 0))
        chunks[i] = (number << np.uint64(8)) | np.uint64(count)


def measure_common_beginnings(
    texts: ComparedTexts,
    order: NDArray[np.uint32],
    depths: NDArray[np.int32],
    is_first: NDArray[np.bool_],
    lengths: NDArray[np.int32],
) -> None:
    """Write how many bytes each text has in common with the one before it, or SAME_TEXT if they do not differ.

    They are known to have the first `depths` bytes in common. The first text of a group is not compared, and its length
    is SAME_TEXT.
    """
    for i in range(len(order)):
        if is_first[i]:
            lengths[i] = SAME_TEXT
        else:
            lengths[i] = common_length(texts, int(order[i - 1]), int(order[i]), int(depths[i]))


def common_length(texts: ComparedTexts, first: int, second: int, depth: int) -> int:
    """Return how many bytes two texts have in common, at least `depth`; SAME_TEXT if they do not differ."""
    if texts.accented_numbers[first] == 0 and texts.accented_numbers[second] == 0:
        return common_plain_length(texts, first, second, depth)

    index = depth
    byte = byte_at(texts, first, index)
    while byte == byte_at(texts, second, index):
        if byte < 0:
            return SAME_TEXT
        index += 1
        byte = byte_at(texts, first, index)
    return index


def common_plain_length(texts: ComparedTexts, first: int, second: int, depth: int) -> int:
    """Return the same as `common_length` for two texts that are both compared as they are stored, in less time."""
    data, byte_map = texts.data, texts.byte_map
    place, end = texts.offsets[first] + depth, texts.offsets[first + 1]
    other_place, other_end = texts.offsets[second] + depth, texts.offsets[second + 1]

    while place < end and other_place < other_end:
        if data[place] != data[other_place] and byte_map[data[place]] != byte_map[data[other_place]]:
            break
        place += 1
        other_place += 1

    if place == end and other_place == other_end:
        return SAME_TEXT
    return int(place - texts.offsets[first])


def copy_texts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], order: NDArray[np.int64], copied_data: NDArray[np.uint8]
) -> None:
    """Copy the texts in `order` into `copied_data`, one after the other."""
    copied_end = 0
    for i in range(len(order)):
        for place in range(offsets[order[i]], offsets[order[i] + 1]):
            copied_data[copied_end] = data[place]
            copied_end += 1


def mark_trigrams(
    data: NDArray[np.uint8],
    borders: NDArray[np.int64],
    byte_map: NDArray[np.uint8],
    signatures: NDArray[np.uint8],
) -> None:
    """Set the bit of a leaf in the row of each trigram, three bytes in a row, of the bytes that belong to the leaf.

    `borders` says where the bytes of each leaf begin, and at the end where those of the last one end. `byte_map` makes
    letters lower-case.
    """
    for leaf in range(len(borders) - 1):
        leaf_bit = np.uint8(1 << (leaf & 7))
        for place in range(borders[leaf], borders[leaf + 1] - 2):
            first, second, third = byte_map[data[place]], byte_map[data[place + 1]], byte_map[data[place + 2]]
            trigram = (int(first) << 16) | (int(second) << 8) | int(third)
            signatures[trigram_bucket(trigram), leaf >> 3] |= leaf_bit


def trigram_bucket(trigram: int) -> int:
    """Return the row of the signatures that a trigram, a number of 24 bits, belongs to."""
    product = (trigram * _TRIGRAM_MULTIPLIER) & _WORD_MASK
    return (product >> 12) & (TRIGRAM_BUCKETS - 1)
