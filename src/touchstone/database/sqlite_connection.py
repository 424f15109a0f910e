"""Connections to SQLite that send only one message to their thread for each statement.

The asynchronous driver aiosqlite runs each connection in a separate thread. It sends four messages to this thread for
each statement, to open a cursor, execute the statement, fetch the rows and close the cursor. Each message may take some
milliseconds if the thread or the event loop is busy. SQLAlchemy fetches all rows at once, except when it streams them,
so a single message suffices.
"""

import sqlite3
from contextlib import closing
from functools import partial
from typing import Any, Final, NamedTuple, Self

import aiosqlite

# A required argument of the driver, which is only used by its own cursors.
_ROWS_PER_MESSAGE: Final = 64


class _Outcome(NamedTuple):
    """The result of a statement, with the attributes of a DB-API cursor (PEP 249)."""

    rows: list[Any]
    description: Any
    rowcount: int
    lastrowid: int | None


class EagerConnection(aiosqlite.Connection):
    """A connection whose cursors fetch all rows of a statement when they execute it."""

    def __init__(self, path: str) -> None:
        """Prepare a connection to a database file. It is opened when the object is awaited."""
        super().__init__(partial(sqlite3.connect, path), _ROWS_PER_MESSAGE)
        # An unclosed connection must not keep the process from exiting.
        self._thread.daemon = True

    def cursor(self) -> "EagerCursor":  # type: ignore[override]
        """Return a cursor, without sending a message to the thread."""
        return EagerCursor(self)

    async def run_statement(self, statement: str, parameters: Any, *, many: bool = False) -> _Outcome:
        """Execute a statement in the thread of the connection, and fetch its rows.

        Args:
            statement: the SQL.
            parameters: the parameters, or a sequence of parameters if `many` is true.
            many: whether to execute the statement once for each member of `parameters`.
        """
        outcome: _Outcome = await self._execute(  # type: ignore[no-untyped-call]
            _run_statement, self._conn, statement, parameters, many
        )
        return outcome


# This is not a method, because the thread holds a reference to the last function that it has called. A reference to the
# connection would prevent the finalizer from closing an unused connection.
def _run_statement(connection: sqlite3.Connection, statement: str, parameters: Any, many: bool) -> _Outcome:
    """Execute a statement with a new cursor, and fetch its rows."""
    with closing(connection.cursor()) as cursor:
        if many:
            cursor.executemany(statement, parameters)
        else:
            cursor.execute(statement, parameters)
        rows = cursor.fetchall() if cursor.description else []
        return _Outcome(rows, cursor.description, cursor.rowcount, cursor.lastrowid)


class EagerCursor:
    """A cursor for SQLAlchemy, which stores the result of the last statement.

    Attributes:
        description: the columns of the rows, or None if the last statement returns no rows.
        rowcount: the number of rows changed by the last statement, or -1 for a query.
        lastrowid: the id of the row that was inserted last.
    """

    arraysize = 1

    def __init__(self, connection: EagerConnection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, statement: str, parameters: Any = ()) -> Self:
        """Execute a statement, and fetch its rows."""
        self._store_outcome(await self._connection.run_statement(statement, parameters))
        return self

    async def executemany(self, statement: str, parameters: Any) -> Self:
        """Execute a statement once for each member of `parameters`."""
        self._store_outcome(await self._connection.run_statement(statement, parameters, many=True))
        return self

    def _store_outcome(self, outcome: _Outcome) -> None:
        """Store the result of a statement until the next one is executed."""
        self._rows, self.description, self.rowcount, self.lastrowid = outcome

    async def fetchall(self) -> list[Any]:
        """Return all rows of the last statement."""
        return self._rows

    async def close(self) -> None:
        """Do nothing, because SQLite's cursor is closed after each statement."""


async def open_eager_connection(path: str) -> EagerConnection:
    """Open a connection to a database file."""
    connection = EagerConnection(path)
    await connection
    return connection
