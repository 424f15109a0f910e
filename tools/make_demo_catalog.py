"""Make the demo catalog that the package carries, from a folder of collected dataset documents.

    python tools/make_demo_catalog.py --from FOLDER

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
from demo_sources import NO_LICENCE, Record, green_records
from demo_tables import TableRow, table_rows
from demo_text import key_of, sentences, short

from touchstone.core.attributes import ATTRIBUTES
from touchstone.datafiles.profiler import Profile, profile

DEMO = Path(__file__).parents[1] / "src" / "touchstone" / "demo"
MEASURED = "measured in the file"
GRADES = {"A: ": "stated: ", "B: ": "documented: ", "C: ": "named: "}
BOILERPLATE = 4  # a sentence that so many records of a source share says nothing about any of them
CURATED = ("fairground", "pmlb")  # describe variants of one dataset alike, on purpose


def main() -> None:
    """Write the catalog and its tables into the package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="folder", type=Path, required=True, help="the folder of collected documents")
    folder: Path = parser.parse_args().folder
    records = build(folder)
    lines = [json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False) for record in records]
    (DEMO / "catalog.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(records)} records, {sum('measured' in r['metadata'] for r in records)} with a table")


def build(folder: Path) -> list[dict[str, Any]]:
    """All records, in the order of their sources and names."""
    found = list(green_records(folder))
    found = [attach(record, row, folder) for record, row in with_tables(found, table_rows(folder))]
    shorten(found)
    kept = without_duplicates(found)
    return [finished(record) for record in sorted(kept, key=lambda r: (r.source, r.key))]


def with_tables(records: Iterable[Record], rows: Iterable[TableRow]) -> Iterator[tuple[Record, TableRow | None]]:
    """Each record with the table that is its data file; a table whose source has no record brings its own."""
    waiting = {(row.source, row.key): row for row in rows}
    for record in records:
        yield record, waiting.pop((record.source, record.key), None)
    for row in waiting.values():
        yield row.record(), row


def attach(record: Record, row: TableRow | None, folder: Path) -> Record:
    """The record with its table copied into the package, and what was measured in it."""
    if row is None:
        return record
    target = DEMO / "tables" / row.file_name
    target.parent.mkdir(exist_ok=True)
    shutil.copyfile(folder / "tables" / row.path, target)
    without_quoted_names(target)
    with target.open("rb") as file:
        measured = asyncio.run(profile(file, target.suffix[1:]))
    names = [column.name for column in measured.column_profiles]
    record.file_path, record.file_type = f"demo/{row.file_name}", target.suffix[1:]
    record.extra = {"measured": as_json(measured), **row.hints(names)}
    record.licence = row.licence or record.licence
    set_measured(record, measured, target=record.extra.get("target"))
    return record


def without_quoted_names(table: Path) -> None:
    """Take single quotes off the column names of a text table: its own documentation has none."""
    if table.suffix == ".csv":
        header, newline, rows = table.read_bytes().partition(b"\n")
        table.write_bytes(re.sub(rb"'([^'\t,]*)'", rb"\1", header) + newline + rows)


def set_measured(record: Record, measured: Profile, *, target: str | None) -> None:
    """Rows, features and missing share as measured; a known target is not a feature."""
    share = measured.missing_values_percentage
    without = f", without the target {target}" if target else ""
    record.put("instances_number", measured.rows, f"{MEASURED}: rows")
    record.put("features_number", measured.columns - bool(target), f"{MEASURED}: columns{without}")
    record.put("missing_values_percentage", share, f"{MEASURED}: missing cells of all cells")
    record.put("has_missing_values", bool(share), f"{MEASURED}: missing cells")
    record.put("is_split", False, "one undivided file")
    if dates := [column.name for column in measured.column_profiles if column.type == "date"]:
        record.put("has_temporal_factors", True, f"{MEASURED}: date column {dates[0]}")


def as_json(measured: Profile) -> dict[str, Any]:
    """The profile as it is stored, numbers cut to twelve significant digits."""
    return {k: rounded(v) for k, v in msgspec.to_builtins(measured).items()}


def rounded(value: Any) -> Any:
    """The value with every float cut to twelve significant digits, the same on every machine."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


def shorten(records: list[Record]) -> None:
    """Objectives as short plain texts, without the sentences that many records of one source share."""
    parts = {id(record): sentences(record.values.get("objective")) for record in records}
    shared = Counter((record.source, part) for record in records for part in set(parts[id(record)]))
    for record in records:
        keep_all = record.source in CURATED
        own = [part for part in parts[id(record)] if keep_all or shared[record.source, part] < BOILERPLATE]
        record.put("objective", short(own), record.evidence.get("objective", ""))


def without_duplicates(records: Iterable[Record]) -> list[Record]:
    """One record a dataset: those with a table first, then the better documented."""
    seen: set[str] = set()
    kept = []
    for record in sorted(records, key=lambda r: (not r.file_path.startswith("demo/"), -len(r.values), r.source, r.key)):
        keys = {key_of(name) for name in (record.name, *record.aliases)} - {""}
        if seen.isdisjoint(keys):
            kept.append(record)
            seen |= keys
    return kept


def finished(record: Record) -> dict[str, Any]:
    """The record in the shape of the catalog; attributes without a value are left out."""
    objective = record.values.get("objective")
    evidence = {name: graded(record.evidence[name]) for name in record.values}
    order = [attribute.name for attribute in ATTRIBUTES if attribute.name in record.values]
    return {
        "dataset_id": record.dataset_id,
        "name": record.name,
        "description": objective or "",
        "file_path": record.file_path,
        "file_type": record.file_type,
        **{name: record.values[name] for name in order},
        "metadata": {
            "tags": sorted(set(record.tags)),
            "evidence": {name: evidence[name] for name in order},
            "source": {"name": record.source, "key": record.key} | ({"url": record.url} if record.url else {}),
            "licence": [text for text in record.licence if text.casefold() not in NO_LICENCE],
            **record.extra,
        },
    }


def graded(evidence: str) -> str:
    """The evidence with its grade spelled out."""
    prefix = evidence[:3]
    return GRADES[prefix] + evidence[3:] if prefix in GRADES else evidence


if __name__ == "__main__":
    main()
