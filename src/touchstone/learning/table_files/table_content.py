"""The content of a table file, as returned by the readers of all formats."""

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
    """The typed columns of a file, with its encoding.

    `names_in_file` holds the column names as they appear in the file, where they may be empty or repeated. `has_header`
    is False if the file does not name its columns.
    """

    names_in_file: list[str]
    columns: list[TypedColumn] = field(repr=False)
    encoding: TextEncoding = UNICODE
    has_header: bool = True


def type_columns(
    infer_type: Callable[[str, Any], TypedColumn], names: Iterable[str], columns: Iterable[Any]
) -> list[TypedColumn]:
    """Infer the types of named columns, in parallel if this process may use several cores."""
    named_columns = zip(names, columns, strict=True)
    typed_columns = map_ahead(lambda column: infer_type(*column), named_columns, thread_count=usable_core_count())
    return list(typed_columns)
