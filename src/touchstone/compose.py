"""The product and how it is put together: services are opened in order, and closed in reverse order.

The services are the gateway, which also serves the pages, and the backends `selection`, `training` and `explanation`.
They run together in one process (`open_product`) or each in its own (`open_gateway`, `open_backend`).
"""

import contextlib
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core import logs
from touchstone.core.data_folder import prepare_data_folder
from touchstone.core.errors import ServiceError, StorageFull, Unavailable
from touchstone.core.identity import USER_ID_HEADER
from touchstone.core.internal_tokens import InternalTokens
from touchstone.core.outage_log import first_line_of_driver_error
from touchstone.core.settings import Settings, SettingsError
from touchstone.database.engine import Database
from touchstone.database.migrations import (
    current_revision,
    is_older_revision,
    prepare_schema,
    required_revision,
    upgrade_schema,
)
from touchstone.database.sqlite import is_damaged, sqlite_path
from touchstone.http import server
from touchstone.http.admission import SamePlaceMiddleware
from touchstone.http.error_responses import error_response
from touchstone.http.middleware import EdgeMiddleware, client_address
from touchstone.http.same_installation_check import (
    PartIdentity,
    PartIdentityMiddleware,
    check_same_installation,
    read_or_create_installation_id,
)
from touchstone.http.upstream import AbsentBackend, InProcessBackend, RemoteBackend, Upstream
from touchstone.jobs.backend_app import JobBackend
from touchstone.jobs.kinds import JOB_KIND_NAMES
from touchstone.jobs.runtime import JobRuntime
from touchstone.services.explanation.app import Explanation
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.first_administrator import Credentials, create_first_administrator
from touchstone.services.gateway.public_routes import BACKENDS, LARGE_BODIES
from touchstone.services.selection.app import Selection
from touchstone.services.training.app import Training
from touchstone.startup_message import is_public, startup_lines
from touchstone.web.app import LARGE_BODIES as LARGE_PAGES
from touchstone.web.app import WebApp
from touchstone.web.cookies import authorization_headers


class Closable(Protocol):
    """Something that has been opened and must be closed."""

    async def close(self) -> None:
        """Release its resources."""


class Backend(Closable, Protocol):
    """An opened backend."""

    @property
    def app(self) -> ASGIApp:
        """The application that handles its requests."""


C = TypeVar("C", bound=Closable)

# The backends that execute jobs, by name.
JOB_BACKENDS: Final[Mapping[str, type[JobBackend]]] = {"training": Training, "explanation": Explanation}


class OpenServices(AsyncExitStack):
    """The services and connections that a process has opened.

    They are closed in reverse order at the end of the `async with` block.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings

    async def add(self, opening: Awaitable[C]) -> C:
        """Wait until a service is open, and return it; the end of the block closes it.

        Raises:
            SettingsError: The service cannot use the database.
        """
        with startup_errors(self._settings):
            service = await opening
        self.push_async_callback(service.close)
        return service


class PublicSite:
    """The pages under `/app/` and the API beside them, on one address."""

    def __init__(self, pages: WebApp, gateway: Gateway) -> None:
        self.pages = pages
        self.gateway = gateway

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass `/` and `/app…` on to the pages, and everything else to the gateway."""
        app = self.pages.app if _is_page(scope) else self.gateway.app
        return app(scope, receive, send)

    def error_response(self, error: ServiceError, scope: Scope) -> ASGIApp:
        """Return the response to a request that is refused before it reaches the pages or the gateway."""
        if _is_page(scope):
            return self.pages.refusal(error, scope)
        return error_response(error, scope)

    def caller_of(self, scope: Scope) -> Hashable:
        """Return the user who was recognised a moment ago for the same credentials, or else the client's address."""
        headers = authorization_headers(scope) if _is_page(scope) else scope["headers"]
        return self.gateway.known_user(headers) or client_address(scope)


def _is_page(scope: Scope) -> bool:
    path = scope.get("path", "")
    return path in ("/", "/app", "/favicon.ico") or path.startswith("/app/")


