"""Limits that protect against hostile files, such as a million columns or a compression bomb."""

from typing import Final

from touchstone.learning.learning_errors import LearningError

MAX_BYTES: Final = 2 * 2**30
MAX_COLUMNS: Final = 5_000
MAX_CELLS: Final = 50_000_000
MAX_LINE_BYTES: Final = 4 * 2**20
MAX_UNCOMPRESSED_BYTES: Final = 4 * 2**30


def check_size(*, columns: int, rows: int) -> None:
    """Raise `LearningError` if a table has too many columns or too many cells."""
    if columns > MAX_COLUMNS:
        raise LearningError("too_many_columns", columns=columns, maximum=MAX_COLUMNS)

    cells = columns * rows
    if cells > MAX_CELLS:
        raise LearningError("too_many_cells", cells=cells, maximum=MAX_CELLS)
