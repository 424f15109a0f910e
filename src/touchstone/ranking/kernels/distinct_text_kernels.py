"""Kernels that find equal texts by their hashes."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_BYTES_PER_STEP: Final = 8
_MULTIPLIER: Final = 0x9E3779B97F4A7C15  # Fibonacci hashing: 2**64 divided by the golden ratio


def hash_texts(
    data: NDArray[np.uint8], offsets: NDArray[np.int64], seed: np.uint64, hashes: NDArray[np.uint64]
) -> None:
    """Write the hash of each text into `hashes`, with arithmetic that overflows on purpose.

    Args:
        data: the bytes of all texts.
        offsets: the start of each text, followed by the end of the last one.
        seed: the seed of the hash function.
        hashes: the hash of each text, written by this function.
    """
    for i in range(len(hashes)):
        hashes[i] = hash_bytes(data, offsets[i], offsets[i + 1], seed)


def hash_bytes(data: NDArray[np.uint8], start: int, end: int, seed: np.uint64) -> np.uint64:
    """Return a hash of the bytes from `start` to before `end`, processing eight bytes at a time."""
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
    """Write the index of the first equal text for each text.

    Texts with the same hash are compared, because different texts can have the same hash.

    Args:
        data: the bytes of all texts.
        offsets: the start of each text, followed by the end of the last one.
        hashes: the hash of each text.
        by_hash: the indices of the texts, sorted by hash and then by index.
        first_equal: the index of the first equal text for each text, written by this function.
    """
    run_start = 0
    for i in range(len(by_hash)):
        text = by_hash[i]
        if hashes[text] != hashes[by_hash[run_start]]:
            run_start = i

        first_equal[text] = text
        for k in range(run_start, i):
            earlier_text = by_hash[k]
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