def forwarded_caller_of(scope: Scope) -> Hashable:
    """Return the user whom the gateway names in a request to a backend, or else the client's address."""
    for header_name, user_id in scope["headers"]:
        if header_name == USER_ID_HEADER:
            return user_id  # type: ignore[no-any-return]
    return client_address(scope)


async def serve(service_name: str | None, settings: Settings, print_line: Callable[[str], Any]) -> None:
    """Serve one service, or the whole product if `service_name` is None, until a signal stops the process.

    The first start of an installation creates an administrator. As soon as the server answers requests, `print_line`
    is called with each line that the operator needs to know, such as the address and the administrator's password.

    Raises:
        SettingsError, SchemaError: The service cannot start; the message is the line to show.
    """
    logs.configure_logging(settings)

    if is_public(service_name):
        administrator = await _create_first_administrator(settings)
        server_settings = settings
    else:
        administrator = None
        server_settings = _backend_server_settings(settings)

    def print_startup_lines(address: str) -> None:
        for line in startup_lines(service_name, address, administrator):
            print_line(line)

    service = open_service(service_name, settings)
    await server.serve(service, server_settings, ready=print_startup_lines)


async def _create_first_administrator(settings: Settings) -> Credentials | None:
    """Create an administrator if the database has no users, and return the new credentials, or else None."""
    async with open_prepared_database(settings) as database:
        with startup_errors(settings):
            return await create_first_administrator(database)


def open_service(service_name: str | None, settings: Settings) -> AbstractAsyncContextManager[ASGIApp]:
    """Return a context manager that opens one service, or the whole product if `service_name` is None.

    At the beginning of its `async with` block it yields the application to serve.

    Raises:
        SettingsError: The address of the selection service, which all other services need, is not set.
    """
    if service_name is None:
        return open_product(settings)
    if service_name == "selection":
        return open_backend("selection", settings)

    if settings.selection_url is None:
        raise SettingsError(
            f"TOUCHSTONE_SELECTION_URL: {service_name} needs the address of the selection part; start it first."
        )
    if service_name == "gateway":
        return open_gateway(settings)
    return open_backend(service_name, settings)


