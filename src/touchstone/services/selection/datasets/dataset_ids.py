"""Generation of dataset ids, which are UUIDs sorted by time (version 7, RFC 9562, section 5.7).

Ids that are created together are neighbours in the database index. Random ids would be scattered over the whole index,
and the database of a large catalog would have to read many pages from the disk to insert them. The time in an id is not
confidential, because users who may see a record also see its `created_at`.
"""

import os
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

# The upper half of a UUID consists of the time in milliseconds, the version and 12 random bits, in this order.
# The lower half consists of the variant and 62 random bits.
_TIME_SHIFT: Final = 16
_VERSION: Final = 7 << 12
_RANDOM_BITS_OF_UPPER_HALF: Final = (1 << 12) - 1
_VARIANT: Final = 0b10 << 62
_RANDOM_BITS_OF_LOWER_HALF: Final = (1 << 62) - 1
_BYTES: Final = 16
_DIGITS: Final = 2 * _BYTES


class DatasetIds(NamedTuple):
    """The ids of several datasets.

    Attributes:
        high: the upper halves of the ids, as uint64.
        low: the lower halves of the ids, as uint64.
    """

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]

    def to_hexadecimals(self) -> list[str]:
        """Return each id as 32 hexadecimal digits."""
        digits = np.stack([self.high, self.low], axis=1).astype(">u8").tobytes().hex()
        return [digits[start : start + _DIGITS] for start in range(0, len(digits), _DIGITS)]


def new_dataset_ids(count: int, now: datetime) -> DatasetIds:
    """Return `count` ids for new records, which share the creation time `now`."""
    milliseconds = int(now.timestamp() * 1000)
    fixed_high_bits = np.uint64((milliseconds << _TIME_SHIFT) | _VERSION)

    random_halves = np.frombuffer(os.urandom(count * _BYTES), np.uint64).reshape(count, 2)
    return DatasetIds(
        high=fixed_high_bits | (random_halves[:, 0] & np.uint64(_RANDOM_BITS_OF_UPPER_HALF)),
        low=np.uint64(_VARIANT) | (random_halves[:, 1] & np.uint64(_RANDOM_BITS_OF_LOWER_HALF)),
    )


def new_dataset_id(now: datetime) -> UUID:
    """Return an id for a new record."""
    [digits] = new_dataset_ids(1, now).to_hexadecimals()
    return UUID(digits)
