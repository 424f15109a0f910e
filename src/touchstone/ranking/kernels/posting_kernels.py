"""Postings: in which records each word is, and its weight there, packed into few bytes.

A posting is the position of a record that contains a word, and the weight that the word has there. The packed postings
of a word begin with one byte, the weight that it has most often. The postings follow by ascending position, each as one
number and sometimes one byte:

- The number is twice the count of positions that are skipped since the last posting. If the weight is not the usual
  one, 1 is added, and the byte behind the number holds the weight.
- A number takes one byte for every seven bits, the lowest first. The highest bit of a byte says that more bytes follow
  (this encoding is called LEB128).
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from touchstone.ranking.kernels.bits import Words, set_bit

WEIGHT_BITS: Final = 0x7F
LARGEST_LENGTH: Final = 65535
WEIGHT_LIMIT: Final = 256
_NUMBER_BITS: Final = 7
_LOWEST_BITS: Final = 0x7F
_CONTINUATION_BIT: Final = 0x80


class RecordPostings(NamedTuple):
    """The words of some records.

    Attributes:
        order: For each position the number of the record at it.
        starts, ends: For each record where its words are in the other arrays.
        numbers, weights: The words of all records and their weights.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    numbers: NDArray[Any]
    weights: NDArray[np.uint8]


class WordRange(NamedTuple):
    """Some words that follow one another in the order of all words: those from `first` to before `end`."""

    first: int
    end: int


class WordPostings(NamedTuple):
    """The records of some words, not packed.

    Attributes:
        starts: Where the records of each word begin in the other arrays, and at the end where the last ones end.
        positions: The positions of the records of all words, ascending for each word.
        weights: The weight of the word in each of these records.
    """

    starts: NDArray[np.int64]
    positions: NDArray[np.uint32]
    weights: NDArray[np.uint8]


def write_postings(
    records: RecordPostings, write_positions: NDArray[np.int64], postings: WordPostings, lengths: NDArray[np.uint16]
) -> None:
    """List the records of each word by ascending position, with its weight, and fill in the length of each record.

    `write_positions` holds for each word where its next record goes. It is changed.
    """
    for position in range(len(records.order)):
        record = records.order[position]
        length = 0
        for place in range(records.starts[record], records.ends[record]):
            number = records.numbers[place]
            postings.positions[write_positions[number]] = position
            postings.weights[write_positions[number]] = records.weights[place]
            write_positions[number] += 1
            length += records.weights[place] & WEIGHT_BITS
        lengths[position] = min(length, LARGEST_LENGTH)


def measure_postings(
    postings: WordPostings,
    weight_counts: NDArray[np.int64],
    usual_weights: NDArray[np.uint8],
    packed_starts: NDArray[np.int64],
) -> None:
    """Write the usual weight of each word, and where its packed postings are to begin.

    `packed_starts` has one more element: the end of the postings of the last word. `weight_counts` is needed for
    counting and must hold WEIGHT_LIMIT zeros.
    """
    packed_starts[0] = 0
    for word in range(len(usual_weights)):
        first, end = postings.starts[word], postings.starts[word + 1]
        usual_weight = most_frequent_weight(postings.weights[first:end], weight_counts)
        usual_weights[word] = usual_weight

        size = 1
        for i in range(first, end):
            is_unusual = int(postings.weights[i] != usual_weight)
            number = 2 * skipped_positions(postings.positions, first, i) + is_unusual
            size += number_size(number) + is_unusual
        packed_starts[word + 1] = packed_starts[word] + size


def most_frequent_weight(weights: NDArray[np.uint8], weight_counts: NDArray[np.int64]) -> int:
    """Return the weight that occurs most often; `weight_counts` holds WEIGHT_LIMIT zeros before and after."""
    most_frequent = 0
    for i in range(len(weights)):
        weight = int(weights[i])
        weight_counts[weight] += 1
        if weight_counts[weight] > weight_counts[most_frequent]:
            most_frequent = weight

    for i in range(len(weights)):
        weight_counts[weights[i]] = 0
    return most_frequent


def skipped_positions(positions: NDArray[np.uint32], first: int, i: int) -> int:
    """Return how many positions are skipped before that of posting `i`; the postings of its word begin at `first`."""
    if i == first:
        return int(positions[i])
    return int(positions[i]) - int(positions[i - 1]) - 1


