"""Packing of all flags of a record into one integer, for queries that read all records.

PostgreSQL sends every value individually. Decoding sixteen boolean columns took a fifth of the time for loading all
rows.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.ranking.array_types import Ints

UNKNOWN_DIGIT: Final = 2
"""The digit of an unknown flag; a false flag has the digit 0 and a true one the digit 1."""
_DIGIT_BITS: Final = 2
PLACE_VALUES: Final = {name: 2 ** (_DIGIT_BITS * index) for index, name in enumerate(FLAGS)}
"""The place value of the digit of each flag. The packed integer is the sum of all digits times their place values."""
_CODES: Final = np.array([0, 1, -1], np.int8)
"""The code of each digit in the in-memory catalog."""


def unpack_flags(packed_flags: Ints) -> dict[str, NDArray[Any]]:
    """Return the flags of many records, keyed by name, as int8 arrays of 1, 0, or -1 for unknown flags."""
    digit_mask = 2**_DIGIT_BITS - 1
    return {name: _CODES[(packed_flags >> _DIGIT_BITS * index) & digit_mask] for index, name in enumerate(FLAGS)}
