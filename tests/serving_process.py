"""The product as a separate process, which tests can start, stop and kill."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import httpx2

START_SECONDS = 120
PASSWORD = "correct horse battery"


def sign_in(address: str) -> dict[str, str]:
    """Register a user if necessary, and return headers with an access token."""
    account = {"email": "writer@example.org", "password": PASSWORD}
    with httpx2.Client(base_url=address, timeout=30) as client:
        client.post("/api/v1/auth/register", json=account)
        login = client.post("/api/v1/auth/login", data={"username": account["email"], "password": PASSWORD})
    return {"Authorization": f"Bearer {login.json()['access_token']}"}


class ServingProcess:
    """A process of `touchstone serve [part]` on a free loopback port."""

    def __init__(self, folder: Path, part: str | None = None, /, **variables: str) -> None:
        self.folder = folder
        self.part = part
        self.variables = variables
        self.process: subprocess.Popen[str] | None = None
        self.address = ""
        self.output_lines: list[str] = []

    def environment(self) -> Mapping[str, str]:
        """Return the environment of the process, without inherited variables of the product."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TOUCHSTONE_")}
        defaults = {
            "TOUCHSTONE_PORT": "0",
            "TOUCHSTONE_DATA_DIR": str(self.folder),
            "TOUCHSTONE_METRICS_PORT": "0",
            "TOUCHSTONE_RESERVE_BYTES": "0",
            "TOUCHSTONE_PROFILE_WAIT_SECONDS": "60",  # even a small file takes some seconds on a busy machine
            "TOUCHSTONE_REGISTRATIONS_PER_HOUR": "100000",  # every test registers users of its own from one address
        }
        return inherited | defaults | self.variables

    def start(self, *prefix: str) -> "ServingProcess":
        """Start the process and wait until its catalog is loaded.

        Args:
            prefix: the command of a tracer, if the process is to run under one.
        """
        command = [*prefix, sys.executable, "-m", "touchstone", "serve", *([self.part] if self.part else [])]
        log_path = self.folder.parent / f"{self.folder.name}.log"
        with log_path.open("a") as log:
            self.process = subprocess.Popen(
                command, env=self.environment(), stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
            )
        # Without the watchdog, reading the output of a hung process would never end. The whole process group is killed,
        # because its other processes may have inherited the output.
        watchdog = threading.Timer(START_SECONDS, os.killpg, (self.process.pid, signal.SIGKILL))
        watchdog.start()
        try:
            self._wait_for_address()
        finally:
            watchdog.cancel()

        if not self.address:
            raise AssertionError(f"the product did not start: {self.output_lines} {log_path.read_text()[-2000:]}")
        self._wait_for_catalog(time.monotonic() + START_SECONDS)
        return self

    def _wait_for_address(self) -> None:
        """Read the output of the process until it prints its address or ends."""
        assert self.process is not None
        assert self.process.stdout is not None
        self.address = ""
        for line in self.process.stdout:
            self.output_lines.append(line.rstrip())
            match = re.search(r"answers at (http://\S+)", line)
            if match:
                self.address = match.group(1)
                return

    def _wait_for_catalog(self, deadline: float) -> None:
        """Wait until the process no longer reports that its catalog is loading."""
        while httpx2.get(f"{self.address}/health/ready", timeout=30).json()["status"] == "loading":
            assert time.monotonic() < deadline, "the catalog is still loading"
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the process and its children without warning, as in a power failure."""
        self._signal(signal.SIGKILL)

    def stop(self, signal_number: int = signal.SIGTERM) -> int | None:
        """Send a signal, wait for the end of the process, and return its exit status."""
        self._signal(signal_number)
        return self.process.returncode if self.process else None

    def _signal(self, signal_number: int) -> None:
        if self.process is not None and self.process.poll() is None:
            if signal_number == signal.SIGKILL:
                os.killpg(self.process.pid, signal_number)
            else:
                self.process.send_signal(signal_number)
            self.process.wait(60)
        if self.process is not None and self.process.stdout is not None:
            self.process.stdout.close()
