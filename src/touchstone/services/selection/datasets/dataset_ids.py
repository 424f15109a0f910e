"""New ids of datasets: UUIDs of version 7, which are in the order of their creation (RFC 9562, section 5.7).

The ids of records that are created together are neighbours in the index of all ids. A random id would be stored in a
random place, which the database of a large catalog has to read from the disk first. The time in an id is no secret:
whoever may see a record sees its `created_at`.
"""

import os
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

# The upper half of a UUID consists, from the left, of the time, the version and 12 random bits; the lower half, of the
# variant and 62 random bits.
_TIME_SHIFT: Final = 16
_VERSION: Final = 7 << 12
_RANDOM_BITS_OF_UPPER_HALF: Final = (1 << 12) - 1
_VARIANT: Final = 0b10 << 62
_RANDOM_BITS_OF_LOWER_HALF: Final = (1 << 62) - 1
_BYTES: Final = 16
_DIGITS: Final = 2 * _BYTES


class DatasetIds(NamedTuple):
    """Ids of several datasets: the upper and the lower half of each, as uint64."""

    high: NDArray[np.uint64]
    low: NDArray[np.uint64]

    def to_hexadecimals(self) -> list[str]:
        """Return the 32 hexadecimal digits of each id."""
        digits = np.stack([self.high, self.low], axis=1).astype(">u8").tobytes().hex()
        return [digits[start : start + _DIGITS] for start in range(0, len(digits), _DIGITS)]


def new_dataset_ids(count: int, now: datetime) -> DatasetIds:
    """Return ids for new records, in no particular order if they are created in the same millisecond."""
    milliseconds = int(now.timestamp() * 1000)
    fixed_high_bits = np.uint64((milliseconds << _TIME_SHIFT) | _VERSION)

    random_halves = np.frombuffer(os.urandom(count * _BYTES), np.uint64).reshape(count, 2)
    return DatasetIds(
        high=fixed_high_bits | (random_halves[:, 0] & np.uint64(_RANDOM_BITS_OF_UPPER_HALF)),
        low=np.uint64(_VARIANT) | (random_halves[:, 1] & np.uint64(_RANDOM_BITS_OF_LOWER_HALF)),
    )


def new_dataset_id(now: datetime) -> UUID:
    """Return the id of a new record."""
    [digits] = new_dataset_ids(1, now).to_hexadecimals()
    return UUID(digits)
