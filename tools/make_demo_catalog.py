"""Make the demo catalog that the package carries, from a folder of collected dataset documents.

    python -m tools.make_demo_catalog --from FOLDER

FOLDER holds `metadata/` (cards, Data Packages, API replies…), `tables/` and `seed/seed_core.jsonl`. The same folder
gives the same bytes. Nothing is invented: a value that no field states stays null, and each value keeps the name of
the field it was taken from. Needed only to renew the catalog, never to run the service.
"""

import argparse
import asyncio
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tools.demo_sources import NO_LICENCE, Record, read_records
from tools.demo_tables import DemoTable, read_tables
from tools.demo_text import comparison_key, shorten, split_sentences
from touchstone.core.attributes import ATTRIBUTES
from touchstone.datafiles.file_profile import FileProfile
from touchstone.datafiles.profiler import profile_file

DEMO_FOLDER = Path(__file__).parents[1] / "src" / "touchstone" / "demo"
MEASURED = "measured in the file"
# The seed abbreviates how strong the evidence for a value is; the catalog spells it out.
EVIDENCE_GRADES = {"A: ": "stated: ", "B: ": "documented: ", "C: ": "named: "}
# A sentence that at least so many records of a source share says nothing about any of them.
BOILERPLATE_COUNT = 4
# Sources that describe variants of one dataset with the same sentences, on purpose.
SOURCES_WITH_VARIANTS = ("fairground", "pmlb")


def main() -> None:
    """Write the catalog and its tables into the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="folder", type=Path, required=True, help="the folder of collected documents")
    folder: Path = parser.parse_args().folder

    entries = build_catalog(folder)
    lines = [json.dumps(entry, ensure_ascii=False, separators=(",", ":"), allow_nan=False) for entry in entries]
    (DEMO_FOLDER / "catalog.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")

    table_count = sum("measured" in entry["metadata"] for entry in entries)
    print(f"{len(entries)} records, {table_count} with a table")


def build_catalog(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the catalog in the order of their sources and keys; copy their tables into the package."""
    described_records = list(read_records(folder))
    records = []
    for record, table in match_tables(described_records, read_tables(folder)):
        if table is not None:
            attach_table(record, table, folder)
        records.append(record)

    shorten_objectives(records)
    unique_records = remove_duplicates(records)
    unique_records.sort(key=lambda record: (record.source, record.key))
    return [as_catalog_entry(record) for record in unique_records]


def match_tables(records: Iterable[Record], tables: Iterable[DemoTable]) -> Iterator[tuple[Record, DemoTable | None]]:
    """Yield each record with the table that is its data file, or None.

    A table whose source has no record of its own comes last, with a record made from what the table knows.
    """
    unmatched_tables = {(table.source, table.key): table for table in tables}
    for record in records:
        yield record, unmatched_tables.pop((record.source, record.key), None)

    for table in unmatched_tables.values():
        yield table.make_record(), table


def attach_table(record: Record, table: DemoTable, folder: Path) -> None:
    """Copy a table into the package, and add to its record the file, its profile and suggestions for training."""
    target = DEMO_FOLDER / "tables" / table.file_name
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(folder / "tables" / table.path, target)
    remove_quotes_from_header(target)

    file_type = target.suffix.removeprefix(".")
    with target.open("rb") as file:
        profile = asyncio.run(profile_file(file, file_type))
    column_names = [column.name for column in profile.column_profiles]

    record.file_path = f"demo/{table.file_name}"
    record.file_type = file_type
    record.details = {"measured": profile_as_json(profile), **table.training_suggestions(column_names)}
    record.licence = table.licence or record.licence
    fill_measured_attributes(record, profile, target_column=record.details.get("target"))


def remove_quotes_from_header(table: Path) -> None:
    """Remove the single quotes around column names in a CSV file: the documentation of these tables has none."""
    if table.suffix != ".csv":
        return

    header, newline, rows = table.read_bytes().partition(b"\n")
    unquoted_header = re.sub(rb"'([^'\t,]*)'", rb"\1", header)
    table.write_bytes(unquoted_header + newline + rows)


