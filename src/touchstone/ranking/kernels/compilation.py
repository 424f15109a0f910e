"""Compiling the kernels, once, when a catalog first becomes large enough to be indexed.

Small catalogs never import the compiler. Numba keeps the machine code in a cache beside the sources, or in the user's
cache folder where the installation is read-only. Where neither can be written, the code is compiled in every process.
"""

from collections.abc import Callable
from threading import Event, Lock
from types import FunctionType, ModuleType
from typing import Any, Final

from touchstone.ranking.kernels import (
    bits,
    count_kernels,
    distinct_text_kernels,
    filter_kernels,
    layout_kernels,
    order_kernels,
    posting_kernels,
    score_kernels,
    text_kernels,
    text_sort_kernels,
    tie_kernels,
    top_kernels,
    weighting_kernels,
    word_kernels,
)
from touchstone.ranking.kernels.bit_instructions import compile_bit_functions

KERNEL_MODULES: Final = (
    bits,
    score_kernels,
    filter_kernels,
    text_kernels,
    top_kernels,
    tie_kernels,
    order_kernels,
    count_kernels,
    posting_kernels,
    weighting_kernels,
    text_sort_kernels,
    distinct_text_kernels,
    layout_kernels,
    word_kernels,
)
"""The modules whose functions are compiled, each after those that it imports."""
_lock: Final = Lock()
_compiled_kernels: Final[dict[FunctionType, Any]] = {}
_all_are_replaced: Final = Event()


def compile_kernels() -> None:
    """Replace every kernel in its module, and wherever another kernel module imports it, by its compiled form.

    Only the first call does anything. The function may be called from any thread.
    """
    with _lock:
        if _compiled_kernels:
            return

        bit_functions = compile_bit_functions()
        for module in KERNEL_MODULES:
            for kernel in kernels_of(module):
                _compiled_kernels[kernel] = bit_functions.get(kernel.__name__) or _compile(kernel)

        for module in KERNEL_MODULES:
            _replace_kernels(module)
        _all_are_replaced.set()


def are_kernels_replaced() -> bool:
    """Return whether all kernels have been replaced by forms that Numba compiles when they are first called."""
    return _all_are_replaced.is_set()


def kernels_of(module: ModuleType) -> list[FunctionType]:
    """Return the functions that a module defines, without those that it imports."""
    functions = [value for value in vars(module).values() if isinstance(value, FunctionType)]
    return [function for function in functions if function.__module__ == module.__name__]


def _replace_kernels(module: ModuleType) -> None:
    """Replace the kernels that a module defines or imports by their compiled form."""
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value in _compiled_kernels:
            setattr(module, name, _compiled_kernels[value])


def _compile(kernel: FunctionType) -> Callable[..., Any]:
    """Return the compiled form of a kernel; Numba generates the machine code when it is first called.

    Kernels only fill arrays that they are given and never allocate memory, so Numba's reference counting is switched
    off (`_nrt=False`). With it, every call between kernels would count the references to all columns, which costs
    several times as much as the work itself.
    """
    import numba  # noqa: PLC0415 (small catalogs never need the compiler)

    try:
        return numba.njit(cache=True, nogil=True, _nrt=False)(kernel)  # type: ignore[no-any-return]
    except RuntimeError:  # Numba found no folder in which it can write its cache.
        return numba.njit(nogil=True, _nrt=False)(kernel)  # type: ignore[no-any-return]
