"""Wiring: which parts make a product, opened in order and closed in reverse. Nothing here decides anything else."""

import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone import server
from touchstone.core import logs
from touchstone.core.db import Database
from touchstone.core.edge import Edge
from touchstone.core.errors import ServiceError, Unavailable
from touchstone.core.identity import InternalTokens
from touchstone.core.migrations import current, head, prepare, upgrade
from touchstone.core.settings import Settings, SettingsError
from touchstone.core.shell import refusal
from touchstone.core.upstream import Absent, InProcess, Remote, Upstream
from touchstone.explanation.app import Explanation
from touchstone.gateway.accounts import any_user, create_user
from touchstone.gateway.app import Gateway
from touchstone.gateway.table import LARGE_BODIES
from touchstone.jobs.kinds import KINDS
from touchstone.jobs.room import Jobs
from touchstone.selection.app import Selection
from touchstone.training.app import Training
from touchstone.web.app import LARGE_BODIES as LARGE_PAGES
from touchstone.web.app import Web

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

    def __init__(self, pages: Web, api: ASGIApp) -> None:
        self.pages = pages
        self.api = api

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pages answer `/` and `/app…`, the gateway everything else."""
        return (self.pages.app if _is_page(scope) else self.api)(scope, receive, send)

    def refusal(self, problem: ServiceError, scope: Scope) -> ASGIApp:
        """What is refused before either is asked: in the pages a page, elsewhere the API's answer."""
        return (self.pages.refusal if _is_page(scope) else refusal)(problem, scope)


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
        opened = await _everything(settings, database, stack)
        yield await _fronted(settings, opened, stack)


@asynccontextmanager
async def gateway(settings: Settings) -> AsyncIterator[ASGIApp]:
    """The gateway and the pages, with every backend that has an address in another process."""
    async with AsyncExitStack() as stack:
        database = await _database(settings, stack)
        upstreams = {name: _upstream(name, settings, stack) for name in BACKENDS}
        opened = await _opened(stack, Gateway.open(settings, database, _tokens(settings), upstreams))
        yield await _fronted(settings, opened, stack)


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
        opened = await _opened(stack, _open_backend(name, settings, database, stack))
        yield Edge(opened.app, settings, large_bodies=LARGE_BODIES)


def part(name: str | None, settings: Settings) -> AbstractAsyncContextManager[ASGIApp]:
    """The context manager of one part's application; None: the whole product."""
    if name is None:
        return embedded(settings)
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

    await server.serve(part(name, settings), settings, ready=ready)


def command_line() -> str:
    """Return what a person types to run this installation's command: its whole path unless the shell finds it."""
    command = Path(sys.executable).with_name("touchstone")
    visible = shutil.which("touchstone")
    return "touchstone" if visible and Path(visible).resolve() == command.resolve() else str(command)


async def upgrade_database(settings: Settings) -> tuple[str | None, str]:
    """Bring the database to the schema of this code; the revisions before and after."""
    database = Database(settings.effective_database_url)
    try:
        before = await current(database)
        await upgrade(database)
        return before, head()
    finally:
        await database.close()


async def first_administrator(settings: Settings) -> tuple[str, str] | None:
    """Make an administrator with a random password where nobody has an account yet: its e-mail and password."""
    async with AsyncExitStack() as stack:
        database = await _database(settings, stack)
        if await any_user(database):
            return None
        password = secrets.token_urlsafe(12)
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
    to_selection = InProcess(selection.app)
    room = await _opened(stack, Jobs.open(settings, database, KINDS))
    training = await _opened(stack, Training.open(settings, database, None, to_selection, room=room))
    explanation = await _opened(stack, Explanation.open(settings, database, None, to_selection, room=room))
    upstreams: dict[str, Upstream] = {
        "selection": to_selection,
        "training": InProcess(training.app),
        "explanation": InProcess(explanation.app),
    }
    return await _opened(stack, Gateway.open(settings, database, None, upstreams))


async def _open_backend(name: str, settings: Settings, database: Database, stack: AsyncExitStack) -> Backend:
    tokens = _tokens(settings)
    if name == "selection":
        return await Selection.open(settings, database, tokens)
    kind = Training if name == "training" else Explanation
    return await kind.open(settings, database, tokens, _upstream("selection", settings, stack))


async def _opened(stack: AsyncExitStack, opening: Awaitable[P]) -> P:
    part = await opening
    stack.push_async_callback(part.close)
    return part


async def _fronted(settings: Settings, opened: Gateway, stack: AsyncExitStack) -> ASGIApp:
    pages = await _opened(stack, Web.open(settings, opened.app))
    front = Front(pages, opened.app)
    return Edge(front, settings, large_bodies=LARGE_BODIES | LARGE_PAGES, refusing=front.refusal)


async def _database(settings: Settings, stack: AsyncExitStack) -> Database:
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as problem:
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {settings.data_dir} cannot be used: {problem.strerror}") from None
    try:
        database = Database(settings.effective_database_url)
        stack.push_async_callback(database.close)
        if settings.database_url is None and await current(database) not in (None, head()):
            await _upgrade_embedded(settings, database)
        await prepare(database)
    except Unavailable as problem:
        name = "TOUCHSTONE_DATA_DIR" if settings.database_url is None else "TOUCHSTONE_DATABASE_URL"
        said = str(getattr(problem.__cause__, "orig", problem.__cause__)).partition("\n")[0]
        raise SettingsError(f"{name}: the database cannot be opened: {said}") from problem
    return database


async def _upgrade_embedded(settings: Settings, database: Database) -> None:
    # Only the embedded default upgrades itself: nobody else runs on that file, and a copy is kept.
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    await database.backup(settings.data_dir / f"touchstone.db.{await current(database)}-{stamp}")
    await upgrade(database)


def _upstream(name: str, settings: Settings, stack: AsyncExitStack) -> Upstream:
    url: str | None = getattr(settings, f"{name}_url")
    if url is None:
        return Absent(name)
    remote = Remote(name, url, timeout=settings.upstream_timeout_seconds)
    stack.push_async_callback(remote.close)
    return remote


def _tokens(settings: Settings) -> InternalTokens | None:
    return None if settings.internal_key is None else InternalTokens(settings.internal_key.get_secret_value())
