"""What tests need from the machine that runs them."""

import os
import socket

import pytest


def skip_or_fail(missing_requirement: str) -> None:
    """Skip a test because a requirement is not met on this machine, or let it fail in continuous integration."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{missing_requirement} is missing, and CI=true allows no skipping")
    pytest.skip(f"{missing_requirement} is missing on this machine")


def free_port() -> int:
    """Return a loopback port that is currently free."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
