"""Export of a record as a document in a metadata standard."""

from hashlib import blake2b
from typing import Final

import msgspec

from touchstone.metadata.documents import Scope
from touchstone.metadata.exported_dataset import ClaimSource, ExportedClaim, ExportedDataset
from touchstone.metadata.writers.formats import FORMATS, ExportedFile
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.evidence.claim_editor import RecordEvidence
from touchstone.services.selection.evidence.claim_records import ClaimRecord, ClaimStatus
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType

DEFAULT_FORMAT: Final = "croissant"
FORMAT: Final = Parameter(
    name="format",
    type=ParameterType.CHOICE,
    choices=tuple(FORMATS),
    default=DEFAULT_FORMAT,
    description="; ".join(f"`{export_format.key}`: {export_format.title}" for export_format in FORMATS.values()) + ".",
)
EXPORT_PARAMETERS: Final = ParameterTable(FORMAT)


def exported_dataset(evidence: RecordEvidence) -> ExportedDataset:
    """Convert a record and its active claims to the input of the writers of metadata standards."""
    record = evidence.record
    claims = (_exported_claim(claim, evidence) for claim in evidence.claims if claim.status is ClaimStatus.ACTIVE)
    return ExportedDataset.from_record(_record_values(record), claims)


def _record_values(record: DatasetRecord) -> dict[str, object]:
    """Return the values of a record by their names in the API."""
    return {
        "dataset_id": record.dataset_id,
        "description": record.description,
        "file_path": record.file_path,
        "file_type": record.file_type,
        "visibility": "public" if record.is_public else "private",
        "metadata": record.metadata,
        **record.attributes,
    }


def _exported_claim(claim: ClaimRecord, evidence: RecordEvidence) -> ExportedClaim:
    """Convert a claim for the export, without identifiers that are only valid in this catalog.

    The author is identified by the name in `evidence`.
    """
    scope = None if claim.scope is None else Scope(claim.scope)
    source = None if claim.source is None else msgspec.convert(msgspec.to_builtins(claim.source), ClaimSource)
    author_name = None if claim.author is None else evidence.pseudos.get(claim.author)

    return ExportedClaim(
        attribute=claim.attribute,
        value=claim.value,
        level=claim.effective_level,
        not_applicable=claim.is_not_applicable,
        scope=scope,
        quote=claim.quote or "",
        place=claim.place or "",
        field=claim.field,
        standard=claim.standard,
        note=claim.note or "",
        source=source,
        by=author_name,
        at=claim.created_at,
        until=claim.until,
    )


def entity_tag(file: ExportedFile) -> str:
    """Return the strong entity tag of an exported file, which is a digest of its content."""
    return f'"{blake2b(file.content, digest_size=16).hexdigest()}"'
