"""Kernels for postings, which are packed lists of the records that contain each word.

A posting consists of the position of a record that contains a word, and the weight of the word there. The packed
postings of a word begin with one byte, its most frequent weight. The postings follow in ascending order of position.
Each posting is encoded as a number and, if its weight is not the most frequent one, a byte with its weight:

- The number is twice the gap between this position and the previous one (the number of positions in between), plus 1 if
  the weight follows.
- Numbers are encoded as LEB128: seven bits in each byte, lowest bits first, with the highest bit set in all bytes but
  the last.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import Words, set_bit
from touchstone.ranking.text.words import MAX_LENGTH, MAX_WEIGHT

WEIGHT_VALUES: Final = 256
"""The number of different weights, including the bit for words of the name."""
_NUMBER_BITS: Final = 7
_LOWEST_BITS: Final = 0x7F
_CONTINUATION_BIT: Final = 0x80


class RecordPostings(NamedTuple):
    """The words of records, record by record.

    Attributes:
        order: the number of the record at each position.
        starts: the start of each record's words in `numbers` and `weights`.
        ends: the end of each record's words in `numbers` and `weights`.
        numbers: the numbers of the words of all records.
        weights: the weights of these words.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[Any]
    weights: NDArray[np.uint8]


class WordRange(NamedTuple):
    """The consecutive words from `first` to before `end`."""

    first: int
    end: int


class WordPostings(NamedTuple):
    """The unpacked postings of words, word by word.

    Attributes:
        starts: the start of each word's postings in the other arrays, followed by the end of the last ones.
        positions: the positions of the records, ascending for each word.
        weights: the weight of the word in each of these records.
    """

    starts: NDArray[np.int64]
    positions: NDArray[np.uint32]
    weights: NDArray[np.uint8]


def write_postings(
    records: RecordPostings, write_positions: NDArray[np.int64], postings: WordPostings, lengths: NDArray[np.uint16]
) -> None:
    """Write the postings of each word, and the length of each record.

    Args:
        records: the words of the records.
        write_positions: the index of the next posting of each word, by the number of the word; modified in place.
        postings: the postings, written by this function.
        lengths: the length of the record at each position, written by this function.
    """
    for position in range(len(records.order)):
        record = records.order[position]
        length = 0
        for i in range(records.starts[record], records.ends[record]):
            number = records.numbers[i]
            postings.positions[write_positions[number]] = position
            postings.weights[write_positions[number]] = records.weights[i]
            write_positions[number] += 1
            length += records.weights[i] & MAX_WEIGHT
        lengths[position] = min(length, MAX_LENGTH)


def measure_postings(
    postings: WordPostings,
    weight_counts: NDArray[np.int64],
    common_weights: NDArray[np.uint8],
    packed_starts: NDArray[np.int64],
) -> None:
    """Compute the most frequent weight of each word, and the start of its packed postings.

    Args:
        postings: the postings of all words.
        weight_counts: scratch space with WEIGHT_VALUES elements, which must be zero.
        common_weights: the most frequent weight of each word, written by this function.
        packed_starts: the start of each word's packed postings, followed by the end of the last ones; written by this
            function.
    """
    packed_starts[0] = 0
    for word in range(len(common_weights)):
        first, end = postings.starts[word], postings.starts[word + 1]
        common_weight = most_frequent_weight(postings.weights[first:end], weight_counts)
        common_weights[word] = common_weight

        size = 1
        for i in range(first, end):
            has_uncommon_weight = int(postings.weights[i] != common_weight)
            number = 2 * position_gap(postings.positions, first, i) + has_uncommon_weight
            size += number_size(number) + has_uncommon_weight
        packed_starts[word + 1] = packed_starts[word] + size


def most_frequent_weight(weights: NDArray[np.uint8], weight_counts: NDArray[np.int64]) -> int:
    """Return the most frequent weight.

    `weight_counts` is scratch space that contains zeros before and after.
    """
    most_frequent = 0
    for i in range(len(weights)):
        weight = int(weights[i])
        weight_counts[weight] += 1
        if weight_counts[weight] > weight_counts[most_frequent]:
            most_frequent = weight

    for i in range(len(weights)):
        weight_counts[weights[i]] = 0
    return most_frequent


def position_gap(positions: NDArray[np.uint32], first: int, i: int) -> int:
    """Return the number of positions between posting `i` and the previous posting of its word.

    The postings of the word begin at index `first`. For the first one, all lower positions count.
    """
    if i == first:
        return int(positions[i])
    return int(positions[i]) - int(positions[i - 1]) - 1


def number_size(number: int) -> int:
    """Return the size of an encoded number in bytes."""
    size = 1
    while number > _LOWEST_BITS:
        number >>= _NUMBER_BITS
        size += 1
    return size