@asynccontextmanager
async def open_product(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open all services in this process, and yield the application that serves the web pages and the API.

    At the end of the block, the services and the database are closed.

    Raises:
        SchemaError: The database needs `touchstone db upgrade`.
    """
    async with open_prepared_database(settings) as database, OpenServices(settings) as services:
        gateway = await _open_gateway_with_backends(settings, database, services)
        yield await _open_public_site(settings, gateway, services)


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open the gateway and the web pages, and yield the application that serves both.

    The gateway passes requests on to the backends, which run in other processes.
    """
    async with open_prepared_database(settings) as database, OpenServices(settings) as services:
        # Connect to the backends at their addresses in the settings.
        backends: dict[str, Upstream] = {}
        for name in BACKENDS:
            backends[name] = await _connect_to_backend(name, settings, services)

        # Open the gateway. It signs the requests that it passes on, so that the backends can tell where they come from.
        tokens = _internal_tokens(settings)
        gateway = await services.add(Gateway.open(settings, database, tokens, backends))

        yield await _open_public_site(settings, gateway, services)


@asynccontextmanager
async def open_backend(name: str, settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open one backend on its own, and yield the application that serves it to a gateway in another process.

    Raises:
        SettingsError: It would listen beyond this machine without the key that authenticates the gateway.
    """
    if settings.internal_key is None and not settings.listens_locally:
        raise SettingsError(
            f"TOUCHSTONE_INTERNAL_KEY: needed to serve {name} on {settings.host}; without it only on loopback."
        )

    async with open_prepared_database(settings) as database, OpenServices(settings) as services:
        backend = await _open_single_backend(name, settings, database, services)
        identified_backend = _identify_backend(backend, name, settings)

        yield EdgeMiddleware(
            identified_backend,
            _backend_server_settings(settings),
            upload_paths=LARGE_BODIES,
            caller_of=forwarded_caller_of,
        )


def _identify_backend(backend: Backend, name: str, settings: Settings) -> ASGIApp:
    """Return the application of a backend that also tells the gateway which installation it belongs to.

    A gateway that was given the address of another installation by mistake therefore does not start.
    """
    tokens = _internal_tokens(settings)
    installation_id = read_or_create_installation_id(settings.data_dir)
    identity = PartIdentity(name, installation_id, has_key=tokens is not None)
    return PartIdentityMiddleware(backend.app, tokens, identity)


async def _open_gateway_with_backends(settings: Settings, database: Database, services: OpenServices) -> Gateway:
    """Open the backends and the gateway in this process, and return the gateway.

    Requests between them do not leave the process, so they need no tokens that prove where they come from.
    """
    backends = await _open_all_backends(settings, database, services)
    return await services.add(Gateway.open(settings, database, tokens=None, upstreams=backends))


async def _open_all_backends(settings: Settings, database: Database, services: OpenServices) -> dict[str, Upstream]:
    """Open every backend in this process, and return by name the applications to which the gateway passes requests.

    `services` closes the backends when the process ends.
    """
    selection = await services.add(Selection.open(settings, database, tokens=None))
    selection_upstream = InProcessBackend(selection.app)
    backends: dict[str, Upstream] = {"selection": selection_upstream}

    # The other backends read datasets from the selection backend, and share one pool of worker processes for jobs.
    job_runtime = await services.add(JobRuntime.open(settings, database, JOB_KIND_NAMES))
    for name, backend_class in JOB_BACKENDS.items():
        backend = await services.add(
            backend_class.open(
                settings, database, tokens=None, selection=selection_upstream, shared_runtime=job_runtime
            )
        )
        backends[name] = InProcessBackend(backend.app)

    return backends


async def _open_single_backend(name: str, settings: Settings, database: Database, services: OpenServices) -> Backend:
    """Open and return one backend, which is the only service of its process."""
    tokens = _internal_tokens(settings)
    if name == "selection":
        return await services.add(Selection.open(settings, database, tokens))

    # The other backends read datasets from the selection backend, which runs in another process.
    selection = await _connect_to_backend("selection", settings, services)
    backend_class = JOB_BACKENDS[name]
    return await services.add(backend_class.open(settings, database, tokens, selection))


async def _open_public_site(settings: Settings, gateway: Gateway, services: OpenServices) -> ASGIApp:
    """Open the web pages, and return the application that serves them together with the API of the gateway."""
    # While a page waits for the API, both count as one request. If the API request were a second one, it could have
    # to wait for its turn until other pages finish, which wait for their own API requests.
    api_for_pages = SamePlaceMiddleware(gateway.app)
    pages = await services.add(WebApp.open(settings, api_for_pages))

    site = PublicSite(pages, gateway)
    return EdgeMiddleware(
        site,
        settings,
        upload_paths=LARGE_BODIES | LARGE_PAGES,
        respond_to_error=site.error_response,
        caller_of=site.caller_of,
    )


async def _connect_to_backend(name: str, settings: Settings, services: OpenServices) -> Upstream:
    """Return a connection to a backend in another process, at its address in the settings.

    If the settings have no address, the returned `AbsentBackend` refuses every request.

    Raises:
        SettingsError: The address leads to another backend, or to another installation.
    """
    addresses = {
        "selection": settings.selection_url,
        "training": settings.training_url,
        "explanation": settings.explanation_url,
    }
    address = addresses[name]
    if address is None:
        return AbsentBackend(name)

    backend = RemoteBackend(name, address, timeout=settings.upstream_timeout_seconds)
    services.push_async_callback(backend.close)
    await check_same_installation(backend, _internal_tokens(settings), settings.data_dir)
    return backend


def _backend_server_settings(settings: Settings) -> Settings:
    """Return the settings of a backend's server, without a limit of connections for each client.

    The gateway is the only client of a backend, and calls it on behalf of all users.
    """
    return settings.model_copy(update={"connections_per_address": 0})


def _internal_tokens(settings: Settings) -> InternalTokens | None:
    """Return the tokens with which services authenticate each other, or None if the settings have no internal key."""
    if settings.internal_key is None:
        return None
    return InternalTokens(settings.internal_key.get_secret_value())


async def openapi(settings: Settings) -> dict[str, Any]:
    """Return the public OpenAPI document of the whole product, without touching the data of the installation."""
    with tempfile.TemporaryDirectory() as folder:
        empty_installation = settings.model_copy(
            update={"data_dir": Path(folder), "database_url": None, "demo": False, "job_workers": 0}
        )
        async with open_prepared_database(empty_installation) as database, OpenServices(empty_installation) as services:
            gateway = await _open_gateway_with_backends(empty_installation, database, services)
            return await gateway.openapi()


async def upgrade_database(settings: Settings) -> tuple[str | None, str]:
    """Upgrade the database to the schema of this code, and return the revisions before and after."""
    async with open_database(settings) as database:
        with startup_errors(settings):
            revision_before = await current_revision(database)
            await upgrade_schema(database)
            return revision_before, required_revision()


@asynccontextmanager
async def open_prepared_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database for a service, with the schema that this code needs.

    An empty database gets the schema. An older schema is upgraded only in the embedded default database, because
    another process may be using any other database.

    Raises:
        SettingsError: The database cannot be opened.
        SchemaError: The database needs `touchstone db upgrade`, or is newer than this code.
    """
    is_embedded = settings.database_url is None

    async with open_database(settings) as database:
        with startup_errors(settings):
            revision = await current_revision(database)
            if is_embedded and is_older_revision(revision):
                await _back_up_and_upgrade(database, settings)
            await prepare_schema(database)

        yield database


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database that the settings name, and close it at the end of the block.

    Its schema is neither checked nor changed.

    Raises:
        SettingsError: The database file or the data folder cannot be used.
    """
    url = settings.effective_database_url
    with startup_errors(settings):
        prepare_data_folder(settings, sqlite_path(url))
        database = Database(url, reserve_bytes=settings.reserve_bytes)

    try:
        yield database
    finally:
        await database.close()


async def _back_up_and_upgrade(database: Database, settings: Settings) -> None:
    """Copy the embedded database to a file beside it, and then upgrade its schema.

    The name of the copy ends in the revision of the schema before the upgrade, and the time.
    """
    revision = await current_revision(database)
    timestamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    backup = settings.data_dir / f"touchstone.db.{revision}-{timestamp}"
    await database.backup(backup)

    try:
        await upgrade_schema(database)
    except BaseException:
        # The database is unchanged, and repeated attempts to start must not leave a copy each time.
        backup.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def startup_errors(settings: Settings) -> Iterator[None]:
    """Raise failures of the database in the block, while a service starts, as errors that tell the operator what to do.

    Raises:
        SettingsError: The disk is full, or the database cannot be opened or is damaged. The message is one line, which
            begins with the environment variable that locates the database.
    """
    variable = "TOUCHSTONE_DATA_DIR" if settings.database_url is None else "TOUCHSTONE_DATABASE_URL"
    try:
        yield
    except StorageFull as error:
        raise SettingsError(f"{variable}: the disk is full; free some space and start again.") from error
    except Unavailable as error:
        raise SettingsError(f"{variable}: {_describe_unavailable_database(error, settings)}") from error


def _describe_unavailable_database(error: Unavailable, settings: Settings) -> str:
    """Return why the database cannot be opened and, if its file is damaged, how to continue without it."""
    driver_error = error.__cause__
    reason = first_line_of_driver_error(driver_error)
    if not is_damaged(driver_error):
        return f"the database cannot be opened: {reason}"

    path = sqlite_path(settings.effective_database_url)
    return (
        f"{path} is damaged ({reason}). Move it and its -wal and -shm files away; then put a backup in "
        f"its place, such as one of {path}.*, or start without one to begin empty."
    )
