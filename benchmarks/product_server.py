"""The product or another server in a separate process, and users of the product."""

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from benchmarks.catalogs import create_catalog

DATABASE_NAME: Final = "touchstone.db"
_NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
PASSWORD: Final = "a long enough one"
READY_PATH: Final = "/health/ready"
START_SECONDS: Final = 300.0  # a large catalog takes long to load
RETRY_SECONDS: Final = 0.1
STOP_SECONDS: Final = 30.0


class ServerProcess:
    """A server in a separate process."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], address: str) -> None:
        """Start the server without inheriting settings of the product.

        It may store the bytecode of its modules, as an installation does, because compiling takes longer than starting.
        """
        setting_names = {name for name in os.environ if name.startswith("TOUCHSTONE_")}
        inherited_variables = {
            name: value for name, value in os.environ.items() if name not in {*setting_names, _NO_BYTECODE}
        }
        self.command = command
        self.address = address
        self.process = subprocess.Popen(command, env={**inherited_variables, **environment}, stdout=subprocess.DEVNULL)

    def wait_until_ready(self, path: str = "/openapi.json", timeout_seconds: float = START_SECONDS) -> None:
        """Wait until the server answers the request for a path, by default for its OpenAPI document."""
        deadline = time.monotonic() + timeout_seconds
        while not self._answers(path):
            has_ended = self.process.poll() is not None
            if has_ended or time.monotonic() > deadline:
                self.stop()
                raise SystemExit(f"{self.command} did not answer")
            time.sleep(RETRY_SECONDS)

    def _answers(self, path: str) -> bool:
        """Return whether the server answers the request for a path with success."""
        try:
            return httpx2.get(f"{self.address}{path}", timeout=5).status_code == 200
        except httpx2.HTTPError:
            return False

    def cpu_seconds(self) -> float:
        """Return the CPU time of all threads of the process so far.

        The scheduler's statistics count nanoseconds; the usual ticks of 10 ms would blur short measurements.
        """
        threads = Path(f"/proc/{self.process.pid}/task").iterdir()
        nanoseconds = sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
        return nanoseconds / 1e9

    def stop(self) -> None:
        """Ask the process to end, and kill it if it does not."""
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            print("(a server did not stop in time, and was killed)", flush=True)
            self.process.kill()
            self.process.wait()


def start_product(
    data_dir: Path, *arguments: str, port: int | None = None, settings: Mapping[str, str] | None = None
) -> ServerProcess:
    """Start the product over the database in a data folder, and wait until it is ready and its catalog is loaded.

    The parameters are the same as for `launch_product`.
    """
    server = launch_product(data_dir, *arguments, port=port, settings=settings)
    server.wait_until_ready(READY_PATH)
    return server


def launch_product(
    data_dir: Path, *arguments: str, port: int | None = None, settings: Mapping[str, str] | None = None
) -> ServerProcess:
    """Start the product over the database in a data folder, without waiting until it answers.

    Args:
        data_dir: the data folder.
        arguments: the arguments of `touchstone serve`, such as the name of a single part.
        port: the port, by default a free one.
        settings: the settings, named like the environment variables in lower case and without their prefix.
    """
    port = port or free_port()
    all_settings = {
        "data_dir": str(data_dir),
        "port": str(port),
        "demo": "false",
        "metrics_port": "0",
        "log_level": "warning",
        **(settings or {}),
    }

    command = [sys.executable, "-m", "touchstone", "serve", *arguments]
    environment = {f"TOUCHSTONE_{name.upper()}": value for name, value in all_settings.items()}
    return ServerProcess(command, environment, f"http://127.0.0.1:{port}")


@contextmanager
def running_product(record_count: int, **settings: str) -> Iterator[ServerProcess]:
    """Serve the product over a new catalog with this number of records, until the `with` block ends."""
    with catalog_folder(record_count) as data_dir:
        server = start_product(data_dir, settings=settings)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def catalog_folder(record_count: int) -> Iterator[Path]:
    """Provide a temporary data folder with a database of the given number of records, or none for 0."""
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder)
        if record_count:
            asyncio.run(create_catalog(data_dir / DATABASE_NAME, record_count))
        yield data_dir


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@dataclass(frozen=True, slots=True)
class User:
    """A user of the product who has signed in."""

    id: str
    email: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request on behalf of this user."""
        return {"Authorization": f"Bearer {self.token}"}


def register_user(address: str, email: str = "bench@example.org") -> User:
    """Create an account with the password `PASSWORD`, sign in, and return the user."""
    with httpx2.Client(base_url=f"{address}/api/v1/auth", timeout=30) as client:
        account = client.post("/register", json={"email": email, "password": PASSWORD}).raise_for_status()
        tokens = client.post("/login", data={"username": email, "password": PASSWORD}).raise_for_status()

    return User(id=account.json()["id"], email=email, token=tokens.json()["access_token"])
