"""How a start prepares the data folder, and what it reports if it cannot use it."""

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.conftest import missing
from tests.serving_process import ServingProcess, sign_in
from touchstone.database.migrations import required_revision


def refused_start(folder: Path, **variables: str) -> str:
    """Start a server on this data folder, and return the only line that it prints before it exits."""
    serving = ServingProcess(folder, TOUCHSTONE_DEMO="false", **variables)
    command = [sys.executable, "-m", "touchstone", "serve"]
    ended = subprocess.run(command, env=serving.environment(), capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 2, ended
    lines = [line for line in ended.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, ended.stderr
    return lines[0]


def prepared(folder: Path) -> Path:
    """Return the data folder after the product was started and stopped for the first time."""
    serving = ServingProcess(folder, TOUCHSTONE_DEMO="false").start()
    assert serving.stop() == 0
    return folder / "touchstone.db"


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder that the product has prepared, for tests to copy, because a start takes seconds."""
    return prepared(tmp_path_factory.mktemp("prepared") / "data").parent


@pytest.fixture
def database(prepared_folder: Path, tmp_path: Path) -> Path:
    """Return the database in a data folder that the product has prepared."""
    folder = tmp_path / "data"
    shutil.copytree(prepared_folder, folder)
    return folder / "touchstone.db"


def modes(folder: Path) -> dict[str, int]:
    """Return the permissions of the folder and of everything in it, by path."""
    return {str(path): stat.S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}


def test_nobody_else_can_read_what_the_service_keeps(database: Path) -> None:
    """Database, log, key and uploads belong to the owner alone, whatever the umask and earlier permissions."""
    folder = database.parent
    before = os.umask(0o022)
    try:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o600 if path.suffix == ".key" else 0o644)
        (folder / "touchstone.db.0001-20200101-000000").touch(0o644)
        serving = ServingProcess(folder, TOUCHSTONE_DEMO="false").start()
        try:
            headers = sign_in(serving.address)
            upload = {"content": b"a,b\n1,2\n", "headers": headers, "timeout": 30}
            kept = httpx2.post(f"{serving.address}/api/v1/files?name=t.csv", **upload)  # type: ignore[arg-type]
            assert kept.status_code == 201, kept.text
            found = modes(folder)
        finally:
            serving.kill()
    finally:
        os.umask(before)

    assert {"touchstone.db", "touchstone.db-wal"} <= {Path(path).name for path in found}
    assert {path: oct(mode) for path, mode in found.items() if mode & 0o077} == {}


def test_a_folder_that_belongs_to_everybody_is_left_alone(tmp_path: Path) -> None:
    """A data folder with the sticky bit, such as /tmp, keeps its permissions, but the database in it does not."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "of-others").touch()
    (folder / "of-others").chmod(0o644)

    database = prepared(folder)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
    assert stat.S_IMODE((folder / "of-others").stat().st_mode) == 0o644
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


def test_a_newer_schema_is_refused_without_copies(database: Path) -> None:
    """However often a start is attempted, nothing is added to the folder."""
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    before = sorted(path.name for path in database.parent.iterdir())

    for _ in range(2):
        assert "newer than this code" in refused_start(database.parent)

    after = sorted(path.name for path in database.parent.iterdir())
    assert [name for name in after if name not in before and not name.endswith(("-wal", "-shm"))] == []


def test_an_upgrade_that_fails_leaves_no_copy(database: Path) -> None:
    """Repeated starts by a supervisor must not fill the disk with copies of the same database."""
    with sqlite3.connect(database) as connection:  # the first revision's tables exist: its upgrade must fail
        connection.execute("DELETE FROM alembic_version")
        connection.execute(
            "INSERT INTO alembic_version VALUES ('0001')" if required_revision() != "0001" else "SELECT 1"
        )
    connection.close()
    command = [sys.executable, "-m", "touchstone", "serve"]
    serving = ServingProcess(database.parent, TOUCHSTONE_DEMO="false")
    for _ in range(2):
        run = subprocess.run(command, env=serving.environment(), capture_output=True, check=False, timeout=60)
        assert run.returncode != 0
    assert list(database.parent.glob("touchstone.db.*-*")) == []


@pytest.mark.parametrize("damage", ["header", "pages"])
def test_a_damaged_database_is_said_in_one_line(database: Path, damage: str) -> None:
    """The line names the file and says what to do, and the file is not changed."""
    content = bytearray(database.read_bytes())
    start, end = (0, 100) if damage == "header" else (100, len(content))
    content[start:end] = os.urandom(end - start)
    database.write_bytes(content)

    line = refused_start(database.parent)

    assert f"{database} is damaged" in line
    assert "backup" in line
    assert database.read_bytes() == content


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://nobody@127.0.0.1:9/none", "TOUCHSTONE_DATABASE_URL: the database cannot be opened: "),
        ("postgresql://nobody@no-such-host.invalid/none", "TOUCHSTONE_DATABASE_URL: the database cannot be opened: "),
        ("postgresql://[::1", "TOUCHSTONE_DATABASE_URL: "),
        ("sqlite:////proc/none/x.db", "TOUCHSTONE_DATABASE_URL: the database cannot be opened: "),
    ],
)
def test_a_wrong_database_url_is_said_in_one_line(tmp_path: Path, url: str, reason: str) -> None:
    """The line begins with the variable."""
    assert reason in refused_start(tmp_path / "data", TOUCHSTONE_DATABASE_URL=url)


def test_a_folder_that_cannot_be_written_is_said_in_one_line(database: Path) -> None:
    """A read-only mount names the variable."""
    folder = database.parent
    mounted = subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True)
    if shutil.which("mount") is None or mounted.returncode != 0:
        missing("the right to mount")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        assert refused_start(folder).startswith(f"touchstone: TOUCHSTONE_DATA_DIR: {folder} cannot be used: ")
    finally:
        subprocess.run(["umount", folder], check=True)
