"""The product and how it is put together: services are opened in order, and closed in reverse order.

The services are the gateway, which also serves the pages, and the backends `selection`, `training` and `explanation`.
They run together in one process (`open_product`) or each in its own (`open_gateway`, `open_backend`).
"""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core import logs
from touchstone.core.data_folder import prepare_data_folder
from touchstone.core.errors import ServiceError, StorageFull, Unavailable
from touchstone.core.identity import USER_ID_HEADER, InternalTokens
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
from touchstone.jobs.kinds import JOB_KIND_NAMES
from touchstone.jobs.runtime import JobRuntime
from touchstone.services.explanation.app import Explanation
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.first_administrator import Credentials, create_first_administrator
from touchstone.services.gateway.public_routes import BACKENDS, LARGE_BODIES
from touchstone.services.selection.app import Selection
from touchstone.services.training.app import Training
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


class OpenServices(AsyncExitStack):
    """The services and connections that a process has opened.

    They are closed in reverse order at the end of the `async with` block.
    """

    async def add(self, opening: Awaitable[C]) -> C:
        """Wait until a service is open, and return it; the end of the block closes it."""
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

    Once requests are answered, `print_line` is called with each line that the operator needs to know. The first start
    of an installation creates an administrator, whose password is among these lines.

    Raises:
        SettingsError, SchemaError: The service cannot start; the message is the line to show.
    """
    logs.configure_logging(settings)
    is_public = service_name in (None, "gateway")
    administrator = await _create_first_administrator(settings) if is_public else None

    def announce(address: str) -> None:
        label = "Touchstone" if service_name is None else f"Touchstone {service_name}"
        print_line(f"{label} answers at {address}")
        if administrator is not None:
            login = f"{administrator.email} with the password {administrator.password}"
            print_line(f"Sign in as {login} (shown this once; kept nowhere)")
        if is_public:
            print_line(f"Pages: {address}/app/   API description: {address}/docs")
            print_line(f"Command line, in another terminal: {command_line()} login --url {address}")

    server_settings = settings if is_public else _backend_server_settings(settings)
    await server.serve(open_service(service_name, settings), server_settings, ready=announce)


async def _create_first_administrator(settings: Settings) -> Credentials | None:
    """Create an administrator if the database has no users, and return the new credentials, or else None."""
    async with open_prepared_database(settings) as database:
        with startup_errors(settings):
            return await create_first_administrator(database)


def command_line() -> str:
    """Return how to run this installation's command: by its name if the shell finds it, else by its whole path."""
    command = Path(sys.executable).with_name("touchstone")
    command_in_path = shutil.which("touchstone")
    if command_in_path and Path(command_in_path).resolve() == command.resolve():
        return "touchstone"
    return str(command)


def open_service(service_name: str | None, settings: Settings) -> AbstractAsyncContextManager[ASGIApp]:
    """Return the context manager that opens one service, or the whole product if `service_name` is None.

    Raises:
        SettingsError: The address of the selection service, which all other services need, is not set.
    """
    if service_name is None:
        return open_product(settings)

    if service_name != "selection" and settings.selection_url is None:
        raise SettingsError(
            f"TOUCHSTONE_SELECTION_URL: {service_name} needs the address of the selection part; start it first."
        )
    if service_name == "gateway":
        return open_gateway(settings)
    return open_backend(service_name, settings)


