"""Kernels that find out which texts of many are the same, by a hash of each."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_BYTES_PER_STEP: Final = 8
_MULTIPLIER: Final = 0x9E3779B97F4A7C15  # 2**64 divided by the golden ratio, so that all bits of the product vary


def hash_texts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], seed: np.uint64, hashes: NDArray[np.uint64]
) -> None:
    """Write a hash of each of some texts, which overflows; `offsets` says where each begins, and the last one ends."""
    for i in range(len(hashes)):
        hashes[i] = hash_bytes(data, offsets[i], offsets[i + 1], seed)


def hash_bytes(data: NDArray[np.uint8], start: int, end: int, seed: np.uint64) -> np.uint64:
    """Return a hash of the bytes from `start` to before `end`: eight at a time are mixed into the hash so far."""
    mixed = seed ^ np.uint64(end - start)
    position = start
    while position < end:
        step_end = min(position + _BYTES_PER_STEP, end)
        eight_bytes = np.uint64(0)
        for byte_position in range(position, step_end):
            eight_bytes = (eight_bytes << np.uint64(8)) | np.uint64(data[byte_position])

        mixed = (mixed ^ eight_bytes) * np.uint64(_MULTIPLIER)
        mixed ^= mixed >> np.uint64(32)
        position = step_end
    return mixed


def find_first_equal(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    by_hash: NDArray[np.uint32],
    first_equal: NDArray[np.uint32],
) -> None:
    """Write for each text the index of the first one that is the same.

    `by_hash` lists the texts in ascending order of their hashes, and those with the same hash in ascending order. Texts
    with the same hash are compared, because they may differ all the same.
    """
    run_start = 0
    for place in range(len(by_hash)):
        text = by_hash[place]
        if hashes[text] != hashes[by_hash[run_start]]:
            run_start = place

        first_equal[text] = text
        for earlier_place in range(run_start, place):
            earlier_text = by_hash[earlier_place]
            is_distinct = first_equal[earlier_text] == earlier_text
            if is_distinct and are_equal(data, offsets, earlier_text, text):
                first_equal[text] = earlier_text
                break


def are_equal(data: NDArray[np.uint8], offsets: NDArray[np.int64], first: int, second: int) -> bool:
    """Return whether two texts consist of the same bytes."""
    start, other_start = offsets[first], offsets[second]
    length = offsets[first + 1] - start
    if offsets[second + 1] - other_start != length:
        return False

    equal_count = 0
    while equal_count < length and data[start + equal_count] == data[other_start + equal_count]:
        equal_count += 1
    return bool(equal_count == length)
