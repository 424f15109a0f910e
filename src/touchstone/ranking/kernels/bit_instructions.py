"""Two functions of `bits` as single CPU instructions, which only compiled code can use."""

from typing import Any

import numpy as np


def compile_bit_functions() -> dict[str, Any]:
    """Return compiled forms of functions of `bits`, keyed by name.

    They are not cached on disk because compiling such short functions takes little time.
    """
    from numba import njit, types  # noqa: PLC0415 (small catalogs never need the compiler)
    from numba.extending import intrinsic  # noqa: PLC0415

    @intrinsic  # type: ignore[untyped-decorator]
    def population_count(_typing_context: Any, _word: Any) -> Any:
        """Count the set bits of a word."""

        def generate_code(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate_code

    @intrinsic  # type: ignore[untyped-decorator]
    def trailing_zeros(_typing_context: Any, _word: Any) -> Any:
        """Count the zeros below the lowest set bit of a word, which must not be zero."""

        def generate_code(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            is_never_zero = context.get_constant(types.boolean, True)
            return builder.cttz(arguments[0], is_never_zero)

        return types.int64(types.uint64), generate_code

    @njit(nogil=True, _nrt=False)  # type: ignore[untyped-decorator]
    def count_bits(word: np.uint64) -> int:
        """Return the number of set bits in a 64-bit word."""
        return population_count(word)  # type: ignore[no-any-return]

    @njit(nogil=True, _nrt=False)  # type: ignore[untyped-decorator]
    def lowest_bit(word: np.uint64) -> int:
        """Return the index (0 to 63) of the lowest set bit of a word, which must not be zero."""
        return trailing_zeros(word)  # type: ignore[no-any-return]

    return {"count_bits": count_bits, "lowest_bit": lowest_bit}
