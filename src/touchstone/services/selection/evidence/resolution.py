"""What conflicting claims about one attribute amount to; pure functions without a database.

Claims of the strongest level win: `reviewed` beats `measured`, which beats `documented`, which beats `declared`. Of
several claims of that level, a flag is false if one of them says so, and a number is the newest one.

There is one exception: what the creator of a record declares is what the record shows at the assurance `declared`,
whatever the data file says, and in the case of a number whatever anybody else says. From `documented` up, it counts
like any other declaration.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from touchstone.core.attributes import FLAGS
from touchstone.core.evidence import Assurance, AttributeEvidence, ClaimValue, EvidenceLevel
from touchstone.services.selection.evidence.claim_records import ClaimRecord

# The declaration in the row of a record has no date. It is older than every claim, because changing it withdraws the
# claims of the creator that say something else.
_BEFORE_ALL_CLAIMS: Final = datetime.min.replace(tzinfo=UTC)
# The order in which flags of one level win; None stands for "not applicable".
_FLAG_PRECEDENCE: Final[dict[ClaimValue, int]] = {None: 0, True: 1, False: 2}


class Statement(NamedTuple):
    """A claim that counts, reduced to what decides about it; a value of None stands for "not applicable".

    `is_creators` says whether the creator of the record declares it, in its row or in a claim.
    """

    value: ClaimValue
    level: EvidenceLevel
    at: datetime
    is_creators: bool


class Resolution(NamedTuple):
    """What the claims about one attribute amount to.

    Attributes:
        shown_value: the value that the record shows, which is the value at the assurance `declared`.
        evidence: the values at the other assurances; None if nothing but the creator's declaration counts.
        is_not_applicable: whether the record shows no value because the attribute does not apply.
    """

    shown_value: ClaimValue
    evidence: AttributeEvidence | None
    is_not_applicable: bool = False


def resolve_attribute(
    attribute: str, declared_value: ClaimValue, claims: Sequence[ClaimRecord], owner: UUID | None, now: datetime
) -> Resolution:
    """Decide which value of an attribute a record shows at a moment, given all claims about the attribute.

    The result also contains the evidence for the value, and the values that stricter assurances accept.
    `declared_value` is the declaration in the row of the record, and `owner` the creator of the record.
    """
    statements = [_to_statement(claim, owner) for claim in claims if claim.is_counted(now)]
    if not statements:
        return Resolution(declared_value, None)

    if declared_value is not None:
        statements.append(Statement(declared_value, EvidenceLevel.DECLARED, _BEFORE_ALL_CLAIMS, is_creators=True))

    shown = decide(attribute, statements, Assurance.DECLARED)
    documented = decide(attribute, statements, Assurance.DOCUMENTED)
    reviewed = decide(attribute, statements, Assurance.REVIEWED)
    assert shown is not None, "every claim counts at the assurance `declared`"

    # At every assurance above `declared` that claims reach, the same claim decides.
    stricter_level = None if documented is None or documented.level is shown.level else documented.level
    evidence = AttributeEvidence(
        level=shown.level,
        declared=declared_value,
        documented=documented.value if documented else None,
        reviewed=reviewed.value if reviewed else None,
        stricter_level=stricter_level,
    )
    return Resolution(shown.value, evidence, is_not_applicable=shown.value is None)


def decide(attribute: str, statements: Sequence[Statement], assurance: Assurance) -> Statement | None:
    """Return the statement that decides the value of an attribute at an assurance, or None if none counts.

    The assurance says how well a value must be supported: for example, mere declarations do not count at `documented`.
    The level of the result is that of the strongest claim with the same value.
    """
    counted = [statement for statement in statements if statement.level.counts_at(assurance)]
    if not counted:
        return None

    candidates: Sequence[Statement] = counted
    if assurance is Assurance.DECLARED:
        candidates = _prefer_creator(attribute, counted)
    winner = _winner(attribute, candidates)

    supporting_levels = [statement.level for statement in counted if statement.value == winner.value]
    return winner._replace(level=max(supporting_levels, key=lambda level: level.strength))


def _to_statement(claim: ClaimRecord, owner: UUID | None) -> Statement:
    """Return a claim that counts as a statement."""
    is_creators = claim.level is EvidenceLevel.DECLARED and claim.author is not None and claim.author == owner
    return Statement(claim.value, claim.effective_level, claim.created_at, is_creators)


def _prefer_creator(attribute: str, statements: Sequence[Statement]) -> Sequence[Statement]:
    """Return the statements among which the value that a record shows is decided.

    If the creator declares a number, these are the creator's own. If the creator declares a flag, measurements are left
    out. Otherwise they are all statements.
    """
    creators = [statement for statement in statements if statement.is_creators and statement.value is not None]
    if not creators:
        return statements
    if attribute not in FLAGS:
        newest = max(statement.at for statement in creators)
        return [statement for statement in creators if statement.at == newest]

    return [statement for statement in statements if statement.level is not EvidenceLevel.MEASURED]


def _winner(attribute: str, statements: Sequence[Statement]) -> Statement:
    """Return the statement of the strongest level; of several, a flag that is false, or the newest number."""
    best_strength = max(statement.level.strength for statement in statements)
    strongest = [statement for statement in statements if statement.level.strength == best_strength]

    if attribute in FLAGS:
        return max(strongest, key=lambda statement: _FLAG_PRECEDENCE[statement.value])
    return max(strongest, key=_recency)


def _recency(statement: Statement) -> tuple[datetime, bool, float]:
    """Return the key by which the newest number wins; of two that are equally new, the larger one."""
    return statement.at, statement.value is not None, float(statement.value or 0)
