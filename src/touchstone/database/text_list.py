"""A list of many strings as a single parameter of a query."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from touchstone.database import postgresql, sqlite


class _StringList(FunctionElement[str]):
    """The strings in a JSON array as a list in SQL, with a different function for each database."""

    type = sa.Text()
    inherit_cache = True


@compiles(_StringList)
def _compile_string_list(element: _StringList, compiler: Any, **options: Any) -> str:
    """Return the SQL for a list of strings."""
    template = sqlite.STRING_LIST_SQL if sqlite.is_sqlite(compiler.dialect) else postgresql.STRING_LIST_SQL
    array: str = compiler.process(element.clauses, **options)
    return template.format(array=array)


def is_one_of(column: sa.Column[Any], texts: Sequence[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a column contains one of many strings.

    The strings are sent as a single parameter, which is faster than a parameter for each of them.
    """
    json_array = msgspec.json.encode(list(texts)).decode()
    return column.op("IN", is_comparison=True)(_StringList(sa.literal(json_array, sa.Text())))