def number_size(number: int) -> int:
    """Return how many bytes a packed number takes."""
    size = 1
    while number > _LOWEST_BITS:
        number >>= _NUMBER_BITS
        size += 1
    return size


def pack_postings(
    postings: WordPostings,
    usual_weights: NDArray[np.uint8],
    packed_starts: NDArray[np.int64],
    packed: NDArray[np.uint8],
) -> None:
    """Write the postings of all words into `packed`, given what `measure_postings` has written."""
    for word in range(len(usual_weights)):
        first, end = postings.starts[word], postings.starts[word + 1]
        place = packed_starts[word]
        packed[place] = usual_weights[word]
        place += 1

        for i in range(first, end):
            is_unusual = postings.weights[i] != usual_weights[word]
            number = 2 * skipped_positions(postings.positions, first, i) + int(is_unusual)
            place = write_number(number, packed, place)
            if is_unusual:
                packed[place] = postings.weights[i]
                place += 1


def write_number(number: int, packed: NDArray[np.uint8], place: int) -> int:
    """Write a number into `packed` from `place` on, and return the place behind it."""
    while number > _LOWEST_BITS:
        packed[place] = (number & _LOWEST_BITS) | _CONTINUATION_BIT
        number >>= _NUMBER_BITS
        place += 1
    packed[place] = number
    return place + 1


def read_number(packed: NDArray[np.uint8], place: int) -> tuple[int, int]:
    """Return the number that begins at a place, and the place behind it."""
    number = 0
    shift = 0
    byte = int(packed[place])
    while byte & _CONTINUATION_BIT:
        number |= (byte & _LOWEST_BITS) << shift
        shift += _NUMBER_BITS
        place += 1
        byte = int(packed[place])
    return number | (byte << shift), place + 1


def read_posting(
    packed: NDArray[np.uint8], place: int, previous_position: int, usual_weight: int
) -> tuple[int, int, int]:
    """Return the position and the weight of the posting that begins at a place, and the place behind it.

    `previous_position` is the position of the posting before it; for the first posting of a word it is -1.
    """
    number, place = read_number(packed, place)
    position = previous_position + 1 + (number >> 1)
    if number & 1:
        return position, int(packed[place]), place + 1
    return position, usual_weight, place


def unpack_postings(packed: NDArray[np.uint8], packed_starts: NDArray[Any], postings: WordPostings) -> None:
    """Write the postings of all words into arrays that are long enough.

    `packed_starts` holds where the packed postings of each word begin, and at the end where those of the last one end.
    """
    count = 0
    for word in range(len(packed_starts) - 1):
        postings.starts[word] = count
        place, end = int(packed_starts[word]), int(packed_starts[word + 1])
        usual_weight = int(packed[place])
        place += 1

        position = -1
        while place < end:
            position, weight, place = read_posting(packed, place, position, usual_weight)
            postings.positions[count] = position
            postings.weights[count] = weight
            count += 1
    postings.starts[len(packed_starts) - 1] = count


def mark_records(
    packed: NDArray[np.uint8], packed_starts: NDArray[Any], words: WordRange, lowest_weight: int, bitmap: Words
) -> None:
    """Set the bits of the records in which one of some words has at least the weight `lowest_weight`.

    `packed_starts` holds where the packed postings of each word begin, and at the end where those of the last one end.
    """
    for word in range(words.first, words.end):
        place, end = int(packed_starts[word]), int(packed_starts[word + 1])
        usual_weight = int(packed[place])
        place += 1

        position = -1
        while place < end:
            position, weight, place = read_posting(packed, place, position, usual_weight)
            if weight >= lowest_weight:
                set_bit(bitmap, position)


def add_weights(
    packed: NDArray[np.uint8], similarity: int, positions: NDArray[np.int64], weight_sums: NDArray[np.int64]
) -> None:
    """Add the weight that a word has in some records, times its similarity to the word of a query, to the sum of each.

    `packed` holds the postings of this word alone. `positions` are those of the records, in ascending order, and
    `weight_sums` has one sum for each of them.
    """
    usual_weight = int(packed[0])
    place = 1

    # Both lists are in ascending order, so one pass over them finds the records that are in both.
    position = -1
    record = 0
    while place < len(packed) and record < len(positions):
        position, weight, place = read_posting(packed, place, position, usual_weight)

        while record < len(positions) and positions[record] < position:
            record += 1
        if record < len(positions) and positions[record] == position:
            weight_sums[record] += (weight & WEIGHT_BITS) * similarity
