"""New ids of datasets: UUIDs of version 7, which are in the order of their creation (RFC 9562, section 5.7).

The ids of records that are created together are neighbours in the index of all ids. A random id would be stored in a
random place, which the database of a large catalog has to read from the disk first. The time in an id is no secret:
whoever may see a record sees its `created_at`.
"""

import os
from datetime import datetime
from typing import Final
from uuid import UUID

# From the left, a UUID consists of the time, the version, 12 random bits, the variant, and 62 random bits.
_TIME_SHIFT: Final = 80
_VERSION_AND_VARIANT: Final = (7 << 76) | (0b10 << 62)
_RANDOM_BITS: Final = (0xFFF << 64) | ((1 << 62) - 1)
_RANDOM_BYTES: Final = 10


def new_dataset_ids(count: int, now: datetime) -> list[UUID]:
    """Return ids for new records, in no particular order if they are created in the same millisecond."""
    milliseconds = int(now.timestamp() * 1000)
    fixed_bits = (milliseconds << _TIME_SHIFT) | _VERSION_AND_VARIANT

    ids: list[UUID] = []
    random_bytes = os.urandom(count * _RANDOM_BYTES)  # one system call for all ids
    for start in range(0, len(random_bytes), _RANDOM_BYTES):
        random_number = int.from_bytes(random_bytes[start : start + _RANDOM_BYTES])
        ids.append(UUID(int=fixed_bits | (random_number & _RANDOM_BITS)))
    return ids


def new_dataset_id(now: datetime) -> UUID:
    """Return the id of a new record."""
    return new_dataset_ids(1, now)[0]