def pack_postings(
    postings: WordPostings,
    common_weights: NDArray[np.uint8],
    packed_starts: NDArray[np.int64],
    packed: NDArray[np.uint8],
) -> None:
    """Write the packed postings of all words into `packed`, given the results of `measure_postings`."""
    for word in range(len(common_weights)):
        first, end = postings.starts[word], postings.starts[word + 1]
        offset = packed_starts[word]
        packed[offset] = common_weights[word]
        offset += 1

        for i in range(first, end):
            has_uncommon_weight = postings.weights[i] != common_weights[word]
            number = 2 * position_gap(postings.positions, first, i) + int(has_uncommon_weight)
            offset = write_number(number, packed, offset)
            if has_uncommon_weight:
                packed[offset] = postings.weights[i]
                offset += 1


def write_number(number: int, packed: NDArray[np.uint8], offset: int) -> int:
    """Write a number into `packed` at an offset, and return the offset after it."""
    while number > _LOWEST_BITS:
        packed[offset] = (number & _LOWEST_BITS) | _CONTINUATION_BIT
        number >>= _NUMBER_BITS
        offset += 1
    packed[offset] = number
    return offset + 1


def read_number(packed: NDArray[np.uint8], offset: int) -> tuple[int, int]:
    """Return the number at an offset, and the offset after it."""
    number = 0
    shift = 0
    byte = int(packed[offset])
    while byte & _CONTINUATION_BIT:
        number |= (byte & _LOWEST_BITS) << shift
        shift += _NUMBER_BITS
        offset += 1
        byte = int(packed[offset])
    return number | (byte << shift), offset + 1


def read_posting(
    packed: NDArray[np.uint8], offset: int, previous_position: int, common_weight: int
) -> tuple[int, int, int]:
    """Return the position and the weight of the posting at an offset, and the offset after it.

    `previous_position` is the position of the previous posting of the word, or -1 for the first one.
    """
    number, offset = read_number(packed, offset)
    position = previous_position + 1 + (number >> 1)
    if number & 1:
        return position, int(packed[offset]), offset + 1
    return position, common_weight, offset


def unpack_postings(packed: NDArray[np.uint8], packed_starts: NDArray[Any], postings: WordPostings) -> None:
    """Unpack the postings of all words into `postings`.

    Args:
        packed: the packed postings.
        packed_starts: the start of each word's packed postings, followed by the end of the last ones.
        postings: the unpacked postings, written by this function; the arrays must have sufficient length.
    """
    count = 0
    for word in range(len(packed_starts) - 1):
        postings.starts[word] = count
        offset, end = int(packed_starts[word]), int(packed_starts[word + 1])
        common_weight = int(packed[offset])
        offset += 1

        position = -1
        while offset < end:
            position, weight, offset = read_posting(packed, offset, position, common_weight)
            postings.positions[count] = position
            postings.weights[count] = weight
            count += 1
    postings.starts[len(packed_starts) - 1] = count


def mark_records(
    packed: NDArray[np.uint8], packed_starts: NDArray[Any], words: WordRange, lowest_weight: int, bitmap: Words
) -> None:
    """Set the bits of the records that contain any word of a range with a minimum weight.

    Args:
        packed: the packed postings of all words.
        packed_starts: the start of each word's packed postings, followed by the end of the last ones.
        words: the range of words.
        lowest_weight: the minimum weight.
        bitmap: the bitmap of all records, modified in place.
    """
    for word in range(words.first, words.end):
        offset, end = int(packed_starts[word]), int(packed_starts[word + 1])
        common_weight = int(packed[offset])
        offset += 1

        position = -1
        while offset < end:
            position, weight, offset = read_posting(packed, offset, position, common_weight)
            if weight >= lowest_weight:
                set_bit(bitmap, position)


def add_weights(
    packed: NDArray[np.uint8], similarity: int, positions: NDArray[np.int64], weight_sums: NDArray[np.int64]
) -> None:
    """Add the weight of a word in each record, multiplied by its similarity to a query word, to `weight_sums`.

    Args:
        packed: the packed postings of the word.
        similarity: the similarity of the word to the word of the query.
        positions: the ascending positions of the records.
        weight_sums: the sum for each of these records, modified in place.
    """
    common_weight = int(packed[0])
    offset = 1

    # Both lists are sorted, so a single pass finds the records that are in both.
    position = -1
    record = 0
    while offset < len(packed) and record < len(positions):
        position, weight, offset = read_posting(packed, offset, position, common_weight)

        while record < len(positions) and positions[record] < position:
            record += 1
        if record < len(positions) and positions[record] == position:
            weight_sums[record] += (weight & MAX_WEIGHT) * similarity
