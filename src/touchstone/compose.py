"""Wiring: which parts make a product, opened in order and closed in reverse. Nothing here decides anything else."""

import contextlib
import secrets
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
from touchstone.http.admission import InSamePlace
from touchstone.http.error_responses import error_response
from touchstone.http.installation import InstallationMiddleware, PartIdentity, check_same_installation, installation_id
from touchstone.http.middleware import Edge, client_address
from touchstone.http.upstream import AbsentBackend, InProcessBackend, RemoteBackend, Upstream
from touchstone.jobs.kinds import KINDS
from touchstone.jobs.runtime import Jobs
from touchstone.services.explanation.app import Explanation
from touchstone.services.gateway.accounts import any_user, create_user
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.route_table import LARGE_BODIES
from touchstone.services.selection.app import Selection
from touchstone.services.training.app import Training
from touchstone.web.app import LARGE_BODIES as LARGE_PAGES
from touchstone.web.app import WebApp
from touchstone.web.cookies import authorization_headers

BACKENDS: Final = ("selection", "training", "explanation")
PARTS: Final = ("gateway", *BACKENDS)
FIRST_ADMIN: Final = "admin@touchstone.localhost"


class Closable(Protocol):
    """Something that has been opened, and must be closed."""

    async def close(self) -> None:
        """Give back what it holds."""


class Backend(Closable, Protocol):
    """A part that has been opened: its application, and how to close it."""

    @property
    def app(self) -> ASGIApp:
        """What answers its requests."""


P = TypeVar("P", bound=Closable)


class Front:
    """The pages under `/app/` and the API beside them, on one address."""

    def __init__(self, pages: WebApp, gateway: Gateway) -> None:
        self.pages = pages
        self.api = gateway.app
        self.gateway = gateway

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pages answer `/` and `/app…`, the gateway everything else."""
        return (self.pages.app if _is_page(scope) else self.api)(scope, receive, send)

    def refusal(self, problem: ServiceError, scope: Scope) -> ASGIApp:
        """What is refused before either is asked: in the pages a page, elsewhere the API's answer."""
        return (self.pages.refusal if _is_page(scope) else error_response)(problem, scope)

    def caller(self, scope: Scope) -> Hashable:
        """Return whose request this is: a user who was recognised a moment ago, else an address."""
        headers = authorization_headers(scope) if _is_page(scope) else scope["headers"]
        return self.gateway.known_user(headers) or client_address(scope)


def forwarded_caller(scope: Scope) -> Hashable:
    """Return whose request a backend answers: whom the gateway names, else the address."""
    return next((value for name, value in scope["headers"] if name == USER_ID_HEADER), None) or client_address(scope)


def _is_page(scope: Scope) -> bool:
    path = scope.get("path", "")
    return path in ("/", "/app", "/favicon.ico") or path.startswith("/app/")


@asynccontextmanager
async def embedded(settings: Settings) -> AsyncIterator[ASGIApp]:
    """The whole product in this process.

    Raises:
        SchemaError: the database needs `touchstone db upgrade` (the embedded default upgrades itself).
    """
    async with AsyncExitStack() as stack:
        database = await _database(settings, stack)
        with start_problems(settings):
            opened = await _everything(settings, database, stack)
            front = await _fronted(settings, opened, stack)
        yield front


@asynccontextmanager
async def gateway(settings: Settings) -> AsyncIterator[ASGIApp]:
    """The gateway and the pages, with every backend that has an address in another process."""
    async with AsyncExitStack() as stack:
        database = await _database(settings, stack)
        upstreams = {name: _upstream(name, settings, stack) for name in BACKENDS}
        for upstream in upstreams.values():
            if isinstance(upstream, RemoteBackend):
                await check_same_installation(upstream, _tokens(settings), settings.data_dir)
        with start_problems(settings):
            opened = await _opened(stack, Gateway.open(settings, database, _tokens(settings), upstreams))
            front = await _fronted(settings, opened, stack)
        yield front


