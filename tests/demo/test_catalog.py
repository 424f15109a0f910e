"""The demo catalog that comes with the package is complete, consistent, quoted and free to pass on."""

import asyncio
import re
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from tools.demo_catalog.report import catalog_tables
from tools.demo_catalog.sources import SOURCES
from touchstone.core.attributes import BY_NAME, ETHICAL, FLAGS, NUMBERS, WORDS
from touchstone.core.evidence import CLAIMED_ATTRIBUTES
from touchstone.core.text import fold
from touchstone.core.vocabulary import fold_domain, fold_task
from touchstone.datafiles.file_profile import FileProfile
from touchstone.datafiles.profiler import profile_file
from touchstone.demo.packaged_records import PackagedRecord, read_excerpts, read_records, tables_folder
from touchstone.metadata.licences import normalize_licence
from touchstone.metadata.readers.builder import LOADER_NAMES

GREEN_SOURCES = {source.name for source in SOURCES} | {"statsmodels", "scikit-learn"}
TABLE_LICENCES = {
    "Apache-2.0",
    "BSD-3-Clause",
    "CC-BY-4.0",
    "CC0-1.0",
    "LicenseRef-PublicDomain",
    "Apache License",
}


@pytest.fixture(scope="module")
def records() -> list[PackagedRecord]:
    return list(read_records())


@pytest.fixture(scope="module")
def records_with_table(records: list[PackagedRecord]) -> list[PackagedRecord]:
    return [record for record in records if record.file_path.startswith("demo/")]


def record_named(records: list[PackagedRecord], name: str) -> PackagedRecord:
    """Return the record with this name."""
    (record,) = [record for record in records if record.name == name]
    return record


def test_size(records: list[PackagedRecord], records_with_table: list[PackagedRecord]) -> None:
    """There are at least 2 000 records, 25 of them with a table, and all is small enough to clone quickly."""
    assert len(records) >= 2000
    assert len(records_with_table) >= 25
    assert {record.file_type for record in records_with_table} == {"csv", "parquet"}
    folder = tables_folder().parent
    assert sum(path.stat().st_size for path in tables_folder().iterdir()) < 20 * 2**20
    assert sum(path.stat().st_size for path in folder.glob("*.jsonl")) < 12 * 2**20


def test_one_record_a_dataset(records: list[PackagedRecord]) -> None:
    """Identifiers are UUIDs of version 5, and neither they nor the names repeat."""
    assert {UUID(record.dataset_id).version for record in records} == {5}
    assert max(Counter(record.dataset_id for record in records).values()) == 1
    assert max(Counter(fold(record.name) for record in records).values()) == 1


def test_shape(records: list[PackagedRecord]) -> None:
    """Every record has every attribute, with None or a value of its kind that is within its bounds."""
    for record in records:
        attributes = record.attributes
        assert attributes.keys() == BY_NAME.keys()
        assert record.name == attributes["dataset_name"] == record.name.strip() != ""
        assert len(record.name) <= 255
        for name in FLAGS:
            assert attributes[name] is None or isinstance(attributes[name], bool)
        for name in WORDS:
            words = attributes[name]
            assert words is None or (words and all(isinstance(word, str) for word in words))
        for name in NUMBERS:
            number = attributes[name]
            assert number is None or BY_NAME[name].minimum <= number <= (BY_NAME[name].maximum or number)


def test_only_free_sources(records: list[PackagedRecord], records_with_table: list[PackagedRecord]) -> None:
    """Records and tables come only from sources whose licences allow passing them on, and all of them are named."""
    attribution = (tables_folder().parent / "ATTRIBUTION.md").read_text(encoding="utf-8")
    assert {record.metadata["source"]["name"] for record in records} <= GREEN_SOURCES
    assert {source.name for record in records for source in record.sources} <= GREEN_SOURCES
    assert all(source in attribution for source in GREEN_SOURCES)
    for record in records_with_table:
        assert record.metadata["licence"] in TABLE_LICENCES, record.name
        assert Path(record.file_path).name in attribution or record.file_type == "parquet"


# Evidence


def test_every_claim_quotes_its_source(records: list[PackagedRecord]) -> None:
    """A claim has a quote that stands in the packaged passages of its source, with a digest and an address."""
    excerpts = read_excerpts()
    for record in records:
        for claim in record.claims:
            assert claim.attribute in CLAIMED_ATTRIBUTES
            assert claim.quote
            source = record.sources[claim.source]
            assert any(claim.quote in text for text in excerpts[source.sha256])
            assert source.url.startswith("https://")


