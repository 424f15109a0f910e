"""Loading of the demo records into a catalog that has never been written."""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from touchstone import demo
from touchstone.database import versions
from touchstone.database.engine import Database
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.store import ATTRIBUTE_NAMES, DatasetDraft
from touchstone.services.selection.files.measurement import MEASURED_ATTRIBUTES, Measurement

# How the evidence of an attribute says that nobody declared it.
_MEASURED_EVIDENCE: Final = "measured in the file"


async def load_demo(database: Database) -> int:
    """Insert all demo records and return their number, or 0 if the catalog has ever contained a record."""
    async with database.reading() as reader:
        if await versions.read_version(reader, versions.CATALOG):
            return 0

    async with database.writing() as rows:
        # Incrementing the version locks it: of several processes that start at once, only one loads the records.
        version = await versions.increment_version(rows, versions.CATALOG)
        if version != 1:
            return 0

        now = datetime.now(UTC)
        drafts = [_to_draft(record, now) for record in demo.records()]
        await store.insert_datasets(rows, drafts, version)
    return len(drafts)


def _to_draft(record: dict[str, Any], now: datetime) -> DatasetDraft:
    metadata = record["metadata"]
    evidence = metadata.get("evidence", {})
    measured = [name for name in MEASURED_ATTRIBUTES if _MEASURED_EVIDENCE in str(evidence.get(name, ""))]

    return DatasetDraft(
        dataset_id=UUID(record["dataset_id"]),
        owner=None,
        visibility="public",
        description=record["description"],
        file_path=record["file_path"],
        file_type=record["file_type"],
        attributes={name: record[name] for name in ATTRIBUTE_NAMES},
        metadata={**metadata, **Measurement.from_metadata(metadata).to_metadata(measured)},
        measured_attributes=measured or None,
        created_at=now,
        updated_at=now,
    )
