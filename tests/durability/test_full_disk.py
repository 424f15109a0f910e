"""On a full disk, writes are refused, reads work, users can sign in and delete, and then everything works again."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.machine import skip_or_fail
from tests.serving_process import PASSWORD, ServingProcess, sign_in

MIB = 1024 * 1024
EMAIL = "writer@example.org"
RECORD = {"name": "r", "description": "d", "file_path": "none.csv", "file_type": "csv"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 64 MB."""
    mount_point = tmp_path / "disk"
    mount_point.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64m,mode=700", "tmpfs", str(mount_point)]
    if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode != 0:
        skip_or_fail("the right to mount a small file system")
    yield mount_point
    subprocess.run(["umount", "--lazy", mount_point], check=True)


def fill_disk(disk: Path) -> Path:
    """Use up every free byte, as another program might, and return the file that fills the disk."""
    filler_file = disk / "filler"
    with filler_file.open("ab", buffering=0) as file:
        for size in (MIB, 4096):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue
    return filler_file


def fill_through_service(client: httpx2.Client) -> httpx2.Response:
    """Create projects until the service refuses one, and return the refusal."""
    for _ in range(300):
        response = client.post("/api/v1/projects", json={"name": "p", "description": "x" * 4000})
        if response.status_code != 201:
            return response
    raise AssertionError("the disk never got full")


def check_full(client: httpx2.Client, refresh_token: str) -> str:
    """Check which requests a full disk refuses, and return the next refresh token."""
    refusals = [
        client.post("/api/v1/projects", json={"name": "p", "description": "x" * 4000}),
        client.post("/api/v1/datasets/", json=RECORD),
        client.post("/api/v1/files?name=t.csv", content=b"a,b\n" + b"1,2\n" * MIB),
        client.post("/api/v1/files", files={"file": ("t.csv", b"a,b\n" + b"1,2\n" * MIB)}),
    ]
    for response in refusals:
        assert (response.status_code, response.json()["code"]) == (507, "storage_full"), response.text

    account = {"username": EMAIL, "password": PASSWORD}
    responses = [
        client.post("/api/v1/auth/login", data=account),
        client.get("/api/v1/projects?limit=5"),
        client.get("/api/v1/datasets/"),
        client.post("/api/v1/datasets/score", json={"weights": [{"criterion_name": "year", "weight": 1}]}),
        client.get("/health/ready"),
        client.post("/api/v1/auth/refresh", json={"refresh_token": refresh_token}),
    ]
    assert [response.status_code for response in responses] == [200] * len(responses), [
        response.text for response in responses
    ]
    next_refresh_token: str = responses[-1].json()["refresh_token"]
    return next_refresh_token


@pytest.mark.timeout(600)
def test_a_full_disk_can_be_emptied_by_its_users(small_disk: Path, tmp_path: Path) -> None:
    """Requests that need space get 507; signing in, refreshing, reading and deleting work, even after a restart."""
    data_folder = small_disk / "data"
    serving = ServingProcess(data_folder, TOUCHSTONE_DEMO="false", TOUCHSTONE_RESERVE_BYTES=str(2 * MIB))
    try:
        address = serving.start().address
        with httpx2.Client(base_url=address, headers=sign_in(address), timeout=30) as client:
            account = {"username": EMAIL, "password": PASSWORD}
            refresh_token = client.post("/api/v1/auth/login", data=account).json()["refresh_token"]
            upload = client.post("/api/v1/files?name=big.csv", content=b"a,b\n" + b"1,2\n" * 2 * MIB).json()
            record = client.post("/api/v1/datasets/", json=RECORD).json()
            project = client.post("/api/v1/projects", json={"name": "mine"}).json()

            filler_file = fill_disk(small_disk)
            assert fill_through_service(client).json()["code"] == "storage_full"
            refresh_token = check_full(client, refresh_token)

        serving.kill()
        fill_disk(small_disk)
        address = serving.start().address
        with httpx2.Client(base_url=address, headers=sign_in(address), timeout=30) as client:
            refresh_token = check_full(client, refresh_token)
            assert client.delete(f"/api/v1/projects/{project['id']}").status_code == 204
            assert client.delete(f"/api/v1/datasets/{record['id']}").status_code == 204
            assert client.delete(f"/api/v1/files/{upload['id']}").status_code == 204
            assert client.post("/api/v1/projects", json={"name": "again"}).status_code == 201
            assert client.post("/api/v1/datasets/", json=RECORD).status_code == 201
            filler_file.unlink()
            assert client.post("/api/v1/files?name=t.csv", content=b"a,b\n" + b"1,2\n" * MIB).status_code == 201
    finally:
        serving.kill()

    with sqlite3.connect(data_folder / "touchstone.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    log = (small_disk / "data.log").read_text()
    assert "Traceback" not in log, log[log.index("Traceback") - 1000 :][:4000]
    assert sum(json.loads(line)["event"] == "disk full" for line in log.splitlines() if line.startswith("{")) <= 2


@pytest.mark.timeout(300)
def test_files_that_do_not_fit_among_temporary_files_are_refused(small_disk: Path, tmp_path: Path) -> None:
    """Files in forms are stored in the folder of temporary files, which may be full while the data folder is not."""
    serving = ServingProcess(tmp_path / "data", TOUCHSTONE_DEMO="false", TMPDIR=str(small_disk))
    table = {"file": ("t.csv", b"a,b\n" + b"1,2\n" * MIB)}
    documents = {"files": ("README.md", b"# A card\n" + b"A long text\n" * MIB)}
    page = {"upload": ("t.csv", b"a,b\n" + b"1,2\n" * MIB)}
    try:
        address = serving.start().address
        with httpx2.Client(base_url=address, headers=sign_in(address), timeout=60) as client:
            # Python chooses the folder of temporary files when it needs one for the first time.
            assert client.post("/api/v1/files", files=table).status_code == 201

            filler_file = fill_disk(small_disk)
            for path, files in (("/api/v1/files", table), ("/api/v1/datasets/import", documents)):
                response = client.post(path, files=files)
                assert (response.status_code, response.json()["code"]) == (507, "storage_full"), response.text

            client.headers["Origin"] = address
            client.post("/app/sign-in", data={"email": EMAIL, "password": PASSWORD})
            response = client.post("/app/datasets/new", data={"name": "n"}, files=page)
            assert response.status_code == 507, response.text
            assert "Espace de stockage plein" in response.text

            filler_file.unlink()
            assert client.post("/api/v1/files", files=table).status_code == 201
    finally:
        serving.kill()
    assert "Traceback" not in (tmp_path / "data.log").read_text()
