"""How a start prepares the data folder, and what it reports if it cannot use it."""

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.machine import skip_or_fail
from tests.serving_process import ServingProcess, sign_in
from touchstone.core.data_folder import prepare_data_folder
from touchstone.core.settings import Settings
from touchstone.database.migrations import required_revision


def fail_to_start(folder: Path, *parts: str, **variables: str) -> str:
    """Start a server on this data folder, or one part of it, and return its only line of output before it exits."""
    serving = ServingProcess(folder, TOUCHSTONE_DEMO="false", **variables)
    command = [sys.executable, "-m", "touchstone", "serve", *parts]
    process = subprocess.run(
        command, env=serving.environment(), capture_output=True, text=True, check=False, timeout=60
    )
    assert process.returncode == 2, process
    lines = [line for line in process.stderr.splitlines() if line.strip()]
    assert len(lines) == 1, process.stderr
    return lines[0]


def prepare_database(folder: Path) -> Path:
    """Start and stop the product for the first time in a data folder, and return its database."""
    serving = ServingProcess(folder, TOUCHSTONE_DEMO="false").start()
    assert serving.stop() == 0
    return folder / "touchstone.db"


@pytest.fixture(scope="module")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder that the product has prepared, for tests to copy, because a start takes seconds."""
    return prepare_database(tmp_path_factory.mktemp("prepared") / "data").parent


@pytest.fixture
def database(prepared_folder: Path, tmp_path: Path) -> Path:
    """Return the database in a data folder that the product has prepared."""
    folder = tmp_path / "data"
    shutil.copytree(prepared_folder, folder)
    return folder / "touchstone.db"


def permissions(folder: Path) -> dict[str, int]:
    """Return the permissions of the folder and of everything in it, by path."""
    return {str(path): stat.S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}


def test_nobody_else_can_read_what_the_service_keeps(database: Path) -> None:
    """Database, log, key and uploads belong to the owner alone, whatever the umask and earlier permissions."""
    folder = database.parent
    umask_before = os.umask(0o022)
    try:
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o600 if path.suffix == ".key" else 0o644)
        (folder / "touchstone.db.0001-20200101-000000").touch(0o644)
        serving = ServingProcess(folder, TOUCHSTONE_DEMO="false").start()
        try:
            headers = sign_in(serving.address)
            upload = {"content": b"a,b\n1,2\n", "headers": headers, "timeout": 30}
            response = httpx2.post(f"{serving.address}/api/v1/files?name=t.csv", **upload)  # type: ignore[arg-type]
            assert response.status_code == 201, response.text
            mode_by_path = permissions(folder)
        finally:
            serving.kill()
    finally:
        os.umask(umask_before)

    assert {"touchstone.db", "touchstone.db-wal"} <= {Path(path).name for path in mode_by_path}
    assert {path: oct(mode) for path, mode in mode_by_path.items() if mode & 0o077} == {}


def test_a_folder_that_belongs_to_everybody_is_left_alone(tmp_path: Path) -> None:
    """A data folder with the sticky bit, such as /tmp, keeps its permissions, but the database in it does not."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    (folder / "of-others").touch()
    (folder / "of-others").chmod(0o644)

    database = prepare_database(folder)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777
    assert stat.S_IMODE((folder / "of-others").stat().st_mode) == 0o644
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


@pytest.mark.usefixtures("_usual_umask")
def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    """A data folder that also serves another purpose keeps its permissions, and so do the files of others in it."""
    folder = tmp_path / "project"
    folder.mkdir(0o755)
    for name in ("of-others.key", "of-others.id", "of-others.index", "touchstone.db", "signing.key"):
        (folder / name).touch(0o644)

    prepare_data_folder(Settings.load({"TOUCHSTONE_DATA_DIR": str(folder)}), str(folder / "touchstone.db"))

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.iterdir())}
    assert modes == {
        "project": 0o755,
        "of-others.key": 0o644,
        "of-others.id": 0o644,
        "of-others.index": 0o644,
        "touchstone.db": 0o600,
        "signing.key": 0o600,
    }


