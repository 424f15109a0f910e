"""A Ray head of our own: on loopback, asking for a token, ended with whoever started it."""

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

from touchstone.jobs.execution.child import die_with_parent

HOST: Final = "127.0.0.1"
START_SECONDS: Final = 120.0


def own_cluster() -> dict[str, str]:
    """The variables of a process that starts a head of its own; Ray reads them when it is imported.

    The last one is Ray's switch for machines that are no part of a cluster. Without it Ray puts the machine's outer
    address in place of the loopback that it is given, and listens on every interface.
    """
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    return token | {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


class Head:
    """The head of a cluster."""

    @staticmethod
    @contextlib.contextmanager
    def given_or_started(address: str | None) -> Iterator[str]:
        """The address of the cluster that is named, or of one that lives as long as the context.

        The latter needs the variables of `own_cluster`: without a token everyone on the machine could run code.
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
                preexec_fn=die_with_parent,  # noqa: PLW1509 - nothing here has threads yet
            )
            try:
                _wait_for(port, process)
                yield f"{HOST}:{port}"
            finally:
                _stop(process)


def _command(port: int, folder: str) -> list[str]:
    """Without a dashboard and without usage reports; its sockets need a short path."""
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


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    """Return when the head listens. Raises TimeoutError or ChildProcessError."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
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
        process.wait(10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
