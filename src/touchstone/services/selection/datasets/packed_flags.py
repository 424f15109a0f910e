"""The flags of a record in one integer, as the database sends them when all records are read.

As sixteen columns of booleans they took a fifth of the processor time in which a process reads and converts all rows of
PostgreSQL, because every value is decoded on its own.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from touchstone.core.attributes import FLAGS
from touchstone.ranking.array_types import Ints

UNKNOWN_DIGIT: Final = 2
"""The digit of a flag that is not known; those of the others are 0 and 1."""
_DIGIT_BITS: Final = 2
PLACE_VALUES: Final = {name: 2 ** (_DIGIT_BITS * number) for number, name in enumerate(FLAGS)}
"""By flag, the number that its digit is multiplied by; the sum of the products is the integer."""
_CODES: Final = np.array([0, 1, -1], np.int8)
"""For each digit the code that the flag has in the catalog in memory."""


def unpack_flags(packed_flags: Ints) -> dict[str, NDArray[Any]]:
    """Return the flags of some records by name, each as int8: 1, 0, or -1 if it is not known."""
    digit_mask = 2**_DIGIT_BITS - 1
    return {name: _CODES[(packed_flags >> _DIGIT_BITS * number) & digit_mask] for number, name in enumerate(FLAGS)}