@asynccontextmanager
async def backend(name: str, settings: Settings) -> AsyncIterator[ASGIApp]:
    """One backend on its own.

    Raises:
        SettingsError: it would listen beyond this machine without a key that proves the gateway.
    """
    if settings.internal_key is None and not settings.listens_locally:
        raise SettingsError(
            f"TOUCHSTONE_INTERNAL_KEY: needed to serve {name} on {settings.host}; without it only on loopback."
        )
    async with AsyncExitStack() as stack:
        database = await _database(settings, stack)
        with start_problems(settings):
            opened = await _opened(stack, _open_backend(name, settings, database, stack))
        identity = PartIdentity(name, installation_id(settings.data_dir), settings.internal_key is not None)
        app = InstallationMiddleware(opened.app, _tokens(settings), identity)
        yield Edge(app, _behind_gateway(settings), large_bodies=LARGE_BODIES, caller_of=forwarded_caller)


def part(name: str | None, settings: Settings) -> AbstractAsyncContextManager[ASGIApp]:
    """The context manager of one part's application; None: the whole product.

    Raises:
        SettingsError: a part has to be told where another one is, and is not.
    """
    if name is None:
        return embedded(settings)
    if name != "selection" and settings.selection_url is None:
        raise SettingsError(
            f"TOUCHSTONE_SELECTION_URL: {name} needs the address of the selection part; start it first."
        )
    return gateway(settings) if name == "gateway" else backend(name, settings)


async def serve(name: str | None, settings: Settings, say: Callable[[str], Any]) -> None:
    """Serve one part, or the whole product, until a signal; `say` gets the lines that a person needs.

    Raises:
        SettingsError, SchemaError: it cannot start; the message is the line to show.
    """
    logs.configure(settings)
    admin = await first_administrator(settings) if name in (None, "gateway") else None

    def ready(address: str) -> None:
        say(f"Touchstone {name or ''}".rstrip() + f" answers at {address}")
        if admin:
            say(f"Sign in as {admin[0]} with the password {admin[1]} (shown this once; kept nowhere)")
        if name in (None, "gateway"):
            say(f"Pages: {address}/app/   API description: {address}/docs")
            say(f"Command line, in another terminal: {command_line()} login --url {address}")

    limits = settings if name in (None, "gateway") else _behind_gateway(settings)
    await server.serve(part(name, settings), limits, ready=ready)


def command_line() -> str:
    """Return what a person types to run this installation's command: its whole path unless the shell finds it."""
    command = Path(sys.executable).with_name("touchstone")
    visible = shutil.which("touchstone")
    return "touchstone" if visible and Path(visible).resolve() == command.resolve() else str(command)


def _behind_gateway(settings: Settings) -> Settings:
    """Return the settings of a backend's listener: its one client, the gateway, speaks for all users."""
    return settings.model_copy(update={"connections_per_address": 0})


async def upgrade_database(settings: Settings) -> tuple[str | None, str]:
    """Bring the database to the schema of this code; the revisions before and after."""
    async with opened_database(settings) as database:
        with start_problems(settings):
            before = await current(database)
            await upgrade(database)
            return before, head()


async def first_administrator(settings: Settings) -> tuple[str, str] | None:
    """Make an administrator with a random password where nobody has an account yet: its e-mail and password."""
    async with AsyncExitStack() as stack:
        database = await _database(settings, stack)
        with start_problems(settings):
            if await any_user(database):
                return None
        password = secrets.token_urlsafe(12)
        with start_problems(settings):
            await create_user(database, email=FIRST_ADMIN, password=password, is_superuser=True)
        return FIRST_ADMIN, password


async def openapi(settings: Settings) -> dict[str, Any]:
    """The public OpenAPI document of the whole product."""
    with tempfile.TemporaryDirectory() as folder:
        bare = settings.model_copy(
            update={"data_dir": Path(folder), "database_url": None, "demo": False, "job_workers": 0}
        )
        async with AsyncExitStack() as stack:
            database = await _database(bare, stack)
            return await (await _everything(bare, database, stack)).openapi()


