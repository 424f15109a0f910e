"""What the other backends learn about a record: its file, and what a description of a trained model says about it."""

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
    """Return the source of a record given as JSON: its file, and what its metadata suggests for a training.

    Metadata is free-form, so a target or a sensitive column that is not a text is ignored. `stored_record` is the same
    record as it is stored, with the evidence about its attributes, and `claims` are those about it.
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
        "levels": _levels(stored_record),
        "purposes": _documented_purposes(claims),
        "record": record,
    }


def _levels(record: DatasetRecord) -> dict[str, EvidenceLevel]:
    """Return how well each known flag and number of a record is supported."""
    evidence_by_attribute = record.attribute_evidence or {}

    levels = {}
    for name in CLAIMED_ATTRIBUTES:
        if record.attributes[name] is not None:
            evidence = evidence_by_attribute.get(name)
            levels[name] = evidence.level if evidence else EvidenceLevel.DECLARED
    return levels


def _documented_purposes(claims: Iterable[ClaimRecord]) -> list[dict[str, Any]]:
    """Return what documents say about the purposes of a dataset, in their own words, the newest claim first."""
    now = datetime.now(UTC)
    level_by_quote = {
        claim.quote: claim.effective_level
        for claim in claims
        if claim.attribute == PURPOSE and claim.value is True and claim.quote and claim.is_counted(now)
    }
    purposes = [{"quote": quote, "level": level} for quote, level in level_by_quote.items()]
    return purposes[:MAX_PURPOSES]
