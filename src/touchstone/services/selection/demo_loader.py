"""Loading of the demo records into a catalog that has never been written."""

from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.demo.packaged_records import read_records
from touchstone.services.selection.datasets.store import ATTRIBUTE_NAMES, DatasetDraft
from touchstone.services.selection.evidence.ledger import insert_records
from touchstone.services.selection.evidence.record_claims import measured_claims
from touchstone.services.selection.evidence.records import ClaimDraft
from touchstone.services.selection.files.measurement import Measurement

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
        records = [(_to_draft(record, now), _measured_claims(record)) for record in read_records()]
        await insert_records(transaction, records, version)

    return len(records)


def _measured_claims(record: dict[str, Any]) -> list[ClaimDraft]:
    """Return claims for what was measured in the table of a demo record, as if the service had measured it."""
    metadata = record["metadata"]
    return measured_claims(Measurement.from_metadata(metadata).attribute_values(metadata.get("target")))


def _to_draft(record: dict[str, Any], now: datetime) -> DatasetDraft:
    """Return a demo record as a public dataset without an owner.

    Attributes whose evidence says that they were measured are not declared by anybody.
    """
    metadata = record["metadata"]
    declared_attributes = {name: record[name] for name in ATTRIBUTE_NAMES}
    for name, evidence in metadata.get("evidence", {}).items():
        if _MEASURED_EVIDENCE in str(evidence):
            declared_attributes[name] = None

    return DatasetDraft(
        dataset_id=UUID(record["dataset_id"]),
        owner=None,
        visibility="public",
        description=record["description"],
        file_path=record["file_path"],
        file_type=record["file_type"],
        attributes=declared_attributes,
        metadata=metadata,
        measured_attributes=None,
        created_at=now,
        updated_at=now,
    )
