"""The start of a server process, from its settings to the first request."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

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


async def serve(service_name: str | None, settings: Settings, print_line: Callable[[str], Any]) -> None:
    """Serve one service, or the whole product if `service_name` is None, until a signal stops the process.

    The first start of an installation creates an administrator. As soon as the server answers requests, `print_line`
    is called with each line that the operator needs to know, such as the address and the administrator's password.

    Raises:
        SettingsError, SchemaError: The service cannot start; the message is the line to show.
    """
    logs.configure_logging(settings)

    # A backend that serves only other services has no users of its own.
    if is_public(service_name):
        administrator = await _create_first_administrator(settings)
        server_settings = settings
    else:
        administrator = None
        server_settings = backend_server_settings(settings)

    def print_startup_lines(address: str) -> None:
        for line in startup_lines(service_name, address, administrator):
            print_line(line)

    service = open_service(service_name, settings)
    await server.serve(service, server_settings, ready=print_startup_lines)


async def _create_first_administrator(settings: Settings) -> Credentials | None:
    """Create an administrator if the database has none, and return the new credentials, or else None."""
    async with open_prepared_database(settings) as database:
        with startup_errors(settings):
            return await create_first_administrator(database)


def open_service(service_name: str | None, settings: Settings) -> AbstractAsyncContextManager[ASGIApp]:
    """Return a context manager that opens one service, or the whole product if `service_name` is None.

    At the beginning of its `async with` block it yields the application to serve.

    Raises:
        SettingsError: The address of the selection service, which all other services need, is not set.
    """
    if service_name is None:
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
