"""PostgreSQL databases for tests: empty ones, and ones with the current schema, which tests use in turn."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql

# What a test may define in addition to the current schema, or change in it. The columns of temporary tables disappear
# with their connection, and those of an emptied table remain the same.
_DEFINITIONS = """
    SELECT max(xmin::text::bigint), count(*) FROM pg_attribute
    UNION ALL SELECT max(xmin::text::bigint), count(*) FROM pg_constraint
    UNION ALL SELECT max(xmin::text::bigint), count(*) FROM pg_trigger
    UNION ALL SELECT max(xmin::text::bigint), count(*) FROM pg_proc
"""
_TABLES_WITH_PAGES = """
    SELECT relname FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0
"""
_SEQUENCES = "SELECT sequencename, coalesce(last_value, start_value), last_value IS NOT NULL FROM pg_sequences"
_END_OTHER_CONNECTIONS = """
    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@contextmanager
def empty_database(server: str) -> Iterator[str]:
    """Create an empty database, yield its URL, and drop it at the end of the block."""
    url = _create_database(server)
    yield url
    _drop_database(url)


def _create_database(server: str, *, template: str = "template1") -> str:
    """Create a database from a template, and return its URL."""
    name = f"t_{secrets.token_hex(6)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    return f"{server}/{name}"


def _drop_database(url: str) -> None:
    """Drop a database, even if there are connections to it."""
    server, _, name = url.rpartition("/")
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


class PreparedDatabases:
    """Databases with the current schema.

    To create a database takes many times as long as to restore the few rows of a used one. A database whose schema a
    test has changed is not used again.
    """

    def __init__(self, server: str, migrate: Callable[[str], None]) -> None:
        """Prepare no database yet.

        Args:
            server: the URL of the server.
            migrate: creates the current schema in the empty database with the given URL.
        """
        self._server = server
        self._migrate = migrate
        self._idle_urls: list[str] = []
        self._definitions: list[tuple[int, int]] = []
        self._initial_rows: dict[str, bytes] = {}
        self._initial_sequences: list[tuple[str, int, bool]] = []

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Create the database of which all others are copies, and drop all of them at the end of the block."""
        with empty_database(self._server) as url:
            self._migrate(url)
            self._template = url.rpartition("/")[2]
            self._read_initial_state(url)
            yield
            for idle_url in self._idle_urls:
                _drop_database(idle_url)

    @contextmanager
    def borrowed(self) -> Iterator[str]:
        """Yield the URL of a database that contains what the migrations have written, and take it back."""
        url = self._idle_urls.pop() if self._idle_urls else _create_database(self._server, template=self._template)
        yield url
        if self._restore(url):
            self._idle_urls.append(url)
        else:
            _drop_database(url)

    def _read_initial_state(self, url: str) -> None:
        """Remember the definitions and the rows that the migrations have left in a database."""
        with psycopg.connect(url) as connection:
            self._definitions = connection.execute(_DEFINITIONS).fetchall()
            self._initial_sequences = connection.execute(_SEQUENCES).fetchall()
            for (table,) in connection.execute(_TABLES_WITH_PAGES).fetchall():
                copy_command = sql.SQL("COPY {} TO STDOUT (FORMAT BINARY)").format(sql.Identifier(table))
                with connection.cursor() as cursor, cursor.copy(copy_command) as copy:
                    self._initial_rows[table] = b"".join(copy)

    def _restore(self, url: str) -> bool:
        """Restore the initial rows of a used database, or return False if its schema is no longer the initial one."""
        with psycopg.connect(url) as connection:
            connection.execute(_END_OTHER_CONNECTIONS)
            if connection.execute(_DEFINITIONS).fetchall() != self._definitions:
                return False

            tables = [sql.Identifier(table) for (table,) in connection.execute(_TABLES_WITH_PAGES).fetchall()]
            connection.execute(sql.SQL("TRUNCATE {} CASCADE").format(sql.SQL(", ").join(tables)))
            connection.execute("SET LOCAL session_replication_role = replica")  # checks no references between tables
            for table, rows in self._initial_rows.items():
                copy_command = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier(table))
                with connection.cursor() as cursor, cursor.copy(copy_command) as copy:
                    copy.write(rows)
            for name, value, is_called in self._initial_sequences:
                connection.execute("SELECT setval(%s::regclass, %s, %s)", (name, value, is_called))
        return True
