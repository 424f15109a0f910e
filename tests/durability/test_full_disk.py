"""On a full disk, writes are refused, reads work, users can sign in and delete, and then everything works again."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.conftest import missing
from tests.serving_process import PASSWORD, ServingProcess, sign_in

MIB = 1024 * 1024
EMAIL = "writer@example.org"
RECORD = {"name": "r", "description": "d", "file_path": "none.csv", "file_type": "csv"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 64 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        missing("the right to mount a small file system")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk: Path) -> Path:
    """Use up every free byte, as another program might."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as file:
        for size in (MIB, 4096):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue
    return filler


def fill_through(client: httpx2.Client) -> httpx2.Response:
    """Create projects until one is refused."""
    for _ in range(300):
        answer = client.post("/api/v1/projects", json={"name": "p", "description": "x" * 4000})
        if answer.status_code != 201:
            return answer
    raise AssertionError("the disk never got full")


def check_full(client: httpx2.Client, refresh_token: str) -> str:
    """Check which requests a full disk refuses, and return the next refresh token."""
    refused = [
        client.post("/api/v1/projects", json={"name": "p", "description": "x" * 4000}),
        client.post("/api/v1/datasets/", json=RECORD),
        client.post("/api/v1/files?name=t.csv", content=b"a,b\n" + b"1,2\n" * MIB),
        client.post("/api/v1/files", files={"file": ("t.csv", b"a,b\n" + b"1,2\n" * MIB)}),
    ]
    for answer in refused:
        assert (answer.status_code, answer.json()["code"]) == (507, "storage_full"), answer.text

    account = {"username": EMAIL, "password": PASSWORD}
    accepted = [
        client.post("/api/v1/auth/login", data=account),
        client.get("/api/v1/projects?limit=5"),
        client.get("/api/v1/datasets/"),
        client.post("/api/v1/datasets/score", json={"weights": [{"criterion_name": "year", "weight": 1}]}),
        client.get("/health/ready"),
        client.post("/api/v1/auth/refresh", json={"refresh_token": refresh_token}),
    ]
    assert [answer.status_code for answer in accepted] == [200] * len(accepted), [one.text for one in accepted]
    token: str = accepted[-1].json()["refresh_token"]
    return token


@pytest.mark.timeout(600)
def test_a_full_disk_can_be_emptied_by_its_users(small_disk: Path, tmp_path: Path) -> None:
    """What would grow gets 507; signing in, refreshing, reading and deleting work, even after a restart."""
    data = small_disk / "data"
    serving = ServingProcess(data, TOUCHSTONE_DEMO="false", TOUCHSTONE_RESERVE_BYTES=str(2 * MIB))
    try:
        address = serving.start().address
        with httpx2.Client(base_url=address, headers=sign_in(address), timeout=30) as client:
            account = {"username": EMAIL, "password": PASSWORD}
            refresh_token = client.post("/api/v1/auth/login", data=account).json()["refresh_token"]
            upload = client.post("/api/v1/files?name=big.csv", content=b"a,b\n" + b"1,2\n" * 2 * MIB).json()
            record = client.post("/api/v1/datasets/", json=RECORD).json()
            project = client.post("/api/v1/projects", json={"name": "mine"}).json()

            filler = fill(small_disk)
            assert fill_through(client).json()["code"] == "storage_full"
            refresh_token = check_full(client, refresh_token)

        serving.kill()
        fill(small_disk)
        address = serving.start().address
        with httpx2.Client(base_url=address, headers=sign_in(address), timeout=30) as client:
            refresh_token = check_full(client, refresh_token)
            assert client.delete(f"/api/v1/projects/{project['id']}").status_code == 204
            assert client.delete(f"/api/v1/datasets/{record['id']}").status_code == 204
            assert client.delete(f"/api/v1/files/{upload['id']}").status_code == 204
            assert client.post("/api/v1/projects", json={"name": "again"}).status_code == 201
            assert client.post("/api/v1/datasets/", json=RECORD).status_code == 201
            filler.unlink()
            assert client.post("/api/v1/files?name=t.csv", content=b"a,b\n" + b"1,2\n" * MIB).status_code == 201
    finally:
        serving.kill()

    with sqlite3.connect(data / "touchstone.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    log = (small_disk / "data.log").read_text()
    assert "Traceback" not in log, log[log.index("Traceback") - 1000 :][:4000]
    assert sum(json.loads(line)["event"] == "disk full" for line in log.splitlines() if line.startswith("{")) <= 2
