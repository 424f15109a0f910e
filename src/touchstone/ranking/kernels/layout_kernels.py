"""The kernel that splits records into two parts by a byte key, for a k-d order."""

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
    """Move the `lower_count` records with the lowest keys to the front, keeping the order within both parts.

    If only some of the records with the same key fit into the lower part, the first ones do.

    Args:
        keys: the key of every record of the catalog.
        records: the numbers of the records to split, modified in place.
        lower_count: the number of records in the lower part.
        key_counts: scratch space with BYTE_VALUES elements.
        scratch: scratch space with as many elements as `records`.
    """
    key_counts[:] = 0
    for i in range(len(records)):
        key_counts[keys[records[i]]] += 1

    # The lower part consists of all records with keys below the boundary key, and `missing` records with this key.
    boundary_key = 0
    missing = lower_count
    while missing >= key_counts[boundary_key] and boundary_key < BYTE_VALUES - 1:
        missing -= key_counts[boundary_key]
        boundary_key += 1

    next_lower, next_upper = 0, lower_count
    for i in range(len(records)):
        key = keys[records[i]]
        is_in_boundary_share = key == boundary_key and missing > 0
        if is_in_boundary_share:
            missing -= 1
        if key < boundary_key or is_in_boundary_share:
            scratch[next_lower] = records[i]
            next_lower += 1
        else:
            scratch[next_upper] = records[i]
            next_upper += 1

    for i in range(len(records)):
        records[i] = scratch[i]
