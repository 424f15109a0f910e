"""PostgreSQL databases that tests use in turn: none of them shows what an earlier test has done."""

import psycopg

from tests.postgresql_databases import PreparedDatabases

INSERT_USER = """
    INSERT INTO users (id, email, email_folded, is_active, is_superuser, is_verified, created_at)
    VALUES (gen_random_uuid(), 'a@b.example', 'a@b.example', true, false, false, now())
"""


def rows_by_table(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Return all rows of all tables."""
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT relname FROM pg_stat_user_tables").fetchall()
        return {table: connection.execute(f"SELECT * FROM {table}").fetchall() for (table,) in tables}


def test_a_used_database_is_restored(prepared_databases: PreparedDatabases) -> None:
    """Rows that a test added or deleted, the values of sequences and connections that it left open disappear."""
    with prepared_databases.borrowed() as url:
        initial_rows = rows_by_table(url)
        assert initial_rows["secret_keys"]
        left_open = psycopg.connect(url, autocommit=True)
        left_open.execute("DELETE FROM secret_keys")
        left_open.execute(INSERT_USER)
        left_open.execute("SELECT nextval('datasets_id_seq'), nextval('datasets_id_seq')")

    with prepared_databases.borrowed() as next_url, psycopg.connect(next_url) as connection:
        assert next_url == url
        assert rows_by_table(next_url) == initial_rows
        assert connection.execute("SELECT nextval('datasets_id_seq')").fetchone() == (1,)
    left_open.close()


def test_a_database_with_another_schema_is_not_used_again(prepared_databases: PreparedDatabases) -> None:
    """A test may change the tables of its database."""
    for change in (
        "CREATE TABLE further (id int)",
        "ALTER TABLE users ADD COLUMN further int",
        "ALTER TABLE users DROP CONSTRAINT uq_users_email_folded",
        "ALTER TABLE users ALTER COLUMN email DROP NOT NULL",
    ):
        with prepared_databases.borrowed() as url, psycopg.connect(url) as connection:
            connection.execute(change)
        with prepared_databases.borrowed() as next_url:
            assert next_url != url
