"""Listing of the records of each word, given the words of each record."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WEIGHT_BITS = 0x7F
LARGEST_LENGTH = 65535


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


def place_postings(
    records: RecordPostings,
    next_places: NDArray[np.int64],
    positions: NDArray[np.uint32],
    weights: NDArray[np.uint8],
    lengths: NDArray[np.uint16],
) -> None:
    """List the records of each word by ascending position, with its weight, and fill in the length of each record.

    `next_places` holds for each word where its next record goes. It is changed.
    """
    for position in range(len(records.order)):
        record = records.order[position]
        length = 0
        for place in range(records.starts[record], records.ends[record]):
            number = records.numbers[place]
            positions[next_places[number]] = position
            weights[next_places[number]] = records.weights[place]
            next_places[number] += 1
            length += records.weights[place] & WEIGHT_BITS
        lengths[position] = min(length, LARGEST_LENGTH)
