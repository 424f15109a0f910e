"""The tables of the demo catalog: copied into the package, measured, and joined to their records."""

import asyncio
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from tools.demo_catalog.entries import CatalogEntry
from tools.demo_catalog.tables import DemoTable
from touchstone.core.evidence import ClaimValue
from touchstone.datafiles.file_profile import FileProfile
from touchstone.datafiles.profiler import profile_file
from touchstone.metadata.licences import normalize_licence


def attach_tables(
    entries: list[CatalogEntry], tables: Iterable[DemoTable], collected_folder: Path, packaged_folder: Path
) -> None:
    """Copy the tables into the package and attach each to its entry; add an entry for one whose source has none."""
    entries_by_key = {(entry.source_key, entry.key): entry for entry in entries}
    for table in tables:
        entry = entries_by_key.get((table.source, table.key))
        if entry is None:
            entry = table.make_entry()
            entries.append(entry)
        attach_table(entry, table, collected_folder, packaged_folder)


def attach_table(entry: CatalogEntry, table: DemoTable, collected_folder: Path, packaged_folder: Path) -> None:
    """Copy a table into the package, and add to its entry the file, what was measured and suggestions for training."""
    packaged_file = packaged_folder / table.file_name
    packaged_file.parent.mkdir(exist_ok=True)
    shutil.copyfile(collected_folder / table.path, packaged_file)
    remove_quotes_from_header(packaged_file)

    file_type = packaged_file.suffix.removeprefix(".")
    with packaged_file.open("rb") as file:
        profile = asyncio.run(profile_file(file, file_type))

    entry.file_path = f"demo/{table.file_name}"
    entry.file_type = file_type
    suggestions = table.training_suggestions([column.name for column in profile.column_profiles])
    entry.details |= {"measured": profile_as_json(profile), **suggestions}
    if table.licence:
        licence = normalize_licence(table.licence)
        entry.details |= {"licence": licence.spdx or licence.text, "licence_text": licence.text}
    entry.measured = measured_values(profile, suggestions.get("target"))
    entry.facts["is_split"] = False


def remove_quotes_from_header(table: Path) -> None:
    """Remove the single quotes around column names in a CSV file: the documentation of these tables has none."""
    if table.suffix != ".csv":
        return

    header, newline, rows = table.read_bytes().partition(b"\n")
    unquoted_header = re.sub(rb"'([^'\t,]*)'", rb"\1", header)
    table.write_bytes(unquoted_header + newline + rows)


def measured_values(profile: FileProfile, target_column: str | None) -> dict[str, ClaimValue]:
    """Return what a table shows; a known target column is not a feature."""
    missing_percentage = rounded(profile.missing_values_percentage)
    return {
        "instances_number": profile.rows,
        "features_number": profile.columns - (target_column is not None),
        "missing_values_percentage": missing_percentage,
        "has_missing_values": bool(missing_percentage),
    }


def profile_as_json(profile: FileProfile) -> dict[str, Any]:
    """Return the profile as the catalog stores it."""
    members: dict[str, Any] = round_floats(msgspec.to_builtins(profile))
    return members


def round_floats(value: Any) -> Any:
    """Return a JSON value with every number cut to twelve significant digits, which are the same on every machine."""
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, dict):
        return {name: round_floats(member) for name, member in value.items()}
    if isinstance(value, list):
        return [round_floats(item) for item in value]
    return value


def rounded(value: float | None) -> float | None:
    """Return a number cut to twelve significant digits."""
    return None if value is None else float(f"{value:.12g}")
