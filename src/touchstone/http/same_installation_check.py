"""The check, when parts are served apart, that they belong to the same installation."""

import asyncio
import os
import secrets
from pathlib import Path
from typing import Final

import msgspec
import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from touchstone.core.errors import ServiceError
from touchstone.core.internal_tokens import InternalTokens
from touchstone.core.settings import SettingsError
from touchstone.http.error_responses import error_response
from touchstone.http.internal_client import InternalClient
from touchstone.http.responses import JsonResponse
from touchstone.http.upstream import RemoteBackend

IDENTITY_PATH: Final = "/installation"
ID_FILE_NAME: Final = "installation.id"
TIMEOUT_SECONDS: Final = 5.0
log = structlog.get_logger("touchstone.start")


class PartIdentity(msgspec.Struct, frozen=True):
    """How a part identifies itself: its name, the id of its data folder, and whether it has an internal key."""

    part: str
    installation: str
    has_key: bool


class PartIdentityMiddleware:
    """Middleware of a backend that tells other parts of the service which part, of which installation, it is."""

    def __init__(self, app: ASGIApp, tokens: InternalTokens | None, identity: PartIdentity) -> None:
        self.app = app
        self._tokens = tokens
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request for `/installation`, and pass every other request on.

        If there is an internal key, a request for the identity must be signed with it.
        """
        if scope["type"] != "http" or scope["path"] != IDENTITY_PATH:
            await self.app(scope, receive, send)
            return

        try:
            if self._tokens is not None:
                self._tokens.verify(scope["headers"])
        except ServiceError as error:
            await error_response(error, scope)(scope, receive, send)
        else:
            await JsonResponse(self._identity)(scope, receive, send)


def read_or_create_installation_id(data_dir: Path) -> str:
    """Return the id of a data folder, and create it if it is missing.

    All parts of the service that share the folder get the same id, even if they start at the same time.
    """
    id_file = data_dir / ID_FILE_NAME

    if not id_file.exists():
        temporary_file = id_file.with_name(f".{ID_FILE_NAME}.{os.getpid()}")
        temporary_file.write_text(secrets.token_hex(16))
        try:
            # Unlike a rename, a link never replaces an id that another part has just created.
            id_file.hardlink_to(temporary_file)
        except FileExistsError:
            pass
        finally:
            temporary_file.unlink()

    return id_file.read_text().strip()


async def check_same_installation(backend: RemoteBackend, tokens: InternalTokens | None, data_dir: Path) -> None:
    """Check at startup that a backend in another process belongs to the same installation as this part.

    Both must have the same internal key, or none, and share one data folder. A backend that cannot be reached yet is
    not checked, because parts may start in any order.

    Raises:
        SettingsError: the URL of the backend is wrong, or the keys or data folders differ.
    """
    identity = await _ask_for_identity(backend, tokens)
    if identity is None:
        return

    label = f"{backend.name} at {backend.url}"
    if identity.part != backend.name:
        raise SettingsError(f"{_url_variable(backend)}: {backend.url} is the {identity.part} part, not {backend.name}.")
    if tokens is not None and not identity.has_key:
        raise SettingsError(f"TOUCHSTONE_INTERNAL_KEY: {label} has no key; give the same one to every part.")
    if identity.installation != read_or_create_installation_id(data_dir):
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {label} uses another folder than {data_dir}; all parts share one.")


async def _ask_for_identity(backend: RemoteBackend, tokens: InternalTokens | None) -> PartIdentity | None:
    """Return how the backend identifies itself, or log a warning and return None if it cannot be reached yet.

    Raises:
        SettingsError: the backend has another internal key, or it is not a part of this service.
    """
    client = InternalClient(backend, tokens)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            response = await client.get(IDENTITY_PATH, caller=None)
    except (ServiceError, TimeoutError):
        log.warning("backend not reachable yet", backend=backend.name, url=backend.url)
        return None

    if response.status == 401:
        label = f"{backend.name} at {backend.url}"
        raise SettingsError(f"TOUCHSTONE_INTERNAL_KEY: {label} has another key; give the same one to every part.")

    try:
        return msgspec.convert(response.value, PartIdentity)
    except msgspec.ValidationError:
        message = f"{_url_variable(backend)}: what answers at {backend.url} is not the {backend.name} part."
        raise SettingsError(message) from None


def _url_variable(backend: RemoteBackend) -> str:
    """Return the name of the environment variable that says where the backend is."""
    return f"TOUCHSTONE_{backend.name.upper()}_URL"
