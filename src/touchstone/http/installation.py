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
from touchstone.core.identity import InternalTokens
from touchstone.core.settings import SettingsError
from touchstone.http.error_responses import error_response
from touchstone.http.internal_client import InternalClient
from touchstone.http.responses import JsonResponse
from touchstone.http.upstream import RemoteBackend

PATH: Final = "/installation"
ID_FILE: Final = "installation.id"
TIMEOUT_SECONDS: Final = 5.0
log = structlog.get_logger("touchstone.start")


class PartIdentity(msgspec.Struct, frozen=True):
    """How a part identifies itself: its name, the id of its data folder, and whether it has an internal key."""

    part: str
    installation: str
    has_key: bool


class InstallationMiddleware:
    """Adds a route to a backend that returns its identity to other parts with the same key."""

    def __init__(self, app: ASGIApp, tokens: InternalTokens | None, identity: PartIdentity) -> None:
        self.app = app
        self._tokens = tokens
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Return the identity, or pass a request for any other path on."""
        if scope["type"] != "http" or scope["path"] != PATH:
            await self.app(scope, receive, send)
            return

        try:
            if self._tokens is not None:
                self._tokens.verify(scope["headers"])
        except ServiceError as error:
            await error_response(error, scope)(scope, receive, send)
        else:
            await JsonResponse(self._identity)(scope, receive, send)


def installation_id(data_dir: Path) -> str:
    """Return the random id of a data folder, and create it if this part is the first to ask."""
    path = data_dir / ID_FILE
    if not path.exists():
        temporary = path.with_name(f".{ID_FILE}.{os.getpid()}")
        temporary.write_text(secrets.token_hex(16))
        try:
            path.hardlink_to(temporary)  # unlike a rename, this never replaces an id that another part just created
        except FileExistsError:
            pass
        finally:
            temporary.unlink()
    return path.read_text().strip()


async def check_same_installation(backend: RemoteBackend, tokens: InternalTokens | None, data_dir: Path) -> None:
    """Compare this part with a backend that it depends on, unless the backend cannot be reached yet.

    Raises:
        SettingsError: the URL leads elsewhere, or the keys or data folders differ.
    """
    url_variable = f"TOUCHSTONE_{backend.name.upper()}_URL"
    label = f"{backend.name} at {backend.url}"

    try:
        response = await asyncio.wait_for(InternalClient(backend, tokens).get(PATH, None), TIMEOUT_SECONDS)
    except (ServiceError, TimeoutError):
        log.warning("backend not reachable yet", backend=backend.name, url=backend.url)
        return

    if response.status == 401:
        raise SettingsError(f"TOUCHSTONE_INTERNAL_KEY: {label} has another key; give the same one to every part.")
    try:
        identity = msgspec.convert(response.value, PartIdentity)
    except msgspec.ValidationError:
        raise SettingsError(f"{url_variable}: what answers at {backend.url} is not the {backend.name} part.") from None

    if identity.part != backend.name:
        raise SettingsError(f"{url_variable}: {backend.url} is the {identity.part} part, not {backend.name}.")
    if tokens is not None and not identity.has_key:
        raise SettingsError(f"TOUCHSTONE_INTERNAL_KEY: {label} has no key; give the same one to every part.")
    if identity.installation != installation_id(data_dir):
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {label} uses another folder than {data_dir}; all parts share one.")
