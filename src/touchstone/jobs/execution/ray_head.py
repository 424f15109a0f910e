"""A Ray head on the loopback interface that requires a token and ends with its parent process."""

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

from touchstone.jobs.execution.parent_death import die_with_parent

LOOPBACK_HOST: Final = "127.0.0.1"
START_TIMEOUT_SECONDS: Final = 120.0
STOP_TIMEOUT_SECONDS: Final = 10.0
CONNECT_TIMEOUT_SECONDS: Final = 1.0
POLL_SECONDS: Final = 0.1

HeadProcess = subprocess.Popen[bytes]


def local_cluster_variables() -> dict[str, str]:
    """Return the environment variables for a process that starts its own Ray cluster.

    They contain a new secret token, which is required to use the cluster. Ray reads them when it is imported.
    """
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        # Disable clusters of several machines. Otherwise Ray replaces the configured loopback address by the external
        # address of the machine, and listens on every interface.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    }


@contextlib.contextmanager
def existing_or_local_cluster(address: str | None) -> Iterator[str]:
    """Yield the address of a Ray cluster.

    Without an `address`, a cluster is started on this machine, which ends with the block or with this process.

    Raises:
        PermissionError: the environment lacks the `local_cluster_variables`. Without a token, every user of the machine
            could run code in the cluster.
        TimeoutError, ChildProcessError: the cluster did not start.
    """
    if address:
        yield address
        return

    if os.environ.get("RAY_AUTH_MODE") != "token":
        raise PermissionError("a Ray head without a token is never started")

    with tempfile.TemporaryDirectory(prefix="ts-ray-", ignore_cleanup_errors=True) as session_folder:
        port = _free_port()
        head = _start_head(port, session_folder)
        try:
            _wait_until_listening(port, head)
            yield f"{LOOPBACK_HOST}:{port}"
        finally:
            _stop_head(head)


def _start_head(port: int, session_folder: str) -> HeadProcess:
    """Start the head of a Ray cluster, which accepts connections from drivers on a port of this machine.

    Ray creates sockets in `session_folder`, which must have a short path because the length of socket paths is limited.
    """
    command = [
        str(Path(sys.executable).with_name("ray")),
        "start",
        "--head",
        "--block",
        f"--node-ip-address={LOOPBACK_HOST}",
        f"--port={port}",
        f"--temp-dir={session_folder}",
        "--include-dashboard=false",
        "--disable-usage-stats",
        f"--num-cpus={os.cpu_count() or 1}",
    ]
    return subprocess.Popen(  # noqa: S603 - our own interpreter and constants
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=die_with_parent,  # noqa: PLW1509 - no threads exist yet
    )


def _wait_until_listening(port: int, head: HeadProcess) -> None:
    """Wait until the head accepts connections on its port.

    Raises:
        ChildProcessError: the head has ended.
        TimeoutError: the head does not listen after `START_TIMEOUT_SECONDS`.
    """
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if head.poll() is not None:
            raise ChildProcessError(f"the Ray head ended with {head.returncode}")

        if _accepts_connections(port):
            return
        time.sleep(POLL_SECONDS)

    raise TimeoutError("the Ray head did not start")


def _accepts_connections(port: int) -> bool:
    """Return whether a process listens on this port of the loopback interface."""
    try:
        connection = socket.create_connection((LOOPBACK_HOST, port), CONNECT_TIMEOUT_SECONDS)
    except OSError:
        return False

    connection.close()
    return True


def _stop_head(head: HeadProcess) -> None:
    """Ask the head and all its processes to end, and kill them if they do not end in time."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(head.pid, signal.SIGTERM)

    try:
        head.wait(STOP_TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)
        head.wait()


def _free_port() -> int:
    """Return a currently unused port of the loopback interface."""
    with socket.create_server((LOOPBACK_HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
