"""The lines printed for the operator when a service has started."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from touchstone.http.listener import UNIX_PREFIX
from touchstone.services.gateway.first_administrator import Credentials


def is_public(service_name: str | None) -> bool:
    """Return whether users call this service, in contrast to backends, which only the gateway calls."""
    return service_name in (None, "gateway")


def startup_lines(service_name: str | None, address: str, administrator: Credentials | None) -> Iterator[str]:
    """Yield the lines that tell the operator how to use a service.

    Args:
        service_name: the name of the service, or None for the whole product.
        address: the address of the server.
        administrator: the credentials of a new administrator, or None if none has been created.
    """
    label = "Touchstone" if service_name is None else f"Touchstone {service_name}"
    yield f"{label} answers at {address}"

    if administrator is not None:
        login = f"{administrator.email} with the password {administrator.password}"
        yield f"Sign in as {login} (shown only this once; change it if this output is kept)"

    # Neither browsers nor the command line connect to a Unix socket; a proxy does.
    if is_public(service_name) and not address.startswith(UNIX_PREFIX):
        yield f"Pages: {address}/app/   API description: {address}/docs"
        yield f"Command line, in another terminal: {command_line()} login --url {address}"


def command_line() -> str:
    """Return the name of this installation's command, or its whole path if the shell would not find it."""
    command = Path(sys.executable).with_name("touchstone")
    command_in_path = shutil.which("touchstone")
    if command_in_path and Path(command_in_path).resolve() == command.resolve():
        return "touchstone"
    return str(command)
