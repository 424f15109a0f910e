"""Fixtures for all tests: real databases of each kind, and the whole service in each topology."""

import asyncio
import atexit
import contextlib
import functools
import gc
import os
import shutil
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import httpcore2
import hypothesis
import pytest

from tests.postgres_cluster import postgres_cluster
from tests.postgresql_databases import PreparedDatabases, empty_database
from touchstone.core.garbage_collection import without_garbage_collection
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.database.migrations import prepare_schema
from touchstone.http.server import COLLECTION_THRESHOLDS
from touchstone.services.selection.catalog import live_catalog

# The service reserves disk space for each database. The reserves of many test databases would fill the disk.
os.environ.setdefault("TOUCHSTONE_RESERVE_BYTES", "0")
# As in the worker processes of jobs: idle threads of the numeric libraries do not keep a core busy until there is work
# for them, which would take most of the time of small trainings while other tests run beside them.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# Tests with random cases must not fail because the machine is busy.
hypothesis.settings.register_profile("touchstone", deadline=None)
hypothesis.settings.load_profile("touchstone")
DATABASES = ("sqlite", "postgresql")
TOPOLOGIES = ("embedded", "split")
CATALOG_SECONDS = 120.0
# The slowest test files in descending order of duration. They are started first, so that no worker is left with a slow
# file at the end of a run.
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
    """Parametrize tests over databases, topologies, or combinations of both."""
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
    """Return combinations that cover each database and each topology, or all combinations.

    Covering is enough because the two choices are independent of each other (decision 0054).
    """
    if every or len(databases) != len(topologies):
        return list(product(databases, topologies))
    return list(zip(databases, topologies, strict=True))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Pause the garbage collector while tests are imported, and exempt the imported objects from later collections.

    Modules and tests are never collected, but every process of a run would spend a quarter of this time on examining
    them repeatedly. Later collections are as rare as in a server, so that tests do not spend a tenth of their time on
    them.
    """
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    # Otherwise, native libraries report the objects that are exempt from garbage collection as leaks.
    atexit.register(gc.unfreeze)
    with without_garbage_collection():
        return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slowest files first."""
    items.sort(key=_order_of_file)


def _order_of_file(item: pytest.Item) -> int:
    """Return the sort key of a test: the index of its file in `SLOWEST_FILES`, or a larger number."""
    name = item.path.relative_to(Path(__file__).parent).as_posix()
    return SLOWEST_FILES.index(name) if name in SLOWEST_FILES else len(SLOWEST_FILES)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    return "asyncio", {"use_uvloop": False}


@pytest.fixture(scope="session", autouse=True)
def _loaded_catalogs() -> Iterator[None]:
    """Raise the time limit for loading a catalog, because parallel workers share few processors."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_catalog, "OPEN_SECONDS", CATALOG_SECONDS)
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """Let all HTTP clients of this process share the trusted certificates.

    To read them takes 18 ms. Nearly every test of a served product opens several clients.
    """
    read_certificates = httpcore2.default_ssl_context

    @functools.cache
    def certificates(trust_env: bool, *_variables: str | None) -> ssl.SSLContext:
        return read_certificates(_trust_env=trust_env)

    def default_ssl_context(*, _trust_env: bool = True) -> ssl.SSLContext:
        return certificates(_trust_env, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", default_ssl_context)
        yield


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """Return the URL of a PostgreSQL server: `TEST_POSTGRESQL_URL`, or a private cluster for this run."""
    configured_url = os.environ.get("TEST_POSTGRESQL_URL")
    if configured_url:
        yield configured_url
        return

    # The cluster is deleted after the run, so it does not need to wait for the disk.
    with postgres_cluster("-c max_connections=300 -c fsync=off -c full_page_writes=off") as cluster:
        yield cluster.server_url


@pytest.fixture
def database_url(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the URL of an empty database of the kind under test."""
    if database_kind == "sqlite":
        yield f"sqlite:///{tmp_path / 'touchstone.db'}"
        return

    with empty_database(request.getfixturevalue("postgresql_server")) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Create a database file with the current schema. Tests copy it because migrations take longer."""
    file = tmp_path_factory.mktemp("template") / "touchstone.db"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def prepared_databases(postgresql_server: str) -> Iterator[PreparedDatabases]:
    """Return PostgreSQL databases with the current schema, which the tests of this process use in turn."""
    databases = PreparedDatabases(postgresql_server, _migrate)
    with databases.opened():
        yield databases


@pytest.fixture
def settings(database_kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Settings]:
    """Return the settings of a service without the demo catalog, with an up-to-date database."""
    with _prepared_settings(database_kind, request, tmp_path) as prepared_settings:
        yield prepared_settings


@pytest.fixture(scope="module")
def module_settings(
    database_kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Settings]:
    """Return settings like the fixture `settings`, for a service shared by the tests of a module."""
    with _prepared_settings(database_kind, request, tmp_path_factory.mktemp("module")) as prepared_settings:
        yield prepared_settings


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """Open the up-to-date database under test."""
    database = Database(settings.effective_database_url)
    yield database
    await database.close()


@pytest.fixture
async def service(settings: Settings, topology: str) -> AsyncIterator[Any]:
    """Open the whole product, either in one process or with its backends behind HTTP servers."""
    from tests.serving import running  # noqa: PLC0415 - tests of single packages run without the whole product

    async with running(settings, topology) as service:
        yield service


@contextlib.contextmanager
def _prepared_settings(database_kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Settings]:
    """Return the settings of a service that uses a database of the given kind, which no other test uses meanwhile."""
    if database_kind == "sqlite":
        file = folder / "touchstone.db"
        shutil.copyfile(request.getfixturevalue("sqlite_template"), file)
        yield _settings(f"sqlite:///{file}", folder)
        return

    databases: PreparedDatabases = request.getfixturevalue("prepared_databases")
    with databases.borrowed() as url:
        yield _settings(url, folder)


def _settings(database_url: str, folder: Path) -> Settings:
    """Return the settings of a service without the demo catalog."""
    return Settings.load(
        {
            "TOUCHSTONE_DATABASE_URL": database_url,
            "TOUCHSTONE_DATA_DIR": str(folder / "data"),
            "TOUCHSTONE_DEMO": "false",
            # On a busy machine, profiling even a small file may exceed the usual wait of a request.
            "TOUCHSTONE_PROFILE_WAIT_SECONDS": "60",
        }
    )


def _migrate(database_url: str) -> None:
    """Create the current schema in an empty database."""

    async def migrate() -> None:
        database = Database(database_url)
        await prepare_schema(database)
        await database.close()

    # This thread already runs the event loop of the tests, so the migration needs a separate thread.
    with ThreadPoolExecutor(max_workers=1) as executor:
        executor.submit(asyncio.run, migrate()).result()