def fill_measured_attributes(record: Record, profile: FileProfile, *, target_column: str | None) -> None:
    """Replace what a record says about its table by what was measured; a known target column is not a feature."""
    missing_percentage = profile.missing_values_percentage
    feature_count = profile.columns
    features_evidence = f"{MEASURED}: columns"
    if target_column:
        feature_count -= 1
        features_evidence += f", without the target {target_column}"

    record.put("instances_number", profile.rows, f"{MEASURED}: rows")
    record.put("features_number", feature_count, features_evidence)
    record.put("missing_values_percentage", missing_percentage, f"{MEASURED}: missing cells of all cells")
    record.put("has_missing_values", bool(missing_percentage), f"{MEASURED}: missing cells")
    record.put("is_split", False, "one undivided file")

    date_columns = [column.name for column in profile.column_profiles if column.type == "date"]
    if date_columns:
        record.put("has_temporal_factors", True, f"{MEASURED}: date column {date_columns[0]}")


def profile_as_json(profile: FileProfile) -> dict[str, Any]:
    """Return the profile as the catalog stores it."""
    members: dict[str, Any] = round_floats(msgspec.to_builtins(profile))
    return members


def round_floats(value: Any) -> Any:
    """Return a JSON value with every number cut to twelve significant digits, which are the same on every machine."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {name: round_floats(member) for name, member in value.items()}
    if isinstance(value, list):
        return [round_floats(item) for item in value]
    return value


def shorten_objectives(records: list[Record]) -> None:
    """Replace the objective of each record by a short plain text, without boilerplate of its source."""
    sentences_of_records = [split_sentences(record.values.get("objective")) for record in records]
    uses: Counter[tuple[str, str]] = Counter()
    for record, sentences in zip(records, sentences_of_records, strict=True):
        uses.update((record.source, sentence) for sentence in set(sentences))

    for record, sentences in zip(records, sentences_of_records, strict=True):
        own_sentences = [
            sentence
            for sentence in sentences
            if record.source in SOURCES_WITH_VARIANTS or uses[record.source, sentence] < BOILERPLATE_COUNT
        ]
        record.put("objective", shorten(own_sentences), record.evidence.get("objective", ""))


def remove_duplicates(records: Iterable[Record]) -> list[Record]:
    """Return one record for each dataset: the one with a table if there is one, otherwise the best documented one."""
    kept_records = []
    kept_keys: set[str] = set()
    for record in sorted(records, key=_preference):
        names = (record.name, *record.aliases)
        keys = {comparison_key(name) for name in names} - {""}
        if kept_keys.isdisjoint(keys):
            kept_records.append(record)
            kept_keys |= keys
    return kept_records


def _preference(record: Record) -> tuple[bool, int, str, str]:
    """Return the sort key that puts the preferred record of a dataset first; source and key make the order fixed."""
    has_no_table = not record.file_path.startswith("demo/")
    return has_no_table, -len(record.values), record.source, record.key


def as_catalog_entry(record: Record) -> dict[str, Any]:
    """Return the record as the catalog stores it; attributes without a value are left out."""
    names = [attribute.name for attribute in ATTRIBUTES if attribute.name in record.values]
    source = {"name": record.source, "key": record.key}
    if record.url:
        source["url"] = record.url

    return {
        "dataset_id": record.dataset_id,
        "name": record.name,
        "description": record.values.get("objective") or "",
        "file_path": record.file_path,
        "file_type": record.file_type,
        **{name: record.values[name] for name in names},
        "metadata": {
            "tags": sorted(set(record.tags)),
            "evidence": {name: spell_out_grade(record.evidence[name]) for name in names},
            "source": source,
            "licence": [licence for licence in record.licence if licence.casefold() not in NO_LICENCE],
            **record.details,
        },
    }


def spell_out_grade(evidence: str) -> str:
    """Return the evidence with its abbreviated grade, if it has one, spelled out."""
    grade, description = evidence[:3], evidence[3:]
    if grade in EVIDENCE_GRADES:
        return EVIDENCE_GRADES[grade] + description
    return evidence


if __name__ == "__main__":
    main()
