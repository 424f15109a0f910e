"""The demo catalog in the package is complete, consistent and free to redistribute."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, ETHICAL, FLAGS, NUMBERS, WORDS
from touchstone.core.text import fold
from touchstone.datafiles.file_profile import FileProfile
from touchstone.datafiles.profiler import profile_file
from touchstone.demo.packaged_records import read_records, tables_folder

GREEN_SOURCES = {
    "cv_datasheets",
    "croissant",
    "datapackage",
    "dcat_us_philly",
    "dpi",
    "fairground",
    "hf_cards",
    "pmlb",
    "sklearn",
    "statsmodels",
    "tfds",
    "vega",
}
TABLE_LICENCES = {
    "CC BY 4.0",
    "CC-BY-4.0",
    "CC 0",
    "CC0-1.0",
    "Apache License",
    "BSD-3-Clause",
    "public domain",
    "other-pd",
}
ENVELOPE = {"dataset_id", "name", "description", "file_path", "file_type", "metadata"}


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    return list(read_records())


@pytest.fixture(scope="module")
def with_table(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if record["file_path"].startswith("demo/")]


def test_size(records: list[dict[str, Any]], with_table: list[dict[str, Any]]) -> None:
    """There are at least 1 500 records, 25 of them with a table, and the tables are small enough to clone quickly."""
    assert len(records) >= 1500
    assert len(with_table) >= 25
    assert {record["file_type"] for record in with_table} == {"csv", "parquet"}
    assert sum(path.stat().st_size for path in tables_folder().iterdir()) < 20 * 2**20


def test_one_record_a_dataset(records: list[dict[str, Any]]) -> None:
    """Identifiers are UUIDs of version 5, and neither identifiers nor names repeat."""
    assert {UUID(record["dataset_id"]).version for record in records} == {5}
    assert max(Counter(record["dataset_id"] for record in records).values()) == 1
    assert max(Counter(fold(record["name"]) for record in records).values()) == 1


def test_shape(records: list[dict[str, Any]]) -> None:
    """Every record has every attribute, with None or a value of its kind that is within its bounds."""
    for record in records:
        assert record.keys() == ENVELOPE | BY_NAME.keys()
        assert record["name"] == record["dataset_name"] == record["name"].strip() != ""
        assert len(record["name"]) <= 255
        for name in FLAGS:
            assert record[name] in (True, False, None)
            assert not isinstance(record[name], int) or isinstance(record[name], bool)
        for name in WORDS:
            assert record[name] is None or (record[name] and all(isinstance(word, str) for word in record[name]))
        for name in NUMBERS:
            maximum = BY_NAME[name].maximum or record[name]
            assert record[name] is None or BY_NAME[name].minimum <= record[name] <= maximum


def test_every_value_has_its_evidence(records: list[dict[str, Any]]) -> None:
    """Each value has evidence that names the field it was taken from; an attribute without a value has none."""
    for record in records:
        known = {attribute.name for attribute in ATTRIBUTES if record[attribute.name] is not None}
        evidence = record["metadata"]["evidence"]
        assert evidence.keys() == known
        assert all(evidence.values())


def test_only_free_sources(records: list[dict[str, Any]], with_table: list[dict[str, Any]]) -> None:
    """Records and tables come only from sources whose licences allow passing them on, and all of them are named."""
    attribution = (tables_folder().parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert {record["metadata"]["source"]["name"] for record in records} == GREEN_SOURCES
    assert all(f"`{source}`" in attribution for source in GREEN_SOURCES)
    for record in with_table:
        assert record["metadata"]["licence"]
        assert set(record["metadata"]["licence"]) <= TABLE_LICENCES
        assert Path(record["file_path"]).name in attribution or record["file_type"] == "parquet"


def test_unknown_never_reads_as_no(records: list[dict[str, Any]]) -> None:
    """An ethical criterion is false only where a sentence states it, and most are unknown."""
    for record in records:
        for name in ETHICAL:
            assert record[name] is not False or record["metadata"]["evidence"][name].startswith("stated: ")
    assert sum(record["user_control"] is None for record in records) > 0.9 * len(records)


def test_nothing_shines_without_a_reason(records: list[dict[str, Any]]) -> None:
    """No record reaches an ethical score of 0.7, because no source document justifies one."""
    assert max(sum(record[name] is True for name in ETHICAL) for record in records) < 7


def test_texts_are_short_and_plain(records: list[dict[str, Any]]) -> None:
    """Objectives are at most 300 characters, without markup or the placeholder of an empty card."""
    for record in records:
        text = record["objective"] or ""
        assert len(text) <= 300
        assert "nformation Needed" not in text
        assert "<div" not in text
        assert "](" not in text


def test_every_table_belongs_to_one_record(with_table: list[dict[str, Any]]) -> None:
    """The folder contains exactly the tables that records name."""
    named = sorted(record["file_path"] for record in with_table)
    assert named == sorted(f"demo/{path.name}" for path in tables_folder().iterdir())


@pytest.fixture(scope="module")
def profiled_records(with_table: list[dict[str, Any]]) -> list[tuple[dict[str, Any], FileProfile]]:
    """Return each record with a table, and the profile of its table."""

    async def profile_all() -> list[tuple[dict[str, Any], FileProfile]]:
        pairs = []
        for record in with_table:
            table = tables_folder() / Path(record["file_path"]).name
            with table.open("rb") as file:
                pairs.append((record, await profile_file(file, record["file_type"])))
        return pairs

    return asyncio.run(profile_all())


def test_tables_are_what_the_records_say(profiled_records: list[tuple[dict[str, Any], FileProfile]]) -> None:
    """Rows, columns, missing share and digest equal what is measured in the file; a known target is not a feature."""
    for record, profile in profiled_records:
        stored = record["metadata"]["measured"]
        assert (stored["rows"], stored["columns"]) == (profile.rows, profile.columns)
        assert stored["sha256"] == profile.sha256
        assert record["instances_number"] == profile.rows > 0
        assert record["features_number"] == profile.columns - ("target" in record["metadata"])
        assert record["missing_values_percentage"] == profile.missing_values_percentage
        assert record["has_missing_values"] is (profile.missing_values_percentage != 0)
        assert record["metadata"]["evidence"]["instances_number"].startswith("measured in the file")


def test_suggested_columns_exist(profiled_records: list[tuple[dict[str, Any], FileProfile]]) -> None:
    """Target, sensitive and excluded columns are columns of the file, and most tables have a target."""
    for record, profile in profiled_records:
        columns = {column.name for column in profile.column_profiles}
        details = record["metadata"]
        assert {*details["sensitive_columns"], *details.get("exclude_columns", [])} <= columns
        assert details.get("target") in columns | {None}
    assert sum("target" in record["metadata"] for record, _ in profiled_records) >= 20
