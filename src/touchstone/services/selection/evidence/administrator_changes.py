"""Stores the changes that an administrator makes to another user's record as claims of the administrator.

Nobody may confirm their own claims. If the changes became declarations of the record's creator, the administrator could
confirm values that they entered themselves.
"""

from collections.abc import Collection
from uuid import UUID

from msgspec.structs import replace

from touchstone.core.evidence import CLAIMED_ATTRIBUTES
from touchstone.database.engine import Writer
from touchstone.services.selection.datasets.dataset_record import DatasetRecord, Draft
from touchstone.services.selection.evidence.claim_records import ClaimDraft, ClaimStatus
from touchstone.services.selection.evidence.declarations import declarations_outside_ledger
from touchstone.services.selection.evidence.record_claims import RecordClaims, is_same_value, new_claim, withdrawn


async def store_administrator_changes(
    transaction: Writer, claims: RecordClaims, before: DatasetRecord, draft: Draft, administrator: UUID
) -> Draft:
    """Store the values that an administrator has entered as claims, instead of declarations in the record.

    A declaration of another value by the creator is withdrawn, and recorded in the ledger as withdrawn.

    Args:
        transaction: the transaction that changes the record.
        claims: the claims about the record, which are updated.
        before: the record before the change.
        draft: the record after the change.
        administrator: the user who makes the change, and the author of the new claims.

    Returns:
        the draft without declarations of the changed attributes.
    """
    changed_values = {
        name: draft.declared_value(name)
        for name in CLAIMED_ATTRIBUTES
        if not is_same_value(draft.declared_value(name), before.declared_value(name))
    }
    await _withdraw_declarations(transaction, claims, before, changed_values)

    for attribute, value in changed_values.items():
        if value is not None:
            claim_draft = ClaimDraft(attribute=attribute, value=value, author=administrator)
            await _insert_or_activate(transaction, claims, claim_draft)

    # The claims state these values, so they must not be declarations in the record as well.
    cleared_attributes = dict.fromkeys(changed_values)
    return replace(draft, attributes={**draft.attributes, **cleared_attributes})


async def _withdraw_declarations(
    transaction: Writer, claims: RecordClaims, record: DatasetRecord, attributes: Collection[str]
) -> None:
    """Store the creator's declarations of the given attributes as withdrawn claims."""
    withdrawn_declarations = [
        withdrawn(declaration, claims.now)
        for declaration in declarations_outside_ledger(record, claims.newest_first)
        if declaration.attribute in attributes
    ]
    await claims.insert(transaction, withdrawn_declarations)


async def _insert_or_activate(transaction: Writer, claims: RecordClaims, draft: ClaimDraft) -> None:
    """Insert an active claim, or activate the author's equal proposal if there is one."""
    equal_claim = claims.find_equal_open_claim(draft)
    if equal_claim is None:
        await claims.insert(transaction, [new_claim(draft, claims.dataset_id, claims.now)])
    elif equal_claim.status is ClaimStatus.PROPOSED:
        await claims.update(transaction, replace(equal_claim, status=ClaimStatus.ACTIVE))
