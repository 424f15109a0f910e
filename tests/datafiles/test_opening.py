"""Files are opened by the path of a caller only inside the data folders."""

import os
import socket
import threading
from pathlib import Path

import pytest

from touchstone.datafiles.safe_open import UnreadablePath, open_data_file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a root with a file and a folder; a secret file is beside it."""
    root = tmp_path / "data"
    (root / "inner").mkdir(parents=True)
    (root / "a.csv").write_text("a")
    (root / "inner" / "b.csv").write_text("b")
    (tmp_path / "secret.csv").write_text("secret")
    return root


def read(path: str, *roots: Path, **named_folders: Path) -> str:
    """Return the content of the file that is opened for a path."""
    with open_data_file(path, roots, named_folders=named_folders) as file:
        return file.read().decode()


@pytest.mark.parametrize(
    ("path", "text"), [("a.csv", "a"), ("inner/b.csv", "b"), ("./inner//b.csv", "b"), ("inner/./b.csv", "b")]
)
def test_below_the_root(root: Path, path: str, text: str) -> None:
    """A relative path is found below a root."""
    assert read(path, root) == text


def test_roots_in_order(root: Path, tmp_path: Path) -> None:
    """The file is opened in the first root that has it; a root that does not exist is skipped."""
    other_root = tmp_path / "other"
    other_root.mkdir()
    (other_root / "a.csv").write_text("other")
    assert read("a.csv", tmp_path / "missing", other_root, root) == "other"
    assert read("inner/b.csv", other_root, root) == "b"


def test_absolute_inside_a_root(root: Path) -> None:
    """A file is opened by its absolute path if it is inside a root."""
    assert read(str(root / "inner" / "b.csv"), root) == "b"


def test_a_root_may_be_a_link(root: Path, tmp_path: Path) -> None:
    """A root that is a link is followed, by its own name and by that of its target."""
    link = tmp_path / "link"
    link.symlink_to(root)
    assert read("a.csv", link) == "a"
    assert read(str(link / "a.csv"), link) == "a"
    assert read(str(root / "a.csv"), link) == "a"


def test_prefixes_have_their_own_folder(root: Path, tmp_path: Path) -> None:
    """A prefix stands for its own folder only, even if a root has a folder of that name."""
    uploads = tmp_path / "uploads-of-the-service"
    uploads.mkdir()
    (uploads / "mine.csv").write_text("mine")
    (root / "uploads").mkdir()
    (root / "uploads" / "other.csv").write_text("other")
    assert read("uploads/mine.csv", root, uploads=uploads) == "mine"
    with pytest.raises(UnreadablePath):
        read("uploads/other.csv", root, uploads=uploads)
    with pytest.raises(UnreadablePath):
        read("uploads/../secret.csv", root, uploads=uploads)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "/",
        "missing.csv",
        "inner",
        "a.csv/b.csv",
        "../secret.csv",
        "inner/../../secret.csv",
        "inner/../a.csv",
        "/etc/passwd",
        "/dev/zero",
        "//etc/passwd",
        "file:///etc/passwd",
        "http://127.0.0.1/a.csv",
        "s3://bucket/a.csv",
        "~/a.csv",
        "a.csv\0.txt",
        "\ud800.csv",
        "x" * 5000,
        "uploads",
        "*.csv",
    ],
)
def test_all_unreadable_paths_raise_the_same_error(root: Path, path: str) -> None:
    """The error does not tell missing, forbidden, outside and impossible paths apart."""
    with pytest.raises(UnreadablePath) as error:
        read(path, root, uploads=root / "inner")
    assert str(error.value) == str(UnreadablePath())


def test_outside_by_absolute_path(root: Path, tmp_path: Path) -> None:
    """A folder beside the root is outside of it, even if its name begins with that of the root."""
    (tmp_path / "data-private").mkdir()
    (tmp_path / "data-private" / "a.csv").write_text("private")
    for path in (tmp_path / "secret.csv", tmp_path / "data-private" / "a.csv", root / ".." / "secret.csv", root):
        with pytest.raises(UnreadablePath):
            read(str(path), root)


def test_links_below_a_root_are_not_followed(root: Path, tmp_path: Path) -> None:
    """No link to a file or a folder is followed, wherever it leads."""
    (root / "file.csv").symlink_to(tmp_path / "secret.csv")
    (root / "near.csv").symlink_to(root / "a.csv")
    (root / "folder").symlink_to(tmp_path)
    for path in ("file.csv", "near.csv", "folder/secret.csv", str(root / "folder" / "secret.csv")):
        with pytest.raises(UnreadablePath):
            read(path, root)


def test_only_regular_files(root: Path) -> None:
    """FIFOs, sockets and devices are refused, and a FIFO does not make the caller wait."""
    os.mkfifo(root / "fifo.csv")
    (root / "zero.csv").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket.csv"))
        for path in ("fifo.csv", "socket.csv", "zero.csv"):
            with pytest.raises(UnreadablePath):
                read(path, root)
    with pytest.raises(UnreadablePath):
        read("zero", Path("/dev"))


def test_replacing_a_folder_during_the_opening_is_harmless(root: Path, tmp_path: Path) -> None:
    """While a folder is replaced by a link to the outside again and again, no file outside is ever read."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "b.csv").write_text("secret")
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    stop = threading.Event()

    def swap_repeatedly() -> None:
        while not stop.is_set():
            (root / "inner").rename(tmp_path / "aside")
            (tmp_path / "link").rename(root / "inner")
            (root / "inner").rename(tmp_path / "link")
            (tmp_path / "aside").rename(root / "inner")

    swapper = threading.Thread(target=swap_repeatedly)
    swapper.start()
    contents = set()
    try:
        attempts = 0
        # On a busy machine, the folder may be away at every one of thousands of attempts.
        while attempts < 3000 or "b" not in contents:
            attempts += 1
            try:
                contents.add(read("inner/b.csv", root))
            except UnreadablePath:
                contents.add("refused")
    finally:
        stop.set()
        swapper.join()
    assert "secret" not in contents
    assert "b" in contents


def test_nothing_stays_open(root: Path) -> None:
    """Neither opening and closing a file nor refusing a path leaves a descriptor open."""
    descriptor_count_before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    os.mkfifo(root / "fifo")
    for path in ("a.csv", "inner/b.csv", "inner/missing", "fifo", "inner"):
        try:
            open_data_file(path, [root]).close()
        except UnreadablePath:
            continue
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) == descriptor_count_before
