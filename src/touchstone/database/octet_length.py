"""The SQL function that counts the bytes of a text."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import GenericFunction


class OctetLength(GenericFunction[int]):
    """The number of bytes that a text takes in UTF-8."""

    name = "octet_length"
    type = sa.Integer()
    inherit_cache = True


@compiles(OctetLength, "sqlite")
def _compile_for_sqlite(function: OctetLength, compiler: SQLCompiler, **options: Any) -> str:
    """Return the expression for SQLite, whose releases before 3.43 have no such function."""
    return f"length(CAST({compiler.process(function.clauses, **options)} AS BLOB))"
