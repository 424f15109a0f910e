"""A PostgreSQL server for a single test that stops and restarts it."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.conftest import POSTGRES_BINARIES, free_port, skip_or_fail


class PostgresCluster:
    """A private cluster in a separate folder, on a fixed loopback port."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port

    @property
    def url(self) -> str:
        """The URL of the database `postgres`."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        """Create the files of the cluster, owned by the user `postgres`, because initdb refuses to run as root."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        options = f"-h 127.0.0.1 -p {self.port} -k {self.folder}"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        """Stop the server immediately, as in a crash."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        as_postgres = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        command = [*as_postgres, str(POSTGRES_BINARIES[-1] / program), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd="/")


@contextmanager
def postgres_cluster() -> Iterator[PostgresCluster]:
    """Create and start a cluster, and stop and remove it at the end of the block."""
    if not POSTGRES_BINARIES:
        skip_or_fail("PostgreSQL (Debian's package postgresql)")
    cluster = PostgresCluster(Path(tempfile.mkdtemp(prefix="touchstone-pg-", dir="/tmp")), free_port())
    cluster.create()
    cluster.start()
    try:
        yield cluster
    finally:
        if (cluster.folder / "data" / "postmaster.pid").exists():
            cluster.stop()
        shutil.rmtree(cluster.folder, ignore_errors=True)