def test_values_are_what_the_claims_amount_to(records: list[PackagedRecord]) -> None:
    """A flag is false if a claim says so; every other value of a record without a table is that of a claim."""
    for record in records:
        for name in CLAIMED_ATTRIBUTES:
            values = [claim.value for claim in record.claims if claim.attribute == name]
            if not values or "measured" in record.metadata:
                continue
            if name in FLAGS:
                assert record.attributes[name] is all(values)
            else:
                assert record.attributes[name] in values


def test_ethical_values_need_a_quote(records: list[PackagedRecord]) -> None:
    """No ethical criterion has a value without a claim, most are unknown, and no record reaches a score of 0.7."""
    for record in records:
        claimed_attributes = {claim.attribute for claim in record.claims}
        assert {name for name in ETHICAL if record.attributes[name] is not None} <= claimed_attributes
    assert sum(record.attributes["user_control"] is None for record in records) > 0.9 * len(records)
    assert max(sum(record.attributes[name] is True for name in ETHICAL) for record in records) < 7


def test_no_sentence_stands_in_many_documents(records: list[PackagedRecord]) -> None:
    """A sentence that cards copy from one another is no evidence, unless they describe variants of one dataset."""
    groups_by_sentence: dict[tuple[str, str], list[str]] = {}
    for record in records:
        for claim in record.claims:
            if claim.field is None and claim.attribute in ETHICAL and claim.attribute != "accountability_defined":
                group = record.metadata.get("variant_of", record.name)
                groups_by_sentence.setdefault((claim.attribute, claim.quote), []).append(group)
    assert all(len(groups) < 4 or len(set(groups)) == 1 for groups in groups_by_sentence.values())


def test_texts_are_short_and_plain(records: list[PackagedRecord]) -> None:
    """Objectives and quotes are short, without markup or the placeholder of an empty card."""
    for record in records:
        text = record.attributes["objective"] or ""
        assert len(text) <= 300
        assert "nformation Needed" not in text
        assert "<div" not in text
        assert "](" not in text
        assert all(len(claim.quote) <= 600 for claim in record.claims)


def test_objectives_describe_one_dataset(records: list[PackagedRecord]) -> None:
    """No three records share an objective, unless they are variants of one dataset."""
    objectives = Counter(record.attributes["objective"] for record in records if "variant_of" not in record.metadata)
    del objectives[None]
    assert max(objectives.values()) < 3


# What readers of the catalog rely on


def test_no_loader_is_a_dataset(records: list[PackagedRecord]) -> None:
    """Loaders such as `csv` and `imagefolder` read files of any content; they are no datasets."""
    assert not {record.name.lower() for record in records} & LOADER_NAMES
    keys = {record.metadata["source"]["key"] for record in records}
    assert not keys & LOADER_NAMES


def test_one_vocabulary(records: list[PackagedRecord]) -> None:
    """Tasks and domains are written in one way, and most records have them."""
    for record in records:
        assert all(fold_task(task) == task for task in record.attributes["task"] or [])
        assert all(fold_domain(domain) == domain for domain in record.attributes["domain"] or [])
    assert sum(record.attributes["domain"] is not None for record in records) > 0.75 * len(records)
    assert sum(record.attributes["task"] is not None for record in records) > 0.6 * len(records)


def test_every_domain_says_what_shows_it(records: list[PackagedRecord]) -> None:
    """The metadata names for each domain the field, the tag, the words or the task that show it."""
    for record in records:
        if record.attributes["domain"] is not None and "measured" not in record.metadata:
            shown_by = record.metadata["evidence"]["domain"]
            assert all(f"{domain} (" in shown_by for domain in record.attributes["domain"])


def test_licences_are_those_of_the_datasets(records: list[PackagedRecord]) -> None:
    """Licences are SPDX expressions where the words are certain, and the MIT licence of PMLB is that of no table."""
    for record in records:
        licence, words = record.metadata.get("licence"), record.metadata.get("licence_text")
        assert (licence is None) == (words is None)
        if words is not None and normalize_licence(words).spdx is not None:
            assert licence == normalize_licence(words).spdx
    pmlb_records = [record for record in records if record.metadata["source"]["kind"] == "pmlb"]
    assert len(pmlb_records) > 250
    assert not any(record.metadata.get("licence") == "MIT" for record in pmlb_records)


