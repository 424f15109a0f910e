"""Fixtures for all tests: a real database of each kind, and the whole service in each topology."""

import asyncio
import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import psycopg
import pytest

from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare_schema
from touchstone.services.selection.catalog import live_catalog

# The tests create many small databases, whose reserves for a full disk would together fill this one.
os.environ.setdefault("TOUCHSTONE_RESERVE_BYTES", "0")
DATABASES = ("sqlite", "postgresql")
TOPOLOGIES = ("embedded", "split")
CATALOG_SECONDS = 120.0
POSTGRES_BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
# The files whose tests take longest, slowest first: several workers begin with them, so that none of them runs alone at
# the end of a run.
SLOWEST_FILES = (
    "hostile/test_schema.py",
    "docs/test_docs_examples.py",
    "web/test_everywhere.py",
    "durability/test_starts.py",
    "web/test_ranking.py",
    "client/test_client_service.py",
    "jobs/test_executing.py",
    "durability/test_stops.py",
    "selection/test_selection_import.py",
    "web/test_stability.py",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--databases", default=",".join(DATABASES), help="comma-separated: sqlite, postgresql")
    parser.addoption("--topologies", default=",".join(TOPOLOGIES), help="comma-separated: embedded, split")
    parser.addoption("--long", action="store_true", help="run the long form of tests that have one")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat a test on each database, in each topology, or in enough combinations of both."""
    values_by_name = {
        name: metafunc.config.getoption(option).split(",")
        for name, option in (("database_kind", "databases"), ("topology", "topologies"))
        if name in metafunc.fixturenames
    }
    if len(values_by_name) == 2:
        variants = combine_variants(*values_by_name.values(), every=metafunc.config.getoption("--long"))
        metafunc.parametrize(tuple(values_by_name), variants, scope="session")
        return
    for name, values in values_by_name.items():
        metafunc.parametrize(name, values, scope="session")


def combine_variants(databases: Sequence[str], topologies: Sequence[str], *, every: bool) -> list[tuple[str, str]]:
    """Return combinations in which each database and each topology occurs, or every combination.

    How a backend is reached and where it stores its rows do not depend on each other (decision 0054).
    """
    if every or len(databases) != len(topologies):
        return list(product(databases, topologies))
    return list(zip(databases, topologies, strict=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slowest files."""
    items.sort(key=_order_of_file)


def _order_of_file(item: pytest.Item) -> int:
    """Return the position of a test's file among the slowest files, which come before all others."""
    name = item.path.relative_to(Path(__file__).parent).as_posix()
    return SLOWEST_FILES.index(name) if name in SLOWEST_FILES else len(SLOWEST_FILES)


def missing(what: str) -> None:
    """Skip a test that lacks something on this machine, or fail where nothing may be missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing, and CI=true allows no skipping")
    pytest.skip(f"{what} is missing on this machine")


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"use_uvloop": False}


@pytest.fixture(scope="session", autouse=True)
def _loaded_catalogs() -> Iterator[None]:
    """Let every backend that a test opens wait until its catalog is loaded, even if workers share few processors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_catalog, "OPEN_SECONDS", CATALOG_SECONDS)
        yield


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """Return the URL of a PostgreSQL server: `TEST_POSTGRESQL_URL`, or a private cluster for this run."""
    configured_url = os.environ.get("TEST_POSTGRESQL_URL")
    if configured_url:
        yield configured_url
        return
    if not POSTGRES_BINARIES:
        missing("PostgreSQL (TEST_POSTGRESQL_URL, or Debian's package postgresql)")
    # initdb refuses to run as root, so the cluster belongs to the user that the package has created.
    as_postgres = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    folder = Path(tempfile.mkdtemp(prefix="touchstone-pg-", dir="/tmp"))
    if as_postgres:
        shutil.chown(folder, "postgres")
    port = _free_port()
    initdb = [
        *as_postgres,
        str(POSTGRES_BINARIES[-1] / "initdb"),
        "-D",
        str(folder / "data"),
        "-U",
        "postgres",
        "-A",
        "trust",
    ]
    subprocess.run([*initdb, "--no-sync", "-E", "UTF8", "--locale=C"], check=True, capture_output=True, cwd="/")
    pg_ctl = [*as_postgres, str(POSTGRES_BINARIES[-1] / "pg_ctl"), "-D", str(folder / "data"), "-w"]
    # Nothing in this cluster outlives the run, so it need not wait for the disk.
    options = f"-h 127.0.0.1 -p {port} -k {folder} -c max_connections=300 -c fsync=off -c full_page_writes=off"
    subprocess.run(
        [*pg_ctl, "-l", str(folder / "log"), "-o", options, "start"], check=True, capture_output=True, cwd="/"
    )
    yield f"postgresql://postgres@127.0.0.1:{port}"
    subprocess.run([*pg_ctl, "-m", "immediate", "stop"], check=True, capture_output=True, cwd="/")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of an empty database of the kind under test."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'touchstone.db'}"
        return

    with _postgresql_database(request.getfixturevalue("postgresql_server")) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a database file with the current schema, which tests copy, because migrating takes longer."""
    file = tmp_path_factory.mktemp("template") / "touchstone.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def postgresql_template(postgresql_server: str) -> Iterator[str]:
    """Create a PostgreSQL database with the current schema, which tests copy, and return its name."""
    with _postgresql_database(postgresql_server) as url:
        _migrate(url)
        yield url.rpartition("/")[2]


@pytest.fixture
def settings(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Return settings of a service without the demo catalog, on a database with the current schema."""
    with _prepared_settings(database_kind, request, tmp_path) as prepared_settings:
        yield prepared_settings


