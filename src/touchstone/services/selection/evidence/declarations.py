"""Conversion of a creator's declarations to claims.

Declarations are stored in the record rather than in the ledger. A declaration is inserted into the ledger when it is
reviewed or withdrawn.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID, uuid5

import msgspec
from msgspec.structs import replace

from touchstone.core.evidence import CLAIMED_ATTRIBUTES, ClaimValue
from touchstone.services.selection.datasets.dataset_record import AttributeValue, DatasetRecord, Draft
from touchstone.services.selection.evidence.claim_records import OPEN_STATUSES, ClaimRecord
from touchstone.services.selection.evidence.record_claims import is_same_value

# The maximum number of times that a value can be declared again after a rejection or withdrawal.
_MAX_REPETITIONS: Final = 100


def declarations_outside_ledger(record: DatasetRecord, ledger_claims: Iterable[ClaimRecord]) -> list[ClaimRecord]:
    """Return the creator's declarations as claims, except those that are already in the ledger.

    Args:
        record: the record with the declarations.
        ledger_claims: the claims about the record in the ledger.
    """
    ledger_claims_by_id = {claim.id: claim for claim in ledger_claims}
    declarations: list[ClaimRecord] = []
    for attribute in CLAIMED_ATTRIBUTES:
        value = record.declared_value(attribute)
        if value is None:
            continue

        claim_id = _declaration_id(record, attribute, value, ledger_claims_by_id)
        if claim_id not in ledger_claims_by_id:
            declarations.append(_to_claim(record, attribute, value, claim_id))

    return declarations


def is_declaration(record: DatasetRecord, claim: ClaimRecord) -> bool:
    """Return whether a claim is the current declaration of its attribute in the record."""
    value = record.declared_value(claim.attribute)
    if value is None:
        return False
    return _is_declaration_of(record, claim, value)


def rejected_attributes(
    record: DatasetRecord, claims: Iterable[ClaimRecord], values: Mapping[str, AttributeValue]
) -> list[str]:
    """Return the attributes whose submitted values have been rejected as declarations before.

    Attributes that the creator has declared again since the rejection are left out.

    Args:
        record: the record.
        claims: the rejected claims about the record.
        values: the values that the creator submits, by attribute.
    """
    return [
        claim.attribute
        for claim in claims
        if claim.value is not None
        and is_same_value(claim.value, values[claim.attribute])
        and record.declared_value(claim.attribute) is None
        and _is_declaration_of(record, claim, claim.value)
    ]


def without_declaration(draft: Draft, attribute: str) -> Draft:
    """Return a copy of a record without the declaration of an attribute.

    The caller has to resolve the claims about the record afterwards.
    """
    evidence = dict(draft.attribute_evidence or {})
    if attribute not in evidence:
        return replace(draft, attributes={**draft.attributes, attribute: None})

    evidence[attribute] = replace(evidence[attribute], declared=None)
    return replace(draft, attribute_evidence=evidence)


def _to_claim(record: DatasetRecord, attribute: str, value: ClaimValue, claim_id: UUID) -> ClaimRecord:
    """Convert a declaration to a claim."""
    return ClaimRecord(
        id=claim_id,
        dataset_id=record.id,
        attribute=attribute,
        value=value,
        author=record.owner,
        created_at=(record.declared_at or {}).get(attribute, record.created_at),
    )


def _is_declaration_of(record: DatasetRecord, claim: ClaimRecord, value: ClaimValue) -> bool:
    """Return whether a claim is a current or earlier declaration of this value by the record's creator."""
    return any(claim.id == _numbered_id(record, claim.attribute, value, number) for number in range(_MAX_REPETITIONS))


def _declaration_id(
    record: DatasetRecord, attribute: str, value: ClaimValue, ledger_claims_by_id: Mapping[UUID, ClaimRecord]
) -> UUID:
    """Return the id of a declaration, which stays the same until the value changes.

    A value that is declared again after a rejection or withdrawal gets a new id.
    """
    for number in range(_MAX_REPETITIONS):
        claim_id = _numbered_id(record, attribute, value, number)
        ledger_claim = ledger_claims_by_id.get(claim_id)
        if ledger_claim is None or ledger_claim.status in OPEN_STATUSES:
            break

    return claim_id


def _numbered_id(record: DatasetRecord, attribute: str, value: ClaimValue, number: int) -> UUID:
    """Return the id of the declaration of a value that was already declared and closed `number` times."""
    return uuid5(record.dataset_id, f"{attribute}={msgspec.json.encode(value).decode()}#{number}")