def test_variants_are_linked(records: list[PackagedRecord]) -> None:
    """The variants of a dataset name one another: four of Bank, four of German Credit, seven of Common Voice."""
    records_by_id = {record.dataset_id: record for record in records}
    for record in records:
        for variant in record.metadata.get("variants", []):
            variant_record = records_by_id[variant["dataset_id"]]
            assert variant_record.name == variant["name"]
            assert variant_record.metadata["variant_of"] == record.metadata["variant_of"]

    groups = Counter(record.metadata.get("variant_of") for record in records)
    assert groups["Bank"] >= 4
    assert groups["German Credit"] >= 4
    assert groups["Common Voice"] >= 7


def test_gated_data_are_not_open(records: list[PackagedRecord]) -> None:
    """TIMIT needs an agreement with its publisher, whatever another source says."""
    assert record_named(records, "TIMIT").attributes["is_public"] is False


def test_warnings_are_kept(records: list[PackagedRecord]) -> None:
    """Adult is no longer recommended, and German Credit has a wrong code table; its correction has no warning."""
    assert "no longer recommended" in record_named(records, "Adult").metadata["warnings"][0]
    assert "incorrect code table" in record_named(records, "German Credit").metadata["warnings"][0]
    assert "warnings" not in record_named(records, "South German Credit").metadata
    assert record_named(records, "South German Credit").attributes["year"] == 2020


def test_languages_are_codes(records: list[PackagedRecord]) -> None:
    """Languages are codes of ISO 639, whatever the documents write."""
    codes = {code for record in records for code in record.metadata.get("language", [])}
    assert {"en", "fr", "zh"} <= codes
    assert all(re.fullmatch(r"[a-z]{2,3}", code) for code in codes)


# Tables


def test_every_table_belongs_to_one_record(records_with_table: list[PackagedRecord]) -> None:
    """The folder contains exactly the tables that records name."""
    file_paths = sorted(record.file_path for record in records_with_table)
    assert file_paths == sorted(f"demo/{path.name}" for path in tables_folder().iterdir())


@pytest.fixture(scope="module")
def profiled_records(records_with_table: list[PackagedRecord]) -> list[tuple[PackagedRecord, FileProfile]]:
    """Return each record with a table, and the profile of its table."""

    async def profile_all() -> list[tuple[PackagedRecord, FileProfile]]:
        pairs = []
        for record in records_with_table:
            table = tables_folder() / Path(record.file_path).name
            with table.open("rb") as file:
                pairs.append((record, await profile_file(file, record.file_type)))
        return pairs

    return asyncio.run(profile_all())


def test_tables_are_what_the_records_say(profiled_records: list[tuple[PackagedRecord, FileProfile]]) -> None:
    """Rows, columns, missing share and digest equal what is measured in the file; a known target is not a feature."""
    for record, profile in profiled_records:
        measurement, attributes = record.metadata["measured"], record.attributes
        assert (measurement["rows"], measurement["columns"]) == (profile.rows, profile.columns)
        assert measurement["sha256"] == profile.sha256
        assert attributes["instances_number"] == profile.rows > 0
        assert attributes["features_number"] == profile.columns - ("target" in record.metadata)
        assert attributes["missing_values_percentage"] == pytest.approx(profile.missing_values_percentage)
        assert attributes["has_missing_values"] is (profile.missing_values_percentage != 0)


def test_suggested_columns_exist(profiled_records: list[tuple[PackagedRecord, FileProfile]]) -> None:
    """Target, sensitive and excluded columns are columns of the file, and most tables have a target."""
    for record, profile in profiled_records:
        columns = {column.name for column in profile.column_profiles}
        details = record.metadata
        assert {*details["sensitive_columns"], *details.get("exclude_columns", [])} <= columns
        assert details.get("target") in columns | {None}
    assert sum("target" in record.metadata for record, _ in profiled_records) >= 20


def test_attributes_without_a_claim_are_few(records: list[PackagedRecord]) -> None:
    """Apart from what was measured, only the tables without a document have values without a source to quote."""
    for record in records:
        claimed_attributes = {claim.attribute for claim in record.claims}
        known_attributes = {name for name in CLAIMED_ATTRIBUTES if record.attributes[name] is not None}
        unclaimed_attributes = known_attributes - claimed_attributes
        assert not unclaimed_attributes or "measured" in record.metadata


def test_the_reference_page_has_the_figures_of_the_catalog(records: list[PackagedRecord]) -> None:
    """Every table that the report prints stands in the documentation."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "demo-catalog.md").read_text(encoding="utf-8")
    for table in catalog_tables(records):
        assert table in page, "run `python -m tools.demo_catalog.report` and copy its tables"
