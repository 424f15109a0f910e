"""Profiles and trainings read a data file alike: its layout, its names and its values."""

import asyncio
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from touchstone.datafiles.file_profile import FailureReason, FileProfile, ProfilingError
from touchstone.datafiles.profiler import profile_file
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_reader import Table, read_table
from touchstone.learning.task_interface import DataFile


def read_both(path: Path, content: bytes | str) -> tuple[FileProfile, Table]:
    """Write a file, whose suffix is its type, and return its profile and the table that a training reads."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with path.open("rb") as file:
        return asyncio.run(profile_file(file, path.suffix[1:])), read_table(DataFile(file, path.suffix[1:]))


@pytest.mark.parametrize(
    ("content", "names", "rows"),
    [
        (" a , b\n1,x\n2,y\n", ["a", "b"], 2),
        ("a,A,a,,b\n1,2,3,4,x\n5,6,7,8,y\n", ["a", "A", "a_2", "column_4", "b"], 2),
        ('"two\nlines",b\n1,x\n2,y\n', ["two lines", "b"], 2),
        ("one\N{LINE SEPARATOR}line,b\n1,x\n2,y\n", ["one\N{LINE SEPARATOR}line", "b"], 2),
        ("\n\na,b\n1,x\n2,y\n", ["a", "b"], 2),
        ("a,b\nr1,1,2\nr2,3,4\n", ["column_1", "a", "b"], 2),
        ("a,b\n1,x,\n2,y,\n3\n", ["a", "b"], 3),
        ("39,7.5,x\n50,8.5,x\n38,1.5,y\n", ["column_1", "column_2", "column_3"], 3),
        ("a,b\r\n1,x\n2,y\r\n", ["a", "b"], 2),
        ('a,b\n1,5" pipe\n2,y\n', ["a", "b"], 2),
        ("prénom;âge\nZoé;3\nLéo\n".encode("cp1252"), ["prénom", "âge"], 2),
        ("prénom;âge\nZoé;3\nLéo\n".encode("utf-16-be"), ["prénom", "âge"], 2),
    ],
)
def test_columns_have_the_same_names(tmp_path: Path, content: bytes | str, names: list[str], rows: int) -> None:
    """Columns are named alike, whatever the header looks like, and no row is lost."""
    profile, table = read_both(tmp_path / "t.csv", content)
    assert [column.name for column in profile.column_profiles] == list(table.columns) == names
    assert profile.rows == len(table.frame) == rows


def test_white_space_in_names_is_not_worth_a_warning(tmp_path: Path) -> None:
    """Only columns that have got another name are renamed."""
    _profile, table = read_both(tmp_path / "t.csv", ' a ,"b\nc",a\n1,x,2\n3,y,4\n')
    assert table.renamed == {"a_2": "a"}


ROWS = [{" a ": 1, "b": "é"}, {" a ": 2, "b": "x"}]


@pytest.mark.parametrize("file_type", ["json", "jsonl"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"])
def test_json_in_any_encoding(tmp_path: Path, file_type: str, encoding: str) -> None:
    """JSON that programs of Windows have written is read like any other."""
    lines = [json.dumps(row, ensure_ascii=False) for row in ROWS]
    text = f"[{','.join(lines)}]" if file_type == "json" else "\n".join(lines)
    profile, table = read_both(tmp_path / f"t.{file_type}", text.encode(encoding))
    assert [column.name for column in profile.column_profiles] == list(table.columns) == ["a", "b"]
    assert dict(profile.column_profiles[1].top) == {"x": 1, "é": 1}
    assert table.frame["b"].tolist() == ["é", "x"]
    assert profile.warnings == (["encoding_guessed"] if encoding == "cp1252" else [])


def test_parquet_names(tmp_path: Path) -> None:
    """Names that differ in case only stay as they are, and columns of nested values are single ones."""
    arrays = {"a": pa.array([1]), "A ": pa.array([{"x": {"y": 1}, "z": [1]}]), "": pa.array(["x"])}
    pq.write_table(pa.table(arrays), tmp_path / "s.parquet")
    profile, table = read_both(tmp_path / "t.parquet", (tmp_path / "s.parquet").read_bytes())
    assert [column.name for column in profile.column_profiles] == list(table.columns) == ["a", "A", "column_3"]


@pytest.mark.parametrize(
    "name_and_content",
    [
        ("t.json", "[1, 2, 3]"),
        ("t.json", '[{"a": 1}, 2]'),
        ("t.json", "[[1, 2], [3, 4]]"),
        ("t.json", '{\n  "rows": [{"a": 1}]\n}'),
        ("t.jsonl", "1\n2\n"),
        ("t.jsonl", '[{"a": 1}]\n'),
        ("t.csv", "a,b\n1,2\n1,2,3\n"),
        ("t.csv", "a,b\n1,2\n1,2,\n"),
    ],
)
def test_what_is_no_table_is_refused_by_both(tmp_path: Path, name_and_content: tuple[str, str]) -> None:
    """What is no list of rows, or has too long a row, gets no profile, and nothing is learned from it."""
    name, content = name_and_content
    path = tmp_path / name
    path.write_text(content)
    with path.open("rb") as file:
        with pytest.raises(ProfilingError) as profiling_error:
            asyncio.run(profile_file(file, path.suffix[1:]))
        with pytest.raises(LearningError) as learning_error:
            read_table(DataFile(file, path.suffix[1:]))
    assert profiling_error.value.reason is FailureReason.MALFORMED
    assert learning_error.value.code in ("file_malformed", "file_unreadable")