@pytest.fixture(scope="module")
def module_settings(
    database_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """Return settings as `settings` does, for a service that the tests of a module share."""
    with _prepared_settings(database_kind, request, tmp_path_factory.mktemp("module")) as prepared_settings:
        yield prepared_settings


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database under test, which has the current schema."""
    database = Database(settings.effective_database_url)
    yield database
    await database.close()


@pytest.fixture
async def service(settings: Settings, topology: str) -> AsyncIterator[Any]:
    """Open the whole product: in one process, or with a real HTTP connection to its selection backend."""
    from tests.serving import running  # noqa: PLC0415 - tests of single packages run without the whole product

    async with running(settings, topology) as service:
        yield service


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextlib.contextmanager
def _postgresql_database(server: str, *, template: str = "template1") -> Iterator[str]:
    """Create a database that is a copy of a template, and drop it at the end of the block."""
    name = f"t_{secrets.token_hex(6)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    yield f"{server}/{name}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def _prepared_settings(database_kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Settings]:
    """Copy the template of a kind of database, and return settings of a service on the copy."""
    if database_kind == "sqlite":
        file = folder / "touchstone.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), file)
        yield _settings(f"sqlite:///{file}", folder)
        return

    server = request.getfixturevalue("postgresql_server")
    with _postgresql_database(server, template=request.getfixturevalue("postgresql_template")) as url:
        yield _settings(url, folder)


def _settings(database_url: str, folder: Path) -> Settings:
    """Return settings of a service without the demo catalog."""
    return Settings.load(
        {
            "TOUCHSTONE_DATABASE_URL": database_url,
            "TOUCHSTONE_DATA_DIR": str(folder / "data"),
            "TOUCHSTONE_DEMO": "false",
            # On a busy machine, even a small file may take longer to measure than a request usually waits.
            "TOUCHSTONE_PROFILE_WAIT_SECONDS": "60",
        }
    )


def _migrate(database_url: str) -> None:
    """Create the current schema in an empty database."""

    async def migrate() -> None:
        database = Database(database_url)
        await prepare_schema(database)
        await database.close()

    # The event loop of the tests belongs to this thread, so the migration gets a thread of its own.
    with ThreadPoolExecutor(max_workers=1) as executor:
        executor.submit(asyncio.run, migrate()).result()
