"""Copying and profiling of the tables of the demo catalog."""

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
    """Copy the tables to the package, and attach them to entries. Missing entries are created.

    Args:
        entries: the entries of the catalog, which is changed in place.
        tables: the tables to attach.
        collected_folder: the folder of the collected tables.
        packaged_folder: the folder of the tables in the package.
    """
    entries_by_key = {(entry.source_key, entry.key): entry for entry in entries}
    for table in tables:
        entry = entries_by_key.get((table.source, table.key))
        if entry is None:
            entry = table.create_entry()
            entries.append(entry)
        attach_table(entry, table, collected_folder, packaged_folder)


def attach_table(entry: CatalogEntry, table: DemoTable, collected_folder: Path, packaged_folder: Path) -> None:
    """Copy a table to the package, and add its file, profile and training suggestions to the entry."""
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
    """Remove single quotes around column names in a CSV file, to match the documentation of these tables."""
    if table.suffix != ".csv":
        return

    header, newline, rows = table.read_bytes().partition(b"\n")
    unquoted_header = re.sub(rb"'([^'\t,]*)'", rb"\1", header)
    table.write_bytes(unquoted_header + newline + rows)


def measured_values(profile: FileProfile, target_column: str | None) -> dict[str, ClaimValue]:
    """Return the flags and numbers from the profile of a table. A known target column is not a feature."""
    missing_percentage = round_significant(profile.missing_values_percentage)
    return {
        "instances_number": profile.rows,
        "features_number": profile.columns - (target_column is not None),
        "missing_values_percentage": missing_percentage,
        "has_missing_values": bool(missing_percentage),
    }


def profile_as_json(profile: FileProfile) -> dict[str, Any]:
    """Convert a profile to JSON values with rounded numbers."""
    members: dict[str, Any] = round_floats(msgspec.to_builtins(profile))
    return members


def round_floats(value: Any) -> Any:
    """Round all floats in a JSON value to twelve significant digits, so that builds on all machines are equal."""
    if isinstance(value, float):
        return round_significant(value)
    if isinstance(value, dict):
        return {name: round_floats(member) for name, member in value.items()}
    if isinstance(value, list):
        return [round_floats(item) for item in value]
    return value


def round_significant(value: float | None) -> float | None:
    """Round a number to twelve significant digits. None stays None."""
    return None if value is None else float(f"{value:.12g}")
