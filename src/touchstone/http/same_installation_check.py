"""The check that a backend in another process belongs to the same installation.

Each backend identifies itself at `/installation`. The process that calls the backend compares this identity with its
own data folder and internal key.
"""

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


class BackendIdentity(msgspec.Struct, frozen=True):
    """The identity of a backend.

    Attributes:
        part: the name of the backend.
        installation: the id of its data folder.
        has_key: whether it has an internal key.
    """

    part: str
    installation: str
    has_key: bool


class BackendIdentityMiddleware:
    """Middleware of a backend that returns its identity to other processes of the service."""

    def __init__(self, app: ASGIApp, tokens: InternalTokens | None, identity: BackendIdentity) -> None:
        self.app = app
        self._tokens = tokens
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request for `/installation`, and pass all other requests on.

        If there is an internal key, the request must be signed with it.
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
    """Return the id of a data folder, and create the id if it is missing.

    All processes that share the folder get the same id, even if they start at the same time.
    """
    id_file = data_dir / ID_FILE_NAME

    if not id_file.exists():
        temporary_file = id_file.with_name(f".{ID_FILE_NAME}.{os.getpid()}")
        temporary_file.write_text(secrets.token_hex(16))
        try:
            # Unlike a rename, a link never replaces an id that another process has just created.
            id_file.hardlink_to(temporary_file)
        except FileExistsError:
            pass
        finally:
            temporary_file.unlink()

    return id_file.read_text().strip()


async def check_same_installation(backend: RemoteBackend, tokens: InternalTokens | None, data_dir: Path) -> None:
    """Check at startup that a backend belongs to the same installation as this process.

    Both must use the same data folder, and the backend must accept the internal key of this process. A backend that
    cannot be reached yet is not checked, because processes may start in any order.

    Args:
        backend: a backend in another process.
        tokens: signs requests with the internal key of this process, or None if it has no key.
        data_dir: the data folder of this process.

    Raises:
        SettingsError: the URL of the backend is wrong, or the keys or data folders differ.
    """
    identity = await _request_identity(backend, tokens)
    if identity is None:
        return

    label = f"{backend.name} at {backend.url}"
    if identity.part != backend.name:
        raise SettingsError(f"{_url_variable(backend)}: {backend.url} is the {identity.part} part, not {backend.name}.")

    # If only the backend has a key, it has already refused the request for its identity.
    if tokens is not None and not identity.has_key:
        raise SettingsError(f"TOUCHSTONE_INTERNAL_KEY: {label} has no key; give the same one to every part.")
    if identity.installation != read_or_create_installation_id(data_dir):
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {label} uses another folder than {data_dir}; all parts share one.")


async def _request_identity(backend: RemoteBackend, tokens: InternalTokens | None) -> BackendIdentity | None:
    """Return the identity of a backend, or log a warning and return None if it cannot be reached yet.

    Raises:
        SettingsError: the backend has another internal key, or another service uses its URL.
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
        return msgspec.convert(response.value, BackendIdentity)
    except msgspec.ValidationError:
        message = f"{_url_variable(backend)}: what answers at {backend.url} is not the {backend.name} part."
        raise SettingsError(message) from None


def _url_variable(backend: RemoteBackend) -> str:
    """Return the name of the environment variable for the URL of a backend."""
    return f"TOUCHSTONE_{backend.name.upper()}_URL"