@asynccontextmanager
async def open_product(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open all services in this process, and yield the application that serves the pages and the API.

    Raises:
        SchemaError: The database needs `touchstone db upgrade`; the embedded default is upgraded automatically.
    """
    async with open_prepared_database(settings) as database, OpenServices() as services:
        with startup_errors(settings):
            gateway = await _open_gateway_with_backends(settings, database, services)
            site = await _open_public_site(settings, gateway, services)

        yield site


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open the gateway and the pages, and yield the application that serves both.

    The backends run in other processes, at the addresses in the settings. A backend without an address is absent.
    """
    async with open_prepared_database(settings) as database, OpenServices() as services:
        upstreams = {name: await _connect_to_backend(name, settings, services) for name in BACKENDS}

        with startup_errors(settings):
            gateway = await services.add(Gateway.open(settings, database, _internal_tokens(settings), upstreams))
            site = await _open_public_site(settings, gateway, services)

        yield site


@asynccontextmanager
async def open_backend(name: str, settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open one backend on its own, and yield the application that serves it to the gateway.

    Raises:
        SettingsError: It would listen beyond this machine without the key that authenticates the gateway.
    """
    if settings.internal_key is None and not settings.listens_locally:
        raise SettingsError(
            f"TOUCHSTONE_INTERNAL_KEY: needed to serve {name} on {settings.host}; without it only on loopback."
        )
    tokens = _internal_tokens(settings)

    async with open_prepared_database(settings) as database, OpenServices() as services:
        with startup_errors(settings):
            backend = await _open_single_backend(name, settings, database, services)

        identity = PartIdentity(name, read_or_create_installation_id(settings.data_dir), has_key=tokens is not None)
        yield EdgeMiddleware(
            PartIdentityMiddleware(backend.app, tokens, identity),
            _backend_server_settings(settings),
            upload_paths=LARGE_BODIES,
            caller_of=forwarded_caller_of,
        )


async def _open_gateway_with_backends(settings: Settings, database: Database, services: OpenServices) -> Gateway:
    """Open every backend in this process, and the gateway in front of them.

    Requests between the services do not leave the process, so they need no internal tokens.
    """
    selection = await services.add(Selection.open(settings, database, tokens=None))
    selection_upstream = InProcessBackend(selection.app)

    job_runtime = await services.add(JobRuntime.open(settings, database, JOB_KIND_NAMES))
    training = await services.add(
        Training.open(settings, database, tokens=None, selection=selection_upstream, shared_runtime=job_runtime)
    )
    explanation = await services.add(
        Explanation.open(settings, database, tokens=None, selection=selection_upstream, shared_runtime=job_runtime)
    )

    upstreams: dict[str, Upstream] = {
        "selection": selection_upstream,
        "training": InProcessBackend(training.app),
        "explanation": InProcessBackend(explanation.app),
    }
    return await services.add(Gateway.open(settings, database, tokens=None, upstreams=upstreams))


async def _open_single_backend(name: str, settings: Settings, database: Database, services: OpenServices) -> Backend:
    """Open one backend; training and explanation call the selection service in another process."""
    tokens = _internal_tokens(settings)
    if name == "selection":
        return await services.add(Selection.open(settings, database, tokens))

    selection_upstream = await _connect_to_backend("selection", settings, services)
    backend_class = Training if name == "training" else Explanation
    return await services.add(backend_class.open(settings, database, tokens, selection_upstream))


async def _open_public_site(settings: Settings, gateway: Gateway, services: OpenServices) -> ASGIApp:
    """Open the pages, and return the application that serves them beside the API of the gateway."""
    # The pages call the API within the admission of their own request, because a second one could wait for the first.
    api = SamePlaceMiddleware(gateway.app)
    pages = await services.add(WebApp.open(settings, api))

    site = PublicSite(pages, gateway)
    return EdgeMiddleware(
        site,
        settings,
        upload_paths=LARGE_BODIES | LARGE_PAGES,
        respond_to_error=site.error_response,
        caller_of=site.caller_of,
    )


async def _connect_to_backend(name: str, settings: Settings, services: OpenServices) -> Upstream:
    """Return the backend at its address in the settings, or an `AbsentBackend` if the settings have none.

    Raises:
        SettingsError: What answers there is another backend, or belongs to another installation.
    """
    url: str | None = getattr(settings, f"{name}_url")
    if url is None:
        return AbsentBackend(name)

    backend = RemoteBackend(name, url, timeout=settings.upstream_timeout_seconds)
    services.push_async_callback(backend.close)
    await check_same_installation(backend, _internal_tokens(settings), settings.data_dir)
    return backend


def _backend_server_settings(settings: Settings) -> Settings:
    """Return the settings of a backend's listener, whose one client is the gateway and speaks for all users."""
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
        async with open_prepared_database(empty_installation) as database, OpenServices() as services:
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
    """Open the database for serving, with the schema that this code needs.

    An empty database gets the schema. Of the others, only the embedded default is upgraded automatically, because no
    other process uses it.

    Raises:
        SettingsError: The database cannot be opened.
        SchemaError: The database needs `touchstone db upgrade`, or is newer than this code.
    """
    async with open_database(settings) as database:
        with startup_errors(settings):
            is_embedded = settings.database_url is None
            if is_embedded and is_older_revision(await current_revision(database)):
                await _back_up_and_upgrade(database, settings)
            await prepare_schema(database)

        yield database


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database as it is, whatever its schema, and close it at the end of the block.

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
    """Upgrade the embedded database, and keep a copy of it as it was before."""
    timestamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    backup = settings.data_dir / f"touchstone.db.{await current_revision(database)}-{timestamp}"
    await database.backup(backup)

    try:
        await upgrade_schema(database)
    except BaseException:
        # The database is unchanged, and repeated attempts to start must not leave a copy each time.
        backup.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def startup_errors(settings: Settings) -> Iterator[None]:
    """Convert errors of the database, while a service starts, into one line that tells the operator what to do.

    Raises:
        SettingsError: The disk is full, or the database cannot be opened or is damaged; the message begins with the
            environment variable that locates the database.
    """
    variable = "TOUCHSTONE_DATA_DIR" if settings.database_url is None else "TOUCHSTONE_DATABASE_URL"
    try:
        yield
    except StorageFull as error:
        raise SettingsError(f"{variable}: the disk is full; free some space and start again.") from error
    except Unavailable as error:
        cause = error.__cause__
        reason = first_line_of_driver_error(cause)
        if not is_damaged(cause):
            raise SettingsError(f"{variable}: the database cannot be opened: {reason}") from error

        path = sqlite_path(settings.effective_database_url)
        raise SettingsError(
            f"{variable}: {path} is damaged ({reason}). Move it and its -wal and -shm files away; then put a backup in "
            f"its place, such as one of {path}.*, or start without one to begin empty."
        ) from error
