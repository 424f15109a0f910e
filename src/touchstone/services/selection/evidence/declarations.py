"""Declarations: the values that the creator of a record merely declares, presented as claims.

They are not rows of the ledger but part of the record. A declaration becomes a row when it is reviewed or withdrawn.
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

# How often the same value can be declared again after its declaration was rejected or withdrawn.
_MAX_REPETITIONS: Final = 100


def declarations(record: DatasetRecord, claims: Iterable[ClaimRecord]) -> list[ClaimRecord]:
    """Return the creator's declarations as claims, without those that are rows of the ledger already.

    `claims` are the claims about the record in the ledger.
    """
    claims_by_id = {claim.id: claim for claim in claims}
    presented: list[ClaimRecord] = []
    for attribute in CLAIMED_ATTRIBUTES:
        value = record.declared_value(attribute)
        if value is None:
            continue

        claim_id = _declaration_id(record, attribute, value, claims_by_id)
        if claim_id not in claims_by_id:
            presented.append(_declaration(record, attribute, value, claim_id))

    return presented


def is_declaration(record: DatasetRecord, claim: ClaimRecord) -> bool:
    """Return whether a claim is the declaration in the row of a record, whether or not it is in the ledger already."""
    value = record.declared_value(claim.attribute)
    if value is None:
        return False
    return _declares(record, claim, value)


def rejected_attributes(
    record: DatasetRecord, claims: Iterable[ClaimRecord], values: Mapping[str, AttributeValue]
) -> list[str]:
    """Return the attributes that a record no longer declares because a curator has rejected these very values.

    `claims` are rejected claims about the record, and `values` are what its creator declares once more, by attribute.
    What the creator has declared anew since the rejection is not returned.
    """
    return [
        claim.attribute
        for claim in claims
        if claim.value is not None
        and is_same_value(claim.value, values[claim.attribute])
        and record.declared_value(claim.attribute) is None
        and _declares(record, claim, claim.value)
    ]


def without_declaration(draft: Draft, attribute: str) -> Draft:
    """Return a record whose creator does not declare an attribute; its claims have to be resolved afterwards."""
    evidence = dict(draft.attribute_evidence or {})
    if attribute not in evidence:
        return replace(draft, attributes={**draft.attributes, attribute: None})

    evidence[attribute] = replace(evidence[attribute], declared=None)
    return replace(draft, attribute_evidence=evidence)


def _declaration(record: DatasetRecord, attribute: str, value: ClaimValue, claim_id: UUID) -> ClaimRecord:
    """Return a declaration as a claim."""
    return ClaimRecord(
        id=claim_id,
        dataset_id=record.id,
        attribute=attribute,
        value=value,
        author=record.owner,
        created_at=(record.declared_at or {}).get(attribute, record.created_at),
    )


def _declares(record: DatasetRecord, claim: ClaimRecord, value: ClaimValue) -> bool:
    """Return whether a claim is a declaration of this value in the row of a record, now or earlier."""
    return claim.id in (_numbered_id(record, claim.attribute, value, number) for number in range(_MAX_REPETITIONS))


def _declaration_id(
    record: DatasetRecord, attribute: str, value: ClaimValue, claims_by_id: Mapping[UUID, ClaimRecord]
) -> UUID:
    """Return the id of a declaration, which is the same until the value changes.

    If the same value was declared before and that declaration was rejected or withdrawn, this one has another id.
    """
    for number in range(_MAX_REPETITIONS):
        claim_id = _numbered_id(record, attribute, value, number)
        earlier = claims_by_id.get(claim_id)
        if earlier is None or earlier.status in OPEN_STATUSES:
            break

    return claim_id


def _numbered_id(record: DatasetRecord, attribute: str, value: ClaimValue, number: int) -> UUID:
    """Return the id of the declaration of a value, given how often the same declaration was closed before."""
    return uuid5(record.dataset_id, f"{attribute}={msgspec.json.encode(value).decode()}#{number}")
