"""Warnings about how a table had to be read."""

from collections.abc import Iterator
from typing import Any

from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import localize
from touchstone.learning.table_reader import Table
from touchstone.messages.training_warnings import WARNINGS


def table_warnings(table: Table) -> Iterator[Json]:
    """Yield the warnings about a file whose encoding had to be guessed, or that does not name its columns."""
    if table.encoding.is_guess:
        yield _warning("encoding_guessed", encoding=table.encoding.label)
    if not table.has_header:
        yield _warning("header_missing", names=list(table.columns)[:2])


def _warning(code: str, **facts: Any) -> Json:
    """Return a warning: its code, its facts, and its sentence in both languages."""
    return {"code": code, "text": localize(WARNINGS[code], **facts), "facts": facts}
