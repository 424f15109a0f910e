"""Measuring a record's data file, and what of it becomes an attribute. Measuring never makes a creation fail."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, Final
from uuid import UUID

import msgspec

from touchstone.core.errors import DataFileUnreadable
from touchstone.core.settings import Settings
from touchstone.datafiles.profiler import Limits, ProfilingError, profile
from touchstone.services.selection.files.data_files import DataFiles

AT_ONCE: Final = 2
MAX_COLUMNS: Final = 1000  # of the columns' descriptions that are kept; the number of columns is always the true one
# Attribute <- measurement: what is filled in where nobody has declared it.
FILLED: Final[Mapping[str, str]] = {
    "instances_number": "rows",
    "features_number": "columns",
    "missing_values_percentage": "missing_values_percentage",
}


class Measuring:
    """Measures data files, a few at once."""

    def __init__(self, settings: Settings, data_files: DataFiles) -> None:
        self._files = data_files
        self._seconds = settings.profile_seconds
        self._limits = Limits(
            memory_bytes=settings.profile_memory_bytes,
            cpu_seconds=max(1, round(settings.profile_seconds)),
            wall_seconds=settings.profile_seconds,
        )
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def measured(self, file_path: str, file_type: str, owner: UUID | None) -> dict[str, Any]:
        """What `metadata` says about the file: `measured`, or `unmeasured` (why not), or nothing for no such file."""
        try:
            file = await self._files.open(file_path, owner)
        except DataFileUnreadable:
            return {}
        with file:
            try:
                async with asyncio.timeout(self._seconds), self._slots:
                    found = await profile(file, file_type.strip().lower(), limits=self._limits)
            except ProfilingError as problem:
                return {"unmeasured": str(problem.reason)}
            except (TimeoutError, OSError):
                return {"unmeasured": "too_slow"}
        measured: dict[str, Any] = msgspec.to_builtins(found)
        measured["column_profiles"] = measured["column_profiles"][:MAX_COLUMNS]
        return {"measured": measured}


def told(metadata: Mapping[str, Any], attributes: Iterable[str]) -> dict[str, Any]:
    """What `metadata` says about the file, with the attributes that it has filled in: nobody has declared those."""
    if "measured" not in metadata:
        return dict(metadata)
    return {**metadata, "measured": {**metadata["measured"], "filled": sorted(attributes)}}


def filled(declared: Mapping[str, Any], metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The undeclared attributes that a measurement knows, with its values.

    A feature is a column to learn from: a column that the record declares as its target is not counted among them.
    """
    measured = dict(metadata.get("measured") or {})
    target = (declared.get("metadata") or {}).get("target")
    if any(column["name"] == target for column in measured.get("column_profiles") or ()):
        measured["columns"] -= 1
    return {
        attribute: measured[source]
        for attribute, source in FILLED.items()
        if declared.get(attribute) is None and measured.get(source) is not None
    }
