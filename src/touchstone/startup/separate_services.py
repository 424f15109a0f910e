"""The gateway or a backend as the only service of a process."""

from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Scope

from touchstone.core.identity import USER_ID_HEADER
from touchstone.core.internal_tokens import InternalTokens
from touchstone.core.settings import Settings, SettingsError
from touchstone.database.engine import Database
from touchstone.http.middleware import BodyPaths, EdgeMiddleware, client_address
from touchstone.http.same_installation_check import (
    BackendIdentity,
    BackendIdentityMiddleware,
    check_same_installation,
    read_or_create_installation_id,
)
from touchstone.http.upstream import AbsentBackend, RemoteBackend, Upstream
from touchstone.services.gateway.app import Gateway
from touchstone.services.gateway.public_routes import BACKENDS, LARGE_BODY_PATHS, STREAMED_BODY_PATHS
from touchstone.services.selection.app import Selection
from touchstone.startup.database_preparation import open_prepared_database
from touchstone.startup.open_services import JOB_BACKENDS, Backend, OpenServices
from touchstone.startup.public_site import open_public_site


@asynccontextmanager
async def open_gateway(settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open the gateway and the web pages, and yield the application that serves both.

    The gateway forwards requests to the backends, which run in other processes.
    """
    async with open_prepared_database(settings) as database, OpenServices(settings) as services:
        backends: dict[str, Upstream] = {}
        for name in BACKENDS:
            backends[name] = await _connect_to_backend(name, settings, services)

        # The gateway signs its requests with these tokens, so that the backends can verify their origin.
        tokens = _internal_tokens(settings)
        gateway = await services.add(Gateway.open(settings, database, tokens, backends))

        yield await open_public_site(settings, gateway, services)


@asynccontextmanager
async def open_backend(name: str, settings: Settings) -> AsyncIterator[ASGIApp]:
    """Open a single backend, and yield the application that serves it to a gateway in another process.

    Raises:
        SettingsError: other machines could reach the backend, but there is no internal key to authenticate the gateway.
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
            backend_server_settings(settings),
            body_paths=BodyPaths(LARGE_BODY_PATHS, STREAMED_BODY_PATHS),
            caller_of=forwarded_caller_of,
        )


def _identify_backend(backend: Backend, name: str, settings: Settings) -> ASGIApp:
    """Wrap the application of a backend to identify its installation to the gateway.

    A gateway with the address of another installation in its settings therefore refuses to start.
    """
    tokens = _internal_tokens(settings)
    installation_id = read_or_create_installation_id(settings.data_dir)
    identity = BackendIdentity(name, installation_id, has_key=tokens is not None)
    return BackendIdentityMiddleware(backend.app, tokens, identity)


async def _open_single_backend(name: str, settings: Settings, database: Database, services: OpenServices) -> Backend:
    """Open a backend as the only service of this process."""
    tokens = _internal_tokens(settings)
    if name == "selection":
        return await services.add(Selection.open(settings, database, tokens))

    # The other backends read datasets from the selection backend, which runs in another process.
    selection = await _connect_to_backend("selection", settings, services)
    backend_class = JOB_BACKENDS[name]
    return await services.add(backend_class.open(settings, database, tokens, selection))


async def _connect_to_backend(name: str, settings: Settings, services: OpenServices) -> Upstream:
    """Connect to a backend in another process, at its address in the settings.

    If there is no address in the settings, the result is an `AbsentBackend`, which refuses every request.

    Raises:
        SettingsError: there is another backend at the address, or a backend of another installation.
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


def backend_server_settings(settings: Settings) -> Settings:
    """Return the settings for the server of a backend, without limits on connections per client.

    The gateway is the only client of a backend, and calls it on behalf of all users.
    """
    return settings.model_copy(update={"connections_per_address": 0})


def _internal_tokens(settings: Settings) -> InternalTokens | None:
    """Return the tokens for authentication between services, or None without an internal key."""
    if settings.internal_key is None:
        return None
    return InternalTokens(settings.internal_key.get_secret_value())


def forwarded_caller_of(scope: Scope) -> Hashable:
    """Return the user id in the gateway's request to a backend, or the client's address without one."""
    for header_name, user_id in scope["headers"]:
        if header_name == USER_ID_HEADER:
            return user_id  # type: ignore[no-any-return]
    return client_address(scope)
