"""Making the kernels native code, once, when a catalog is first large enough to be indexed.

Small catalogs never import the compiler. The machine code is kept in a cache beside the sources, or in the user's own
cache folder where the installation is read-only, or nowhere when neither can be written.
"""

from collections.abc import Callable
from threading import Lock
from types import FunctionType, ModuleType
from typing import Any, Final

from touchstone.ranking.kernels import leaf_kernels, search_kernels

_MODULES: Final = (leaf_kernels, search_kernels)
_lock: Final = Lock()
_compiled: Final[dict[FunctionType, Any]] = {}


def compile_kernels() -> None:
    """Put compiled functions in the place of all kernels; further calls do nothing. Safe from any thread."""
    with _lock:
        if not _compiled:
            _compiled.update({function: _jit(function) for module in _MODULES for function in _own(module)})
            for module in _MODULES:
                _replace(module)


def _own(module: ModuleType) -> list[FunctionType]:
    found = (value for value in vars(module).values() if isinstance(value, FunctionType))
    return [function for function in found if function.__module__ == module.__name__]


def _replace(module: ModuleType) -> None:
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and value in _compiled:
            setattr(module, name, _compiled[value])


def _jit(function: FunctionType) -> Callable[..., Any]:
    """The compiled form; without a cache where no folder for one can be written.

    No kernel allocates, so none needs Numba's reference counting (`_nrt`): with it, every call between kernels would
    count the forty arrays of a grid up and down, which cost several times the work itself.
    """
    import numba  # noqa: PLC0415 (small catalogs never need the compiler)

    try:
        return numba.njit(cache=True, nogil=True, _nrt=False)(function)  # type: ignore[no-any-return]
    except RuntimeError:
        return numba.njit(nogil=True, _nrt=False)(function)  # type: ignore[no-any-return]
