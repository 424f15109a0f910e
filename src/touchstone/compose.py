"""Wiring: which parts make up the product, opened in order and closed in reverse order.

The parts are the gateway with the pages, and the backends `selection`, `training` and `explanation`. They run together
in one process (`embedded`) or each in its own.
"""

import contextlib
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core import logs
from touchstone.core.data_folder import prepare_data_folder
from touchstone.core.errors import ServiceError, StorageFull, Unavailable
from touchstone.core.identity import USER_ID_HEADER, InternalTokens
from touchstone.core.outage_log import first_line
from touchstone.core.settings import Settings, SettingsError
from touchstone.database.engine import Database
from touchstone.database.migrations import current, head, is_older, prepare, upgrade
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
from touchstone.jobs.runtime import Jobs
from touchstone.services.explanation.app import Explanation
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.first_administrator import create_first_administrator
from touchstone.services.gateway.route_table import LARGE_BODIES
from touchstone.services.selection.app import Selection
from touchstone.services.training.app import Training
from touchstone.web.app import LARGE_BODIES as LARGE_PAGES
from touchstone.web.app import WebApp
from touchstone.web.cookies import authorization_headers

BACKENDS: Final = ("selection", "training", "explanation")
PARTS: Final = ("gateway", *BACKENDS)


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
    for name, value in scope["headers"]:
        if name == USER_ID_HEADER:
            return value  # type: ignore[no-any-return]
    return client_address(scope)


