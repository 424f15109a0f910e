"""`touchstone import`: documents in files, folders and JSON Lines, summarised for people and programs."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import PASSWORD, run, run_json
from tests.cli.served import served
from tests.metadata.examples import CARD, CROISSANT, DCAT_US, INFOS, as_bytes
from touchstone.client.document_files import MAX_BATCH_BYTES, MAX_BATCH_DOCUMENTS, Document, batches, documents_in


@pytest.fixture(scope="module", autouse=True)
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the product, sign a user in at it, and return its address."""
    with served(tmp_path_factory.mktemp("served")) as address:
        run("user", "create", "me@example.org", "--password", PASSWORD)
        run_json("login", "--url", address, "--email", "me@example.org", "--password", PASSWORD)
        yield address


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Create a folder with a card and its companion, a Croissant document, and files that are no documents."""
    (tmp_path / "docs" / "signs").mkdir(parents=True)
    (tmp_path / "docs" / ".git").mkdir()
    (tmp_path / "docs" / "signs" / "README.md").write_text(CARD)
    (tmp_path / "docs" / "signs" / "dataset_infos.json").write_bytes(as_bytes(INFOS))
    (tmp_path / "docs" / "croissant.json").write_bytes(as_bytes(CROISSANT))
    (tmp_path / "docs" / ".git" / "config.json").write_text("{}")
    (tmp_path / "docs" / "picture.png").write_bytes(b"\x89PNG")
    return tmp_path / "docs"


def test_a_folder_is_imported_once(folder: Path) -> None:
    """Companions are read together, hidden files and pictures are passed over, and the second run changes nothing."""
    report = run_json("import", str(folder), "--source-name", "A", "--visibility", "private")
    assert (report["created"], report["rejected"], report["total"]) == (2, 0, 2)
    assert {result["standard"] for result in report["results"]} == {"hf_card", "croissant"}
    second_report = run_json("import", str(folder), "--source-name", "A")
    assert (second_report["created"], second_report["updated"], second_report["unchanged"]) == (0, 0, 2)


def test_a_dry_run_changes_nothing(folder: Path) -> None:
    """The summary says what would be created, and a person sees a table."""
    result = run("import", str(folder), "--source-name", "B", "--dry-run", "--table")
    assert result.exit_code == 0, result.output
    assert "Street Signs" in result.stdout
    assert "created: 2" in result.stdout
    assert run_json("import", str(folder), "--source-name", "B")["created"] == 2


def test_rejections_are_listed(folder: Path) -> None:
    """A document that cannot be used is named with its reason; the others are imported, and the exit status is 1."""
    (folder / "signs" / "other.json").write_text('{"hello": "world"}')
    folder_result = run("import", str(folder), "--source-name", "C", "--table")
    assert folder_result.exit_code == 1
    assert "created: 2" in folder_result.stdout
    assert "docs/signs/other.json: no known metadata standard" in folder_result.stdout

    file_result = run("import", str(folder / "signs" / "other.json"), "--json")
    assert file_result.exit_code == 1
    [rejection] = json.loads(file_result.stdout)["results"]
    assert (rejection["document"], rejection["error"]["code"]) == ("signs/other.json", "unknown_standard")


def test_rejections_that_are_not_listed_are_counted(tmp_path: Path) -> None:
    """A catalog with many unusable datasets is not taken for one with two hundred of them."""
    datasets = [{"description": f"Dataset {number} without a title."} for number in range(229)]
    (tmp_path / "data.json").write_bytes(as_bytes({**DCAT_US, "dataset": datasets}))
    result = run("import", str(tmp_path / "data.json"), "--table")
    assert result.exit_code == 1
    assert "data.json: 30 more datasets or documents were rejected" in " ".join(result.stdout.split())
    assert "rejected: 200" in result.stdout, "without the entry that counts the others"


def test_json_lines_hold_documents_or_records(tmp_path: Path) -> None:
    """Each line is a document, unless the file was exported from a catalog."""
    documents = [{**CROISSANT, "url": f"https://lines.example/{number}"} for number in range(3)]
    lines_file = tmp_path / "lines.jsonl"
    lines_file.write_bytes(b"\n".join(map(as_bytes, documents)))
    assert run_json("import", str(lines_file))["created"] == 3
    assert run_json("import", str(lines_file))["unchanged"] == 3

    records_file = tmp_path / "records.jsonl"
    records_file.write_text('{"name": "A record of mine", "year": 2020}\n')
    assert run_json("import", str(records_file))["created"] == 1


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and an empty folder are wrong usage."""
    missing_result = run("import", str(tmp_path / "missing.json"))
    assert (missing_result.exit_code, "missing.json" in missing_result.stderr) == (2, True)
    empty_result = run("import", str(tmp_path))
    assert (empty_result.exit_code, "no documents" in empty_result.stderr) == (2, True)
    assert run("import", str(tmp_path), "--format", "no-such").exit_code == 2


def test_batches_keep_folders_together() -> None:
    """No batch is larger than a request may be, and a folder is divided only if it has to be."""
    documents = [Document(f"{folder}/{name}.json", b"x") for folder in "abc" for name in range(20)]
    sizes = [[document.name[0] for document in batch] for batch in batches(documents)]
    assert sizes == [["a"] * 20 + ["b"] * 20, ["c"] * 20]

    large_documents = [Document("a/large.json", b"x" * MAX_BATCH_BYTES), Document("a/small.json", b"x")]
    assert [len(batch) for batch in batches(large_documents)] == [1, 1]
    many_documents = [Document(f"a/{name}", b"x") for name in range(MAX_BATCH_DOCUMENTS + 1)]
    assert [len(batch) for batch in batches(many_documents)] == [MAX_BATCH_DOCUMENTS, 1]


def test_names_contain_the_folder(folder: Path) -> None:
    """Readers take identifiers from folders, so a name begins with the folder that was given."""
    names = [document.name for document in documents_in(folder)]
    assert names == ["docs/croissant.json", "docs/signs/README.md", "docs/signs/dataset_infos.json"]
    assert [document.name for document in documents_in(folder / "signs" / "README.md")] == ["signs/README.md"]
