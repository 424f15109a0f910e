"""Startup of a server process."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import structlog
from starlette.types import ASGIApp

from touchstone.core import logs
from touchstone.core.settings import Settings, SettingsError
from touchstone.http import server
from touchstone.services.gateway.first_administrator import Credentials, create_first_administrator
from touchstone.startup.database_error_messages import startup_errors
from touchstone.startup.database_preparation import open_prepared_database
from touchstone.startup.separate_services import backend_server_settings, open_backend, open_gateway
from touchstone.startup.startup_message import is_public, startup_lines
from touchstone.startup.whole_product import open_product

log = structlog.get_logger("touchstone.start")


async def serve(service_name: str | None, settings: Settings, print_line: Callable[[str], Any]) -> None:
    """Serve one service or the whole product until a signal stops the process.

    An administrator is created at the first start of an installation.

    Args:
        service_name: the name of the service, or None for the whole product.
        settings: the settings of this process.
        print_line: called with each line for the operator as soon as the server accepts requests. The lines contain the
            address of the server and the password of a new administrator.

    Raises:
        SettingsError: the service cannot start. The message is a single line for the operator.
        SchemaError: the schema of the database does not match the code. The message is a single line.
    """
    logs.configure_logging(settings)
    server_settings = settings if is_public(service_name) else backend_server_settings(settings)
    administrator: Credentials | None = None
    if is_public(service_name):
        await _merge_write_ahead_log(settings)

    @asynccontextmanager
    async def open_app() -> AsyncIterator[ASGIApp]:
        nonlocal administrator
        async with open_service(service_name, settings) as app:
            # Nobody would ever see the password if the service could not start after the account had been created.
            # A backend has no users, because only other services call it.
            if is_public(service_name):
                administrator = await _create_first_administrator(settings)
            yield app

    def print_startup_lines(address: str) -> None:
        for line in startup_lines(service_name, address, administrator):
            print_line(line)

    await server.serve(open_app(), server_settings, ready=print_startup_lines)


async def _merge_write_ahead_log(settings: Settings) -> None:
    """Open and close the database, which makes SQLite merge the log that a killed process has left behind.

    This frees the space of the log. Otherwise, nobody could sign in after a restart on a full disk.
    """
    async with open_prepared_database(settings):
        pass


async def _create_first_administrator(settings: Settings) -> Credentials | None:
    """Create an administrator and return the credentials, or None if there is one already."""
    async with open_prepared_database(settings) as database:
        with startup_errors(settings):
            return await create_first_administrator(database)


def open_service(service_name: str | None, settings: Settings) -> AbstractAsyncContextManager[ASGIApp]:
    """Return a context manager that opens a service, or the whole product for None, and yields the ASGI application.

    Raises:
        SettingsError: the address of the selection service, which all other services need, is not set.
    """
    if service_name is None:
        _warn_of_ignored_addresses(settings)
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


def _warn_of_ignored_addresses(settings: Settings) -> None:
    """Log a warning about addresses of separate services, which the whole product does not use."""
    addresses = {
        "TOUCHSTONE_SELECTION_URL": settings.selection_url,
        "TOUCHSTONE_TRAINING_URL": settings.training_url,
        "TOUCHSTONE_EXPLANATION_URL": settings.explanation_url,
    }
    for variable, address in addresses.items():
        if address is not None:
            log.warning("ignored, because the whole product runs in this process", variable=variable)
