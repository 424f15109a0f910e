"""Imports without garbage collection."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Pause the garbage collector during imports, and exempt the imported objects from later collections.

    Modules are never collected, but they contain so many objects that examining them repeatedly would take a quarter of
    the time of importing the server or the libraries of the tasks.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
