"""Starting a Ray head on loopback that asks for a token and ends together with whoever started it."""

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from touchstone.jobs.execution.resource_limits import die_with_parent

HOST: Final = "127.0.0.1"
START_SECONDS: Final = 120.0
STOP_SECONDS: Final = 10.0


def local_cluster_variables() -> dict[str, str]:
    """Return the environment variables for a process that starts its own head; Ray reads them when it is imported."""
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        # Ray's switch for machines that are not part of a cluster. Without it, Ray replaces the loopback address that
        # it is given with the machine's outer address, and listens on every interface.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }


@contextlib.contextmanager
def existing_or_local_cluster(address: str | None) -> Iterator[str]:
    """Yield the address of the given cluster, or start a head that lives as long as the context.

    Raises:
        PermissionError: the variables of `local_cluster_variables` are missing; without a token, everyone on the
            machine could run code.
        TimeoutError, ChildProcessError: the head did not start.
    """
    if address:
        yield address
        return
    if os.environ.get("RAY_AUTH_MODE") != "token":
        raise PermissionError("a Ray head without a token is never started")

    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="ts-ray-", ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and constants
            _command(port, folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=die_with_parent,  # noqa: PLW1509 - no threads exist yet
        )
        try:
            _wait_until_listening(port, process)
            yield f"{HOST}:{port}"
        finally:
            _stop(process)


def _command(port: int, folder: str) -> list[str]:
    """Return the command of a head without dashboard and usage reports; `folder` must be short, for its sockets."""
    return [
        str(Path(sys.executable).with_name("ray")),
        "start",
        "--head",
        "--block",
        f"--node-ip-address={HOST}",
        f"--port={port}",
        f"--temp-dir={folder}",
        "--include-dashboard=false",
        "--disable-usage-stats",
        f"--num-cpus={os.cpu_count() or 1}",
    ]


def _wait_until_listening(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Return when the head listens. Raises TimeoutError or ChildProcessError if it never does."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ChildProcessError(f"the Ray head ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection((HOST, port), 1):
            return
        time.sleep(0.1)
    raise TimeoutError("the Ray head did not start")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
