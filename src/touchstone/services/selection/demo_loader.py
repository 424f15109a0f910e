"""Loading of the demo records into a catalog that has never been written."""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.demo.packaged_records import read_records
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.store import ATTRIBUTE_NAMES, DatasetDraft
from touchstone.services.selection.files.measurement import MEASURED_ATTRIBUTES, Measurement

# How the evidence of an attribute says that nobody declared it.
_MEASURED_EVIDENCE: Final = "measured in the file"


async def load_demo(database: Database) -> int:
    """Fill a new catalog with the demo records, and return how many were inserted.

    A catalog that has ever contained a record is left alone, even if it is empty now.
    """
    async with database.reading() as connection:
        version = await change_counters.read_version(connection, change_counters.CATALOG)
    if version > 0:
        return 0

    async with database.writing() as transaction:
        # Incrementing the version locks it, so that only one of several processes that start at once loads the records.
        version = await change_counters.increment_version(transaction, change_counters.CATALOG)
        if version != 1:
            return 0

        now = datetime.now(UTC)
        drafts = [_to_draft(record, now) for record in read_records()]
        await store.insert_datasets(transaction, drafts, version)

    return len(drafts)


def _to_draft(record: dict[str, Any], now: datetime) -> DatasetDraft:
    """Return a demo record as a public dataset without an owner.

    Attributes whose evidence says that they were measured are marked as measured, as if the service had done it.
    """
    metadata = record["metadata"]
    evidence = metadata.get("evidence", {})
    measured_attributes = [name for name in MEASURED_ATTRIBUTES if _MEASURED_EVIDENCE in str(evidence.get(name, ""))]
    measurement_metadata = Measurement.from_metadata(metadata).to_metadata(measured_attributes)

    return DatasetDraft(
        dataset_id=UUID(record["dataset_id"]),
        owner=None,
        visibility="public",
        description=record["description"],
        file_path=record["file_path"],
        file_type=record["file_type"],
        attributes={name: record[name] for name in ATTRIBUTE_NAMES},
        metadata={**metadata, **measurement_metadata},
        measured_attributes=measured_attributes or None,
        created_at=now,
        updated_at=now,
    )
