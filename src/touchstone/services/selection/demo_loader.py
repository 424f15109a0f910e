"""Loads the demo records into a catalog that has never been written."""

from datetime import UTC, datetime
from uuid import UUID

from touchstone.core.evidence import ClaimValue, EvidenceLevel
from touchstone.database import change_counters
from touchstone.database.engine import Database
from touchstone.demo.packaged_records import PackagedRecord, PackagedSource, read_records
from touchstone.services.selection.datasets.dataset_record import ATTRIBUTE_NAMES, DatasetDraft
from touchstone.services.selection.evidence.claim_records import ClaimDraft, ClaimSource
from touchstone.services.selection.evidence.ledger import insert_records
from touchstone.services.selection.evidence.record_claims import draft_measured_claims
from touchstone.services.selection.files.measurement import Measurement


async def load_demo(database: Database) -> int:
    """Insert the demo records into a new catalog, and return the number of inserted records.

    A catalog that has ever contained a record is not changed, even if it is empty now.
    """
    async with database.reading() as connection:
        version = await change_counters.read_version(connection, change_counters.CATALOG)
    if version > 0:
        return 0

    async with database.writing() as transaction:
        # Incrementing locks the version. If several processes start at once, only one of them loads the records.
        version = await change_counters.increment_version(transaction, change_counters.CATALOG)
        if version != 1:
            return 0

        now = datetime.now(UTC)
        records = [(_to_draft(record, now), _create_claims(record)) for record in read_records()]
        await insert_records(transaction, records, version)

    return len(records)


def _create_claims(record: PackagedRecord) -> list[ClaimDraft]:
    """Return the documented and the measured claims about a demo record."""
    documented = [
        ClaimDraft(
            attribute=claim.attribute,
            value=claim.value,
            level=EvidenceLevel.DOCUMENTED,
            scope=claim.scope,
            quote=claim.quote,
            place=claim.place or None,
            source=_claim_source(record.sources[claim.source]),
            standard=record.sources[claim.source].kind,
            field=claim.field,
            note=claim.note or None,
        )
        for claim in record.claims
    ]
    return [*documented, *draft_measured_claims(_measured_values(record))]


def _claim_source(source: PackagedSource) -> ClaimSource:
    """Convert the source document of a demo record."""
    return ClaimSource(kind=source.kind, name=source.name, url=source.url, sha256=source.sha256)


def _measured_values(record: PackagedRecord) -> dict[str, ClaimValue]:
    """Return the values measured in the table of a demo record, or an empty dictionary if it has no table."""
    return Measurement.from_metadata(record.metadata).attribute_values(record.metadata.get("target"))


def _to_draft(record: PackagedRecord, now: datetime) -> DatasetDraft:
    """Convert a demo record to a public dataset without an owner.

    Attributes with claims are not declared, because the claims determine their values.
    """
    documented_names = {claim.attribute for claim in record.claims}
    claimed_names = documented_names | _measured_values(record).keys()
    declared_attributes = {name: None if name in claimed_names else record.attributes[name] for name in ATTRIBUTE_NAMES}

    return DatasetDraft(
        dataset_id=UUID(record.dataset_id),
        owner=None,
        visibility="public",
        description=record.description,
        file_path=record.file_path,
        file_type=record.file_type,
        attributes=declared_attributes,
        metadata=record.metadata,
        measured_attributes=None,
        created_at=now,
        updated_at=now,
    )
