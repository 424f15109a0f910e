"""Resolution of conflicting claims about one attribute, in pure functions without a database.

The claim with the strongest level of evidence determines the value, in the order `reviewed`, `measured`, `documented`,
`declared`. Among claims of the same level, false takes precedence for flags, and the newest value for numbers.

There is one exception at the assurance `declared`: the creator's declaration takes precedence over measurements, and
for numbers over all other claims. At stricter assurances, it is treated like any other declaration.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple
from uuid import UUID

from touchstone.core.attributes import FLAGS
from touchstone.core.evidence import Assurance, AttributeEvidence, ClaimValue, EvidenceLevel
from touchstone.services.selection.evidence.claim_records import ClaimRecord

# The declaration in the row of a record has no date. It is treated as older than every claim, because changing it
# withdraws the creator's claims with other values.
_BEFORE_ALL_CLAIMS: Final = datetime.min.replace(tzinfo=UTC)
# Among flags of the same level, the value with the highest number takes precedence. None means "not applicable".
_FLAG_PRECEDENCE: Final[dict[ClaimValue, int]] = {None: 0, True: 1, False: 2}


class Statement(NamedTuple):
    """The parts of an effective claim that are relevant to the resolution.

    Attributes:
        value: the claimed value, or None for "not applicable".
        level: the level of evidence, after any review.
        at: the time of the claim.
        is_by_creator: whether it is a declaration by the creator of the record.
    """

    value: ClaimValue
    level: EvidenceLevel
    at: datetime
    is_by_creator: bool


class Resolution(NamedTuple):
    """The result of resolving the claims about one attribute.

    Attributes:
        shown_value: the value that the record shows, which is the value at the assurance `declared`.
        evidence: the values at the other assurances, or None if there is only the creator's declaration.
        is_not_applicable: whether the record shows no value because the attribute does not apply.
    """

    shown_value: ClaimValue
    evidence: AttributeEvidence | None
    is_not_applicable: bool = False


def resolve_attribute(
    attribute: str, declared_value: ClaimValue, claims: Sequence[ClaimRecord], owner: UUID | None, now: datetime
) -> Resolution:
    """Determine the value of an attribute, at every assurance, from all claims about it.

    Args:
        attribute: the name of the attribute.
        declared_value: the declaration in the row of the record, or None.
        claims: all claims about the attribute. Claims that are not effective at `now` are ignored.
        owner: the creator of the record.
        now: the current time.
    """
    statements = [_to_statement(claim, owner) for claim in claims if claim.is_effective(now)]
    if not statements:
        return Resolution(declared_value, None)

    if declared_value is not None:
        statements.append(Statement(declared_value, EvidenceLevel.DECLARED, _BEFORE_ALL_CLAIMS, is_by_creator=True))

    shown = find_deciding_statement(attribute, statements, Assurance.DECLARED)
    documented = find_deciding_statement(attribute, statements, Assurance.DOCUMENTED)
    reviewed = find_deciding_statement(attribute, statements, Assurance.REVIEWED)
    assert shown is not None, "every claim counts at the assurance `declared`"

    # If there is a value at `reviewed`, the same statement also decides at `documented`. One level is therefore enough.
    stricter_level = None if documented is None or documented.level is shown.level else documented.level
    evidence = AttributeEvidence(
        level=shown.level,
        declared=declared_value,
        documented=documented.value if documented else None,
        reviewed=reviewed.value if reviewed else None,
        stricter_level=stricter_level,
    )
    return Resolution(shown.value, evidence, is_not_applicable=shown.value is None)


def find_deciding_statement(attribute: str, statements: Sequence[Statement], assurance: Assurance) -> Statement | None:
    """Return the statement that decides the value of an attribute at an assurance, or None if none counts.

    The assurance is the weakest level of evidence that counts. For example, mere declarations do not count at
    `documented`. The result gets the strongest level of all counted statements with the same value.
    """
    counted_statements = [statement for statement in statements if statement.level.counts_at(assurance)]
    if not counted_statements:
        return None

    candidates: Sequence[Statement] = counted_statements
    if assurance is Assurance.DECLARED:
        candidates = _prefer_creator(attribute, counted_statements)
    strongest = _strongest_statement(attribute, candidates)

    supporting_levels = [statement.level for statement in counted_statements if statement.value == strongest.value]
    return strongest._replace(level=max(supporting_levels, key=lambda level: level.strength))


def _to_statement(claim: ClaimRecord, owner: UUID | None) -> Statement:
    """Convert an effective claim to a statement."""
    return Statement(claim.value, claim.effective_level, claim.created_at, is_declared_by_creator(claim, owner))


def is_declared_by_creator(claim: ClaimRecord, owner: UUID | None) -> bool:
    """Return whether a claim is a declaration by the creator of the record, confirmed or not."""
    return claim.level is EvidenceLevel.DECLARED and claim.author is not None and claim.author == owner


def _prefer_creator(attribute: str, statements: Sequence[Statement]) -> Sequence[Statement]:
    """Return the statements that may determine the value shown by a record.

    If the creator declares a number, only the creator's newest declarations are returned. If the creator declares a
    flag, all statements except measurements are returned.
    """
    declarations = [statement for statement in statements if statement.is_by_creator and statement.value is not None]
    if not declarations:
        return statements
    if attribute in FLAGS:
        return [statement for statement in statements if statement.level is not EvidenceLevel.MEASURED]

    newest = max(statement.at for statement in declarations)
    return [statement for statement in declarations if statement.at == newest]


def _strongest_statement(attribute: str, statements: Sequence[Statement]) -> Statement:
    """Return the statement with the strongest level.

    Among several of them, a false flag or the newest number takes precedence.
    """
    best_strength = max(statement.level.strength for statement in statements)
    strongest = [statement for statement in statements if statement.level.strength == best_strength]

    if attribute in FLAGS:
        return max(strongest, key=lambda statement: _FLAG_PRECEDENCE[statement.value])
    return max(strongest, key=_recency_key)


def _recency_key(statement: Statement) -> tuple[datetime, bool, float]:
    """Return a sort key that is highest for the newest number, and for the largest of several newest numbers."""
    return statement.at, statement.value is not None, float(statement.value or 0)