@asynccontextmanager
async def embedded(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open the whole product in this process.

    Raises:
        SchemaError: the database needs `touchstone db upgrade` (the embedded default upgrades itself).
    """
    async with AsyncExitStack() as stack:
        database = await _enter_database(settings, stack)
        with startup_errors(settings):
            gateway_part = await _enter_all_parts(settings, database, stack)
            site = await _enter_public_site(settings, gateway_part, stack)
        yield site


@asynccontextmanager
async def gateway(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open the gateway and the pages in front of the backends that have an address in another process."""
    tokens = _internal_tokens(settings)
    async with AsyncExitStack() as stack:
        database = await _enter_database(settings, stack)
        upstreams = {name: await _enter_upstream(name, settings, stack) for name in BACKENDS}
        with startup_errors(settings):
            gateway_part = await _enter(stack, Gateway.open(settings, database, tokens, upstreams))
            site = await _enter_public_site(settings, gateway_part, stack)
        yield site


@asynccontextmanager
async def backend(name: str, settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open one backend on its own.

    Raises:
        SettingsError: it would listen beyond this machine without the key that authenticates the gateway.
    """
    if settings.internal_key is None and not settings.listens_locally:
        raise SettingsError(
            f"TOUCHSTONE_INTERNAL_KEY: needed to serve {name} on {settings.host}; without it only on loopback."
        )

    tokens = _internal_tokens(settings)
    async with AsyncExitStack() as stack:
        database = await _enter_database(settings, stack)
        with startup_errors(settings):
            backend_part = await _enter(stack, _open_backend(name, settings, database, stack))

        identity = PartIdentity(name, read_or_create_installation_id(settings.data_dir), has_key=tokens is not None)
        app = PartIdentityMiddleware(backend_part.app, tokens, identity)
        yield EdgeMiddleware(app, _backend_settings(settings), upload_paths=LARGE_BODIES, caller_of=forwarded_caller_of)


def part(name: str | None, settings: Settings) -> AbstractAsyncContextManager[ASGIApp]:
    """Return the context manager that opens one part, or the whole product if `name` is None.

    Raises:
        SettingsError: the address of the selection part, which the part depends on, is not set.
    """
    if name is None:
        return embedded(settings)
    if name != "selection" and settings.selection_url is None:
        raise SettingsError(
            f"TOUCHSTONE_SELECTION_URL: {name} needs the address of the selection part; start it first."
        )
    return gateway(settings) if name == "gateway" else backend(name, settings)


async def serve(name: str | None, settings: Settings, echo: Callable[[str], Any]) -> None:
    """Serve one part, or the whole product, until a signal; `echo` prints what the operator needs to know.

    Raises:
        SettingsError, SchemaError: it cannot start; the message is the line to show.
    """
    logs.configure(settings)
    is_public = name in (None, "gateway")
    credentials = None
    if is_public:
        async with AsyncExitStack() as stack:
            database = await _enter_database(settings, stack)
            with startup_errors(settings):
                credentials = await create_first_administrator(database)

    def announce(address: str) -> None:
        label = "Touchstone" if name is None else f"Touchstone {name}"
        echo(f"{label} answers at {address}")
        if credentials:
            login = f"{credentials.email} with the password {credentials.password}"
            echo(f"Sign in as {login} (shown this once; kept nowhere)")
        if is_public:
            echo(f"Pages: {address}/app/   API description: {address}/docs")
            echo(f"Command line, in another terminal: {command_line()} login --url {address}")

    server_settings = settings if is_public else _backend_settings(settings)
    await server.serve(part(name, settings), server_settings, ready=announce)


def command_line() -> str:
    """Return how to run this installation's command: by its name if the shell finds it, else by its whole path."""
    command = Path(sys.executable).with_name("touchstone")
    command_in_path = shutil.which("touchstone")
    if command_in_path and Path(command_in_path).resolve() == command.resolve():
        return "touchstone"
    return str(command)


def _backend_settings(settings: Settings) -> Settings:
    """Return the settings of a backend's listener, whose one client is the gateway and speaks for all users."""
    return settings.model_copy(update={"connections_per_address": 0})


async def upgrade_database(settings: Settings) -> tuple[str | None, str]:
    """Upgrade the database to the schema of this code, and return the revisions before and after."""
    async with opened_database(settings) as database:
        with startup_errors(settings):
            before = await current(database)
            await upgrade(database)
            return before, head()


async def openapi(settings: Settings) -> dict[str, Any]:
    """Return the public OpenAPI document of the whole product."""
    with tempfile.TemporaryDirectory() as folder:
        empty_installation = settings.model_copy(
            update={"data_dir": Path(folder), "database_url": None, "demo": False, "job_workers": 0}
        )
        async with AsyncExitStack() as stack:
            database = await _enter_database(empty_installation, stack)
            gateway_part = await _enter_all_parts(empty_installation, database, stack)
            return await gateway_part.openapi()


async def _enter_all_parts(settings: Settings, database: Database, stack: AsyncExitStack) -> Gateway:
    """Open every backend in this process, and the gateway in front of them."""
    selection = await _enter(stack, Selection.open(settings, database, None))
    selection_upstream = InProcessBackend(selection.app)

    jobs = await _enter(stack, Jobs.open(settings, database, JOB_KIND_NAMES))
    training = await _enter(stack, Training.open(settings, database, None, selection_upstream, jobs=jobs))
    explanation = await _enter(stack, Explanation.open(settings, database, None, selection_upstream, jobs=jobs))

    upstreams: dict[str, Upstream] = {
        "selection": selection_upstream,
        "training": InProcessBackend(training.app),
        "explanation": InProcessBackend(explanation.app),
    }
    return await _enter(stack, Gateway.open(settings, database, None, upstreams))


async def _open_backend(name: str, settings: Settings, database: Database, stack: AsyncExitStack) -> Backend:
    """Open one backend; training and explanation depend on the selection part in another process."""
    tokens = _internal_tokens(settings)
    if name == "selection":
        return await Selection.open(settings, database, tokens)

    selection = await _enter_upstream("selection", settings, stack)
    backend_class = Training if name == "training" else Explanation
    return await backend_class.open(settings, database, tokens, selection)


async def _enter_public_site(settings: Settings, gateway_part: Gateway, stack: AsyncExitStack) -> ASGIApp:
    # The pages call the API within the admission of their own request, because a second one could wait for the first.
    pages = await _enter(stack, WebApp.open(settings, SamePlaceMiddleware(gateway_part.app)))
    site = PublicSite(pages, gateway_part)
    return EdgeMiddleware(
        site,
        settings,
        upload_paths=LARGE_BODIES | LARGE_PAGES,
        respond_to_error=site.error_response,
        caller_of=site.caller_of,
    )


async def _enter(stack: AsyncExitStack, opening: Awaitable[C]) -> C:
    """Open something, and close it with the stack."""
    resource = await opening
    stack.push_async_callback(resource.close)
    return resource


async def _enter_upstream(name: str, settings: Settings, stack: AsyncExitStack) -> Upstream:
    """Return the backend at the address in the settings, once it is known to belong to the same installation."""
    url: str | None = getattr(settings, f"{name}_url")
    if url is None:
        return AbsentBackend(name)

    remote = RemoteBackend(name, url, timeout=settings.upstream_timeout_seconds)
    stack.push_async_callback(remote.close)
    await check_same_installation(remote, _internal_tokens(settings), settings.data_dir)
    return remote


async def _enter_database(settings: Settings, stack: AsyncExitStack) -> Database:
    """Open the database with the schema of this code; only the embedded default is upgraded automatically."""
    database = await stack.enter_async_context(opened_database(settings))
    with startup_errors(settings):
        if settings.database_url is None and is_older(await current(database)):
            await _upgrade_embedded(settings, database)
        await prepare(database)
    return database


@asynccontextmanager
async def opened_database(settings: Settings) -> AsyncIterator[Database]:
    """Open the database as it is, whatever its schema.

    Raises:
        SettingsError: its file or the data folder cannot be used.
    """
    url = settings.effective_database_url
    with startup_errors(settings):
        prepare_data_folder(settings, sqlite_path(url))
        database = Database(url, reserve_bytes=settings.reserve_bytes)
    try:
        yield database
    finally:
        await database.close()


async def _upgrade_embedded(settings: Settings, database: Database) -> None:
    """Upgrade the embedded database, which no other process uses, and keep a copy of it as it was."""
    timestamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    copy = settings.data_dir / f"touchstone.db.{await current(database)}-{timestamp}"
    await database.backup(copy)
    try:
        await upgrade(database)
    except BaseException:
        # The database is unchanged, and repeated attempts to start must not leave a copy each time.
        copy.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def startup_errors(settings: Settings) -> Iterator[None]:
    """Convert errors of the database into the one line that an operator needs.

    Raises:
        SettingsError: something in the block failed because of the database or the disk.
    """
    variable = "TOUCHSTONE_DATA_DIR" if settings.database_url is None else "TOUCHSTONE_DATABASE_URL"
    try:
        yield
    except StorageFull as error:
        raise SettingsError(f"{variable}: the disk is full; free some space and start again.") from error
    except Unavailable as error:
        reason = first_line(error.__cause__)
        if not is_damaged(error.__cause__):
            raise SettingsError(f"{variable}: the database cannot be opened: {reason}") from error

        path = sqlite_path(settings.effective_database_url)
        raise SettingsError(
            f"{variable}: {path} is damaged ({reason}). Move it and its -wal and -shm files away; then put a backup in "
            f"its place, such as one of {path}.*, or start without one to begin empty."
        ) from error


def _internal_tokens(settings: Settings) -> InternalTokens | None:
    return None if settings.internal_key is None else InternalTokens(settings.internal_key.get_secret_value())
