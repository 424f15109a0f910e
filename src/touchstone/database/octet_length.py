"""The SQL function that counts the bytes of a text."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction

from touchstone.database.sqlite import is_sqlite


class OctetLength(GenericFunction[int]):
    """The number of bytes that a text takes in UTF-8."""

    name = "octet_length"
    type = sa.Integer()
    inherit_cache = True


@compiles(OctetLength)
def _compile_octet_length(function: OctetLength, compiler: SQLCompiler, **options: Any) -> str:
    """Return the SQL of the function, which SQLite does not have in releases before 3.43."""
    text = compiler.process(function.clauses, **options)
    return f"length(CAST({text} AS BLOB))" if is_sqlite(compiler.dialect) else f"octet_length({text})"
