"""Warnings about problems with reading a table."""

from collections.abc import Iterator

from touchstone.learning.table_reader import Table
from touchstone.learning.task_interface import Json
from touchstone.learning.training_warnings import warning


def table_warnings(table: Table) -> Iterator[Json]:
    """Yield the warnings about a guessed text encoding and a missing header."""
    if table.encoding.is_guess:
        yield warning("encoding_guessed", encoding=table.encoding.label)
    if not table.has_header:
        yield warning("header_missing", names=list(table.columns)[:2])
