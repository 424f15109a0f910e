"""Connections to SQLite that send one message to their thread for each statement.

The asynchronous driver runs SQLite in a thread of each connection. It sends one message to the thread to open a cursor,
one to execute a statement, one to fetch its rows, and one to close the cursor. Each time, the thread and the event loop
wait for each other, for some milliseconds if either of them has other work. All four steps need only one message,
because SQLAlchemy fetches all rows at once unless it streams them.
"""

import sqlite3
from contextlib import closing
from functools import partial
from typing import Any, Final, NamedTuple, Self

import aiosqlite

# A setting of the driver, which only matters to those who iterate over the rows of its own cursors.
_ROWS_PER_MESSAGE: Final = 64


class _Outcome(NamedTuple):
    """What remains of a statement when its cursor is closed; the fields are those of a cursor of the DB API."""

    rows: list[Any]
    description: Any
    rowcount: int
    lastrowid: int | None


class EagerConnection(aiosqlite.Connection):
    """A connection whose cursors fetch all rows of a statement when they execute it."""

    def __init__(self, path: str) -> None:
        """Prepare a connection to a database file, which is opened when the connection is awaited."""
        super().__init__(partial(sqlite3.connect, path), _ROWS_PER_MESSAGE)
        # A connection that nobody has closed must not keep the process from ending.
        self._thread.daemon = True

    def cursor(self) -> "EagerCursor":  # type: ignore[override]
        """Return a cursor; no message is sent until it executes a statement."""
        return EagerCursor(self)

    async def run_statement(self, statement: str, parameters: Any, *, many: bool = False) -> _Outcome:
        """Execute a statement in the thread of the connection, and fetch its rows.

        With `many`, `parameters` is a sequence, and the statement is executed once for each of its members.
        """
        outcome: _Outcome = await self._execute(  # type: ignore[no-untyped-call]
            _run_statement, self._conn, statement, parameters, many
        )
        return outcome


# This is not a method, because the thread remembers the last function that it has called: a connection that is
# forgotten could then not be closed by its finalizer.
def _run_statement(connection: sqlite3.Connection, statement: str, parameters: Any, many: bool) -> _Outcome:
    """Execute a statement with a cursor of its own, and fetch its rows."""
    with closing(connection.cursor()) as cursor:
        if many:
            cursor.executemany(statement, parameters)
        else:
            cursor.execute(statement, parameters)
        rows = cursor.fetchall() if cursor.description else []
        return _Outcome(rows, cursor.description, cursor.rowcount, cursor.lastrowid)


class EagerCursor:
    """A cursor as SQLAlchemy uses it; between two statements, it holds nothing of SQLite.

    Attributes:
        description: The columns of the rows; None if the last statement has no rows.
        rowcount: How many rows the last statement has changed; -1 for a query.
        lastrowid: The id of the row that was inserted last.
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
        self._keep(await self._connection.run_statement(statement, parameters))
        return self

    async def executemany(self, statement: str, parameters: Any) -> Self:
        """Execute a statement once for each of several sequences of parameters."""
        self._keep(await self._connection.run_statement(statement, parameters, many=True))
        return self

    def _keep(self, outcome: _Outcome) -> None:
        """Keep what remains of a statement until the next one."""
        self._rows, self.description, self.rowcount, self.lastrowid = outcome

    async def fetchall(self) -> list[Any]:
        """Return all rows of the last statement."""
        return self._rows

    async def close(self) -> None:
        """Do nothing, because the cursor of SQLite was closed after each statement."""


async def open_eager_connection(path: str) -> EagerConnection:
    """Open a connection to a database file."""
    connection = EagerConnection(path)
    await connection
    return connection
