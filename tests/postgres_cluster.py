"""Private PostgreSQL servers, for a whole run or for a single test that stops and restarts its server."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.machine import free_port, skip_or_fail

BINARY_FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"))


class PostgresCluster:
    """A private cluster in a separate folder, on a fixed loopback port.

    `server_options` are further options of the server, such as `-c fsync=off`.
    """

    def __init__(self, folder: Path, port: int, server_options: str) -> None:
        self.folder = folder
        self.port = port
        self._server_options = server_options

    @property
    def server_url(self) -> str:
        """The URL of the server, without a database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The URL of the database `postgres`."""
        return f"{self.server_url}/postgres"

    def create(self) -> None:
        """Create the files of the cluster, owned by the user `postgres`, because initdb refuses to run as root."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder} {self._server_options}"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server immediately, as in a crash."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        as_postgres = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_postgres, str(BINARY_FOLDERS[-1] / program), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd="/")


@contextmanager
def postgres_cluster(server_options: str = "") -> Iterator[PostgresCluster]:
    """Create and start a cluster, and stop and remove it at the end of the block."""
    if not BINARY_FOLDERS:
        skip_or_fail("PostgreSQL (Debian's package postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="touchstone-pg-", dir="/tmp"))
    cluster = PostgresCluster(folder, free_port(), server_options)
    cluster.create()
    cluster.start()
    try:
        yield cluster
    finally:
        if (cluster.folder / "data" / "postmaster.pid").exists():
            cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)
