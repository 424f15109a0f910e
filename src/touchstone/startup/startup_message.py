"""What the operator reads in the terminal when a service has started."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from touchstone.services.gateway.first_administrator import Credentials


def is_public(service_name: str | None) -> bool:
    """Return whether users call this service; otherwise it is a backend, which only the gateway calls."""
    return service_name in (None, "gateway")


def startup_lines(service_name: str | None, address: str, administrator: Credentials | None) -> Iterator[str]:
    """Yield the lines that tell the operator where a service answers, and how to use it.

    `administrator` is the account that this start has created, or None if the database had users already.
    """
    label = "Touchstone" if service_name is None else f"Touchstone {service_name}"
    yield f"{label} answers at {address}"

    if administrator is not None:
        login = f"{administrator.email} with the password {administrator.password}"
        yield f"Sign in as {login} (shown this once; kept nowhere)"

    if is_public(service_name):
        yield f"Pages: {address}/app/   API description: {address}/docs"
        yield f"Command line, in another terminal: {command_line()} login --url {address}"


def command_line() -> str:
    """Return how to run this installation's command: by its name if the shell finds it, else by its whole path."""
    command = Path(sys.executable).with_name("touchstone")
    command_in_path = shutil.which("touchstone")
    if command_in_path and Path(command_in_path).resolve() == command.resolve():
        return "touchstone"
    return str(command)