async def _everything(settings: Settings, database: Database, stack: AsyncExitStack) -> Gateway:
    selection = await _opened(stack, Selection.open(settings, database, None))
    to_selection = InProcessBackend(selection.app)
    room = await _opened(stack, Jobs.open(settings, database, KINDS))
    training = await _opened(stack, Training.open(settings, database, None, to_selection, room=room))
    explanation = await _opened(stack, Explanation.open(settings, database, None, to_selection, room=room))
    upstreams: dict[str, Upstream] = {
        "selection": to_selection,
        "training": InProcessBackend(training.app),
        "explanation": InProcessBackend(explanation.app),
    }
    return await _opened(stack, Gateway.open(settings, database, None, upstreams))


async def _open_backend(name: str, settings: Settings, database: Database, stack: AsyncExitStack) -> Backend:
    tokens = _tokens(settings)
    if name == "selection":
        return await Selection.open(settings, database, tokens)
    kind = Training if name == "training" else Explanation
    selection = _upstream("selection", settings, stack)
    if isinstance(selection, RemoteBackend):
        await check_same_installation(selection, tokens, settings.data_dir)
    return await kind.open(settings, database, tokens, selection)


async def _opened(stack: AsyncExitStack, opening: Awaitable[P]) -> P:
    part = await opening
    stack.push_async_callback(part.close)
    return part


async def _fronted(settings: Settings, opened: Gateway, stack: AsyncExitStack) -> ASGIApp:
    # The pages ask the API within the place of the request that they answer: a second one could wait for the first.
    pages = await _opened(stack, WebApp.open(settings, InSamePlace(opened.app)))
    front = Front(pages, opened)
    return Edge(
        front, settings, large_bodies=LARGE_BODIES | LARGE_PAGES, refusing=front.refusal, caller_of=front.caller
    )


async def _database(settings: Settings, stack: AsyncExitStack) -> Database:
    database = await stack.enter_async_context(opened_database(settings))
    with start_problems(settings):
        if settings.database_url is None and is_older(await current(database)):
            await _upgrade_embedded(settings, database)
        await prepare(database)
    return database


@asynccontextmanager
async def opened_database(settings: Settings) -> AsyncIterator[Database]:
    """The database as it is, whatever its schema.

    Raises:
        SettingsError: its file or the data folder cannot be used.
    """
    url = settings.effective_database_url
    with start_problems(settings):
        prepare_data_folder(settings, sqlite_path(url))
        database = Database(url, reserve_bytes=settings.reserve_bytes)
    try:
        yield database
    finally:
        await database.close()


@contextlib.contextmanager
def start_problems(settings: Settings) -> Iterator[None]:
    """Turn what keeps a part from starting into the one line that an operator needs.

    Raises:
        SettingsError: something in the block could not be done.
    """
    name = "TOUCHSTONE_DATA_DIR" if settings.database_url is None else "TOUCHSTONE_DATABASE_URL"
    try:
        yield
    except StorageFull as problem:
        raise SettingsError(f"{name}: the disk is full; free some space and start again.") from problem
    except Unavailable as problem:
        said = first_line(problem.__cause__)
        if not is_damaged(problem.__cause__):
            raise SettingsError(f"{name}: the database cannot be opened: {said}") from problem
        path = sqlite_path(settings.effective_database_url)
        raise SettingsError(
            f"{name}: {path} is damaged ({said}). Move it and its -wal and -shm files away; then put a backup in its "
            f"place, such as one of {path}.*, or start without one to begin empty."
        ) from problem


async def _upgrade_embedded(settings: Settings, database: Database) -> None:
    # Only the embedded default upgrades itself: nobody else runs on that file, and a copy is kept.
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    copy = settings.data_dir / f"touchstone.db.{await current(database)}-{stamp}"
    await database.backup(copy)
    try:
        await upgrade(database)
    except BaseException:
        # Nothing has changed: a start that is tried again and again must not leave a copy each time.
        copy.unlink(missing_ok=True)
        raise


def _upstream(name: str, settings: Settings, stack: AsyncExitStack) -> Upstream:
    url: str | None = getattr(settings, f"{name}_url")
    if url is None:
        return AbsentBackend(name)
    remote = RemoteBackend(name, url, timeout=settings.upstream_timeout_seconds)
    stack.push_async_callback(remote.close)
    return remote


def _tokens(settings: Settings) -> InternalTokens | None:
    return None if settings.internal_key is None else InternalTokens(settings.internal_key.get_secret_value())
