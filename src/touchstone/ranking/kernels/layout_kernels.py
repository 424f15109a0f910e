"""Splitting records into two parts by one byte of each, for a k-d order."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

BYTE_VALUES: Final = 256


def split_by_byte(
    keys: NDArray[np.uint8],
    records: NDArray[np.uint32],
    lower_count: int,
    key_counts: NDArray[np.int64],
    scratch: NDArray[np.uint32],
) -> None:
    """Move the `lower_count` records with the lowest keys to the front; records of both parts keep their order.

    `keys` holds the key of every record of a catalog, and `records` some of these. Of several records with the same key
    the first ones come to the front. `key_counts` has BYTE_VALUES elements and `scratch` as many as `records`; both are
    overwritten.
    """
    key_counts[:] = 0
    for i in range(len(records)):
        key_counts[keys[records[i]]] += 1

    # Records with a lower key than this one come to the front, and as many of those with this key as are missing.
    border_key = 0
    missing = lower_count
    while missing >= key_counts[border_key] and border_key < BYTE_VALUES - 1:
        missing -= key_counts[border_key]
        border_key += 1

    next_lower, next_upper = 0, lower_count
    for i in range(len(records)):
        key = keys[records[i]]
        is_border = key == border_key and missing > 0
        if is_border:
            missing -= 1
        if key < border_key or is_border:
            scratch[next_lower] = records[i]
            next_lower += 1
        else:
            scratch[next_upper] = records[i]
            next_upper += 1

    for i in range(len(records)):
        records[i] = scratch[i]
