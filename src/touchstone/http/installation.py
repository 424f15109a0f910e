"""How the parts of one product, served apart, notice at their start that they do not belong together."""

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
ANSWER_SECONDS: Final = 5.0
log = structlog.get_logger("touchstone.start")


class PartIdentity(msgspec.Struct, frozen=True):
    """What a part says of itself to the others: its name, its data folder's id, and whether it demands a key."""

    part: str
    installation: str
    has_key: bool


class InstallationMiddleware:
    """A backend that also says, to whoever holds its key, which installation it belongs to."""

    def __init__(self, app: ASGIApp, tokens: InternalTokens | None, identity: PartIdentity) -> None:
        self.app = app
        self._tokens = tokens
        self._identity = identity

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the question for the identity, and pass everything else on."""
        if scope["type"] != "http" or scope["path"] != PATH:
            await self.app(scope, receive, send)
            return
        try:
            if self._tokens is not None:
                self._tokens.verify(scope["headers"])
        except ServiceError as problem:
            await error_response(problem, scope)(scope, receive, send)
        else:
            await JsonResponse(self._identity)(scope, receive, send)


def installation_id(data_dir: Path) -> str:
    """Return the random id of a data folder, made by whoever comes first."""
    path = data_dir / ID_FILE
    if not path.exists():
        fresh = path.with_name(f".{ID_FILE}.{os.getpid()}")
        fresh.write_text(secrets.token_hex(16))
        try:
            path.hardlink_to(fresh)  # never replaces one that another part has made meanwhile
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return path.read_text().strip()


async def check_same_installation(upstream: RemoteBackend, tokens: InternalTokens | None, data_dir: Path) -> None:
    """Compare this part with a backend that it depends on; one that does not answer yet is not waited for.

    Raises:
        SettingsError: the address leads elsewhere, or the keys or data folders differ.
    """
    variable, where = f"TOUCHSTONE_{upstream.name.upper()}_URL", f"{upstream.name} at {upstream.url}"
    try:
        answer = await asyncio.wait_for(InternalClient(upstream, tokens).get(PATH, None), ANSWER_SECONDS)
    except (ServiceError, TimeoutError):
        log.warning("backend not reachable yet", backend=upstream.name, url=upstream.url)
        return
    if answer.status == 401:
        raise SettingsError(f"TOUCHSTONE_INTERNAL_KEY: {where} has another key; give the same one to every part.")
    try:
        identity = msgspec.convert(answer.value, PartIdentity)
    except msgspec.ValidationError:
        raise SettingsError(f"{variable}: what answers at {upstream.url} is not the {upstream.name} part.") from None

    if identity.part != upstream.name:
        raise SettingsError(f"{variable}: {upstream.url} is the {identity.part} part, not {upstream.name}.")
    if tokens is not None and not identity.has_key:
        raise SettingsError(f"TOUCHSTONE_INTERNAL_KEY: {where} has no key; give the same one to every part.")
    if identity.installation != installation_id(data_dir):
        raise SettingsError(f"TOUCHSTONE_DATA_DIR: {where} uses another folder than {data_dir}; all parts share one.")
