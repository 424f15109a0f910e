"""What the reader of a format returns: the columns of a table, and how they are written in the file."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from touchstone.core.prefetch import map_ahead
from touchstone.core.text_encoding import TextEncoding
from touchstone.learning.column_types import TypedColumn
from touchstone.learning.fitting_pool import usable_core_count

UNICODE = TextEncoding("utf-8")


@dataclass(frozen=True, slots=True)
class TableContent:
    """The typed columns of a file, and their names as they are written in it, which may be empty or repeated.

    `encoding` says how texts are encoded, and `has_header` whether the file names its columns.
    """

    names_in_file: list[str]
    columns: list[TypedColumn] = field(repr=False)
    encoding: TextEncoding = UNICODE
    has_header: bool = True


def type_columns(
    infer_type: Callable[[str, Any], TypedColumn], names: Iterable[str], columns: Iterable[Any]
) -> list[TypedColumn]:
    """Infer the types of named columns, several at the same time if this process may use several cores."""
    named_columns = zip(names, columns, strict=True)
    typed_columns = map_ahead(lambda column: infer_type(*column), named_columns, thread_count=usable_core_count())
    return list(typed_columns)
