"""The state of each attribute of a record according to all claims about it, as the page of the record shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from touchstone.core.evidence import CLAIMED_ATTRIBUTES, Assurance, ClaimValue, EvidenceLevel
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.evidence.claim_records import ClaimRecord
from touchstone.services.selection.evidence.resolution import is_declared_by_creator, resolve_attribute


class AttributeState(NamedTuple):
    """The state of one attribute according to all claims about it.

    Attributes:
        value: the value that the record shows.
        is_not_applicable: whether the value is None because the attribute does not apply to the dataset.
        level: the level of evidence for the value, or None if there is no claim.
        declared: the value that the creator of the record declares.
        documented: the value at the assurance `documented`.
        reviewed: the value at the assurance `reviewed`.
        is_conflicting: whether effective claims state different values.
    """

    value: ClaimValue
    is_not_applicable: bool
    level: EvidenceLevel | None
    declared: ClaimValue
    documented: ClaimValue
    reviewed: ClaimValue
    is_conflicting: bool

    def value_at(self, assurance: Assurance) -> ClaimValue:
        """Return the value at an assurance, or None if no claim counts at this assurance."""
        if assurance is Assurance.DECLARED:
            return self.value
        return self.documented if assurance is Assurance.DOCUMENTED else self.reviewed


def attribute_states(record: DatasetRecord, claims: Sequence[ClaimRecord], now: datetime) -> dict[str, AttributeState]:
    """Return the state of every attribute that supports claims, by name.

    Args:
        record: the record, which contains the declarations of its creator.
        claims: the claims about the record in the ledger.
        now: the current time. Claims that have expired by then are ignored.
    """
    return {name: _attribute_state(name, record, claims, now) for name in CLAIMED_ATTRIBUTES}


def _attribute_state(
    attribute: str, record: DatasetRecord, claims: Sequence[ClaimRecord], now: datetime
) -> AttributeState:
    """Return the state of one attribute, ignoring claims that are closed or expired at `now`."""
    effective_claims = [claim for claim in claims if claim.attribute == attribute and claim.is_effective(now)]
    declared_value = record.declared_value(attribute)
    resolution = resolve_attribute(attribute, declared_value, effective_claims, record.owner, now)
    evidence = resolution.evidence

    stated_values = {claim.value for claim in effective_claims}
    if declared_value is not None:
        stated_values.add(declared_value)

    level = None if declared_value is None else EvidenceLevel.DECLARED
    if evidence is not None:
        level = evidence.level

    return AttributeState(
        value=resolution.shown_value,
        is_not_applicable=resolution.is_not_applicable,
        level=level,
        declared=_value_declared_by_creator(declared_value, effective_claims, record.owner),
        documented=evidence.documented if evidence else None,
        reviewed=evidence.reviewed if evidence else None,
        is_conflicting=len(stated_values) > 1,
    )


def _value_declared_by_creator(
    declared_value: ClaimValue, claims: Sequence[ClaimRecord], owner: UUID | None
) -> ClaimValue:
    """Return the value that the creator of a record declares for an attribute, or None if there is none.

    Args:
        declared_value: the declaration in the row of the record, which is older than every claim.
        claims: the effective claims about the attribute.
        owner: the creator of the record.
    """
    declarations = [claim for claim in claims if is_declared_by_creator(claim, owner)]
    if not declarations:
        return declared_value
    return max(declarations, key=lambda claim: claim.created_at).value