@pytest.fixture
def _usual_umask() -> Iterator[None]:
    """Use the usual umask in this test, and restore the one before, because preparing a folder changes it."""
    umask_before = os.umask(0o022)
    yield
    os.umask(umask_before)


def test_a_newer_schema_is_refused_without_copies(database: Path) -> None:
    """However often a start is attempted, no file is added to the folder."""
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    names_before = sorted(path.name for path in database.parent.iterdir())

    for _ in range(2):
        assert "newer than this code" in fail_to_start(database.parent)

    names_after = sorted(path.name for path in database.parent.iterdir())
    assert [name for name in names_after if name not in names_before and not name.endswith(("-wal", "-shm"))] == []


def test_an_upgrade_that_fails_leaves_no_copy(database: Path) -> None:
    """Repeated starts by a supervisor must not fill the disk with copies of the same database."""
    # The tables of the first revision exist already, so its upgrade must fail.
    with sqlite3.connect(database) as connection:
        connection.execute("DELETE FROM alembic_version")
        connection.execute(
            "INSERT INTO alembic_version VALUES ('0001')" if required_revision() != "0001" else "SELECT 1"
        )
    connection.close()
    command = [sys.executable, "-m", "touchstone", "serve"]
    serving = ServingProcess(database.parent, TOUCHSTONE_DEMO="false")
    for _ in range(2):
        process = subprocess.run(command, env=serving.environment(), capture_output=True, check=False, timeout=60)
        assert process.returncode != 0
    assert list(database.parent.glob("touchstone.db.*-*")) == []


@pytest.mark.parametrize("damage", ["header", "pages"])
def test_a_damaged_database_is_reported_in_one_line(database: Path, damage: str) -> None:
    """The line names the file and says what to do, and the file is not changed."""
    content = bytearray(database.read_bytes())
    start, end = (0, 100) if damage == "header" else (100, len(content))
    content[start:end] = os.urandom(end - start)
    database.write_bytes(content)

    line = fail_to_start(database.parent)

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
def test_a_wrong_database_url_is_reported_in_one_line(tmp_path: Path, url: str, reason: str) -> None:
    """The line contains the name of the variable and the reason."""
    assert reason in fail_to_start(tmp_path / "data", TOUCHSTONE_DATABASE_URL=url)


@pytest.mark.parametrize("failure", ["port", "signing_key", "selection"])
def test_the_first_password_is_printed_by_the_first_start_that_succeeds(tmp_path: Path, failure: str) -> None:
    """A start that fails creates no administrator, whose password nobody would ever see."""
    folder = tmp_path / "data"
    if failure == "port":
        with socket.create_server(("127.0.0.1", 0)) as taken:
            fail_to_start(folder, TOUCHSTONE_PORT=str(taken.getsockname()[1]))
    elif failure == "signing_key":
        (folder / "signing.key").mkdir(parents=True, mode=0o700)
        fail_to_start(folder)
        (folder / "signing.key").rmdir()
    else:
        fail_to_start(folder, "gateway")

    serving = ServingProcess(folder, TOUCHSTONE_DEMO="false").start()
    try:
        # `start` stops reading at the line before the one with the password.
        assert serving.process is not None
        assert serving.process.stdout is not None
        line = serving.process.stdout.readline()
    finally:
        serving.stop()
    assert line.startswith("Sign in as admin@touchstone.localhost with the password ")


def test_a_folder_that_cannot_be_written_is_reported_in_one_line(database: Path) -> None:
    """For a read-only mount, the line names the variable of the data folder."""
    folder = database.parent
    mount_process = subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True)
    if shutil.which("mount") is None or mount_process.returncode != 0:
        skip_or_fail("the right to mount")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        assert fail_to_start(folder).startswith(f"touchstone: TOUCHSTONE_DATA_DIR: {folder} cannot be used: ")
    finally:
        subprocess.run(["umount", folder], check=True)
