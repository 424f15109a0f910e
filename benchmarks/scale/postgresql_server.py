"""A PostgreSQL server for the catalogs, with its files in a folder that can be kept for the next run."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import psycopg

from benchmarks.product_server import free_port

_BINARIES: Final = Path("/usr/lib/postgresql")  # Debian's package, in a folder for each version
_MEMORY_MEGABYTES: Final = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
_SERVER_OPTIONS: Final = {
    "shared_buffers": f"{_MEMORY_MEGABYTES // 4}MB",  # As the documentation of PostgreSQL advises.
    "maintenance_work_mem": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
}


class PrivateServer:
    """A PostgreSQL server that only this machine can reach, with its files in a folder.

    The port stays the same from run to run, because the product keeps a snapshot of its index for each database URL.
    """

    def __init__(self, folder: Path) -> None:
        """Use the files that an earlier run has left in the folder, or create them."""
        self.folder = folder
        port_file = folder / "port"
        if not port_file.exists():
            self._create()
            port_file.write_text(str(free_port()))
        self.port = int(port_file.read_text())

    @property
    def url(self) -> str:
        """The URL of the server, without the name of a database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start the server and wait until it accepts connections, after stopping one that a killed run has left."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self._run("pg_ctl", "-w", "-m", "immediate", "stop", check=False)

        settings = " ".join(f"-c {name}={value}" for name, value in _SERVER_OPTIONS.items())
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} {settings}"
        self._run("pg_ctl", "-w", "-t", "600", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server after a checkpoint, so that it starts quickly the next time."""
        self._run("pg_ctl", "-w", "-t", "600", "-m", "fast", "stop")

    def _create(self) -> None:
        """Create the files of the server, as the user `postgres` if run by root, because initdb refuses root."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        """Run a PostgreSQL program on the files of the server. With `check`, a failure raises an exception."""
        binaries = sorted(_BINARIES.glob("*/bin"))
        if not binaries:
            raise SystemExit("PostgreSQL is missing (Debian's package postgresql, or --database postgresql://…)")

        newest_program = binaries[-1] / program
        command = [str(newest_program), "-D", str(self.folder / "data"), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        subprocess.run(command, check=check, stdout=subprocess.DEVNULL, cwd="/")


@contextmanager
def private_server(folder: Path) -> Iterator[str]:
    """Run a private server until the end of the block, and provide its URL."""
    server = PrivateServer(folder)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def database_url(server_url: str, name: str) -> str:
    """Return the URL of a database on the server, after creating the database if it does not exist."""
    with psycopg.connect(f"{server_url}/postgres", autocommit=True) as connection:
        row = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
        if row is None:
            connection.execute(f'CREATE DATABASE "{name}"')
    return f"{server_url}/{name}"
