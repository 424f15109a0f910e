"""The information about a record that other backends need to train and describe models."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from touchstone.core.evidence import CLAIMED_ATTRIBUTES, EvidenceLevel
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.label_words import licence_words
from touchstone.services.selection.evidence.claim_records import ClaimRecord

PURPOSE: Final = "purpose_limitation_respected"
MAX_PURPOSES: Final = 3


def source_json(record: dict[str, Any], stored_record: DatasetRecord, claims: Iterable[ClaimRecord]) -> dict[str, Any]:
    """Return the data file of a record, and the information that is needed to train and describe models.

    Metadata is free-form, so a target or a sensitive column that is not a string is ignored.

    Args:
        record: the record as the JSON object that clients receive.
        stored_record: the same record as stored, with the evidence about its attributes.
        claims: the claims about the record.
    """
    metadata = record["metadata"] or {}

    target = metadata.get("target")
    if not isinstance(target, str):
        target = None

    sensitive_columns = metadata.get("sensitive_columns")
    if not isinstance(sensitive_columns, list):
        sensitive_columns = []

    return {
        "dataset_id": record["id"],
        "uuid": record["dataset_id"],
        "name": record["name"],
        "file_path": record["file_path"],
        "file_type": record["file_type"],
        "target": target,
        "sensitive_columns": [column for column in sensitive_columns if isinstance(column, str)],
        "licenses": licence_words(stored_record.labels.licence),
        "levels": _evidence_levels(stored_record),
        "purposes": _documented_purposes(claims),
        "record": record,
    }


def _evidence_levels(record: DatasetRecord) -> dict[str, EvidenceLevel]:
    """Return the level of evidence for each known flag and number of a record."""
    evidence_by_attribute = record.attribute_evidence or {}

    levels = {}
    for name in CLAIMED_ATTRIBUTES:
        if record.attributes[name] is not None:
            evidence = evidence_by_attribute.get(name)
            levels[name] = evidence.level if evidence else EvidenceLevel.DECLARED
    return levels


def _documented_purposes(claims: Iterable[ClaimRecord]) -> list[dict[str, Any]]:
    """Return at most `MAX_PURPOSES` quotes from documents about the purposes of a dataset, newest first."""
    now = datetime.now(UTC)
    level_by_quote = {
        claim.quote: claim.effective_level
        for claim in claims
        if claim.attribute == PURPOSE and claim.value is True and claim.quote and claim.is_effective(now)
    }
    purposes = [{"quote": quote, "level": level} for quote, level in level_by_quote.items()]
    return purposes[:MAX_PURPOSES]
