"""Loading the demo catalog into a database whose catalog has never been written."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from touchstone.core.attributes import ATTRIBUTES
from touchstone.database import versions
from touchstone.database.engine import Database
from touchstone.demo import records
from touchstone.services.selection import store
from touchstone.services.selection.files.measurement import FILLED, told

_OWN_FIELDS: Final = ("description", "file_path", "file_type", "metadata")
_MEASURED: Final = "measured in the file"


async def load_demo(database: Database) -> int:
    """Put the demo records in, all or none; how many. 0 when the catalog has had anything in it before."""
    async with database.reading() as reader:
        if await versions.current(reader, versions.CATALOG):
            return 0
    async with database.writing() as rows:
        # The counter is locked from here on: of several processes that start at once, one loads.
        if await versions.bump(rows, versions.CATALOG) != 1:
            return 0
        many = list(_values())
        await store.insert_datasets(rows, many)
    return len(many)


def _values() -> Iterator[dict[str, Any]]:
    now = datetime.now(UTC)
    stored = {"owner": None, "visibility": "public", "created_at": now, "updated_at": now, "changed_at_version": 1}
    for record in records():
        values = {name: record[name] for name in (*_OWN_FIELDS, *(a.name for a in ATTRIBUTES))}
        measured = _measured(record)
        identity = {"dataset_id": UUID(record["dataset_id"]), "measured_attributes": measured or None}
        yield {**values, **identity, **stored, "metadata": told(record["metadata"], measured)}


def _measured(record: Mapping[str, Any]) -> list[str]:
    """The attributes that nobody declared: their evidence is the measured file."""
    evidence = record["metadata"].get("evidence", {})
    return [name for name in FILLED if _MEASURED in str(evidence.get(name, ""))]
