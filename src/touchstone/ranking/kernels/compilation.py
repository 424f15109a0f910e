"""Compilation of the kernels when a catalog first becomes large enough to be indexed.

Small catalogs never import the compiler. Numba caches the machine code next to the sources, or in the user's cache
folder if the installation is read-only. If neither is writable, every process compiles the kernels again.
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
    tie_kernels,
    top_kernels,
    trigram_kernels,
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
    trigram_kernels,
    distinct_text_kernels,
    layout_kernels,
    word_kernels,
)
"""The modules with functions to compile, each after the modules that it imports."""
_lock: Final = Lock()
_compiled_kernels: Final[dict[FunctionType, Any]] = {}
_all_are_replaced: Final = Event()


def compile_kernels() -> None:
    """Replace every kernel by its compiled form, in its own module and in all kernel modules that import it.

    Calls after the first one have no effect. The function is safe to call from several threads.
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
    """Return whether all kernels have been replaced by functions that Numba compiles on their first call."""
    return _all_are_replaced.is_set()


def kernels_of(module: ModuleType) -> list[FunctionType]:
    """Return the functions defined in a module, without imported functions."""
    functions = [value for value in vars(module).values() if isinstance(value, FunctionType)]
    return [function for function in functions if function.__module__ == module.__name__]


def _replace_kernels(module: ModuleType) -> None:
    """Replace the kernels that a module defines or imports by their compiled form."""
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value in _compiled_kernels:
            setattr(module, name, _compiled_kernels[value])


def _compile(kernel: FunctionType) -> Callable[..., Any]:
    """Return the compiled form of a kernel.

    Numba generates the machine code on its first call.

    Numba's reference counting is disabled (`_nrt=False`), because kernels only fill existing arrays and never allocate
    memory. Counting the references to all columns in every call between kernels would take several times as long as
    the actual work.
    """
    import numba  # noqa: PLC0415 (small catalogs never need the compiler)

    try:
        return numba.njit(cache=True, nogil=True, _nrt=False)(kernel)  # type: ignore[no-any-return]
    except RuntimeError:  # Numba found no folder in which it can write its cache.
        return numba.njit(nogil=True, _nrt=False)(kernel)  # type: ignore[no-any-return]
