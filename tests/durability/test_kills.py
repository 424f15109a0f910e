"""Acknowledged writes survive `kill -9`, and each of them is synced to the disk before it is acknowledged."""

import random
import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.machine import skip_or_fail
from tests.serving_process import ServingProcess, sign_in

WRITER_COUNT = 8
RECORD = {"description": "d", "file_path": "none.csv", "file_type": "csv"}


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[ServingProcess]:
    """Start a product on the database under test, without the demo catalog."""
    process = ServingProcess(tmp_path / "data", TOUCHSTONE_DATABASE_URL=database_url, TOUCHSTONE_DEMO="false")
    yield process
    process.kill()


class Writers:
    """Eight clients that create records and projects, and remember which ones were acknowledged."""

    def __init__(self) -> None:
        self.datasets: set[str] = set()
        self.projects: set[str] = set()
        self.sent_count = 0

    def write(self, address: str, headers: dict[str, str], stop: threading.Event) -> None:
        """Write until the server is gone."""
        with httpx2.Client(base_url=address, headers=headers, timeout=30) as client:
            while not stop.is_set():
                self.sent_count += 1
                name = f"n{self.sent_count}-{random.getrandbits(48):x}"
                try:
                    if random.random() < 0.7:
                        if client.post("/api/v1/datasets/", json={"name": name, **RECORD}).status_code == 201:
                            self.datasets.add(name)
                    elif client.post("/api/v1/projects", json={"name": name}).status_code == 201:
                        self.projects.add(name)
                except httpx2.HTTPError:
                    return


def wait_for_writes(writers: Writers, count: int) -> None:
    """Return after `count` further writes have been acknowledged, while others are under way."""
    target_count = len(writers.datasets) + len(writers.projects) + count
    deadline = time.monotonic() + 60
    while len(writers.datasets) + len(writers.projects) < target_count and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.01))


def stored_names(address: str, headers: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the names of all records and projects in the service."""
    with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
        record_names: list[str] = []
        while page := client.get("/api/v1/datasets/", params={"limit": 1000, "skip": len(record_names)}).json():
            record_names += [row["name"] for row in page]
        project_names: list[str] = []
        while page := client.get("/api/v1/projects", params={"limit": 1000, "skip": len(project_names)}).json():
            project_names += [row["name"] for row in page]
    return record_names, project_names


@pytest.mark.timeout(3600)
def test_no_acknowledged_write_is_lost(server: ServingProcess, request: pytest.FixtureRequest) -> None:
    """After every kill, each record and project that was answered with 201 exists exactly once."""
    cycles = 100 if request.config.getoption("--long") else 4
    writers = Writers()
    for _ in range(cycles):
        server.start()
        headers = sign_in(server.address)
        stop = threading.Event()
        threads = [
            threading.Thread(target=writers.write, args=(server.address, headers, stop)) for _ in range(WRITER_COUNT)
        ]
        for thread in threads:
            thread.start()
        wait_for_writes(writers, random.randrange(3, 40))
        server.kill()
        stop.set()
        for thread in threads:
            thread.join()
    server.start()
    datasets, projects = stored_names(server.address, sign_in(server.address))
    assert len(writers.datasets) > cycles
    assert writers.datasets - set(datasets) == set()
    assert writers.projects - set(projects) == set()
    assert len(datasets) == len(set(datasets))
    assert len(projects) == len(set(projects))
    print(f"{cycles} kills, {len(writers.datasets) + len(writers.projects)} acknowledged writes, none lost")  # noqa: T201


def test_an_fsync_precedes_each_acknowledgement(tmp_path: Path) -> None:
    """The database's log is synced between the arrival of a write and its response."""
    if not shutil.which("strace"):
        skip_or_fail("strace")
    trace = tmp_path / "trace"
    server = ServingProcess(tmp_path / "data", TOUCHSTONE_DEMO="false")
    server.start(
        "strace",
        "-f",
        "-qq",
        "-s",
        "80",
        "-e",
        "trace=fsync,fdatasync,sendto,write,writev,sendmsg,recvfrom,read",
        "-o",
        str(trace),
    )
    try:
        headers = sign_in(server.address)
        with httpx2.Client(base_url=server.address, headers=headers, timeout=60) as client:
            for number in range(5):
                response = client.post("/api/v1/datasets/", json={"name": f"n{number}", **RECORD})
                assert response.status_code == 201
    finally:
        server.kill()
    lines = trace.read_text(errors="replace").splitlines()
    request_lines = [number for number, line in enumerate(lines) if "POST /api/v1/datasets/" in line]
    response_lines = [
        number for number, line in enumerate(lines) if "HTTP/1.1 201" in line and number > request_lines[0]
    ]
    assert len(request_lines) == len(response_lines) == 5
    for begin, end in zip(request_lines, response_lines, strict=True):
        assert any(re.search(r"\bf(data)?sync\(", line) for line in lines[begin:end]), lines[begin:end]
