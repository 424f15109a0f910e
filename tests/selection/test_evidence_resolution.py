"""What conflicting claims amount to, against a slow reference that follows the words of the rules."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from touchstone.core.evidence import Assurance, ClaimValue, EvidenceLevel
from touchstone.services.selection.evidence.claim_records import ClaimRecord, ClaimReview, ClaimStatus, Decision
from touchstone.services.selection.evidence.resolution import resolve_attribute

NOW = datetime(2026, 6, 1, tzinfo=UTC)
OWNER, OTHER = UUID(int=1), UUID(int=2)
FLAG, NUMBER = "transparency", "instances_number"
LEVEL_ORDER = (EvidenceLevel.REVIEWED, EvidenceLevel.MEASURED, EvidenceLevel.DOCUMENTED, EvidenceLevel.DECLARED)
COUNTED_LEVELS = {
    Assurance.DECLARED: set(LEVEL_ORDER),
    Assurance.DOCUMENTED: set(LEVEL_ORDER) - {EvidenceLevel.DECLARED},
    Assurance.REVIEWED: {EvidenceLevel.REVIEWED, EvidenceLevel.MEASURED},
}


def make_claim(attribute: str, value: ClaimValue, level: EvidenceLevel, **members: object) -> ClaimRecord:
    """Return a claim; the level `reviewed` comes from a review of a declared claim."""
    review = None
    if level is EvidenceLevel.REVIEWED:
        review = ClaimReview(reviewer=uuid4(), at=NOW, decision=Decision.CONFIRM)
        level = EvidenceLevel.DECLARED
    defaults: dict[str, object] = {
        "id": uuid4(),
        "dataset_id": 1,
        "created_at": NOW - timedelta(days=9),
        "attribute": attribute,
        "value": value,
        "is_not_applicable": value is None,
        "level": level,
        "author": OTHER,
        "review": review,
    }
    return ClaimRecord(**(defaults | members))  # type: ignore[arg-type]


def claims_about(attribute: str, values: st.SearchStrategy[ClaimValue]) -> st.SearchStrategy[list[ClaimRecord]]:
    """Return lists of claims of every kind, each at a time of its own."""
    any_claim = st.builds(
        lambda value, level, author, status, scope, until: make_claim(
            attribute, value, level, author=author, status=status, scope=scope, until=until
        ),
        values,
        st.sampled_from(EvidenceLevel),
        st.sampled_from([OWNER, OTHER, None]),
        st.sampled_from([ClaimStatus.ACTIVE, ClaimStatus.ACTIVE, *ClaimStatus]),
        st.sampled_from([None, "subjects", "annotators"]),
        st.sampled_from([None, None, NOW - timedelta(days=1), NOW, NOW + timedelta(days=1)]),
    )

    def at_different_times(claims: list[ClaimRecord]) -> list[ClaimRecord]:
        return [replace(claim, created_at=NOW - timedelta(days=30 - day)) for day, claim in enumerate(claims)]

    return st.lists(any_claim, max_size=8).map(at_different_times)


def counted_claims(claims: Sequence[ClaimRecord]) -> list[ClaimRecord]:
    """Return the claims that count."""
    return [
        claim
        for claim in claims
        if claim.status is ClaimStatus.ACTIVE
        and claim.scope != "annotators"
        and not (claim.until is not None and claim.until <= NOW)
    ]


def value_by_the_rules(
    attribute: str, declared: ClaimValue, claims: Sequence[ClaimRecord], assurance: Assurance
) -> ClaimValue:
    """Return the value at an assurance, level by level, as the contract says it."""
    counting_claims = [claim for claim in counted_claims(claims) if claim.effective_level in COUNTED_LEVELS[assurance]]
    creator_claims = [
        claim for claim in counting_claims if claim.level is EvidenceLevel.DECLARED and claim.author == OWNER
    ]
    creator_claims = [claim for claim in creator_claims if claim.value is not None]

    if assurance is Assurance.DECLARED and (creator_claims or declared is not None):
        if attribute == NUMBER:
            return creator_claims[-1].value if creator_claims else declared
        counting_claims = [claim for claim in counting_claims if claim.effective_level is not EvidenceLevel.MEASURED]

    for level in LEVEL_ORDER:
        values = [claim.value for claim in counting_claims if claim.effective_level is level]
        if level is EvidenceLevel.DECLARED and assurance is Assurance.DECLARED and declared is not None:
            values.insert(0, declared)
        if not values:
            continue
        if attribute == NUMBER:
            return values[-1]
        return False if False in values else True if True in values else None
    return None


FLAG_VALUES = st.sampled_from([True, False, None])
NUMBER_VALUES = st.sampled_from([0, 1, 50, 1000])


@given(FLAG_VALUES, claims_about(FLAG, FLAG_VALUES))
def test_flags_follow_the_rules(declared: bool | None, claims: list[ClaimRecord]) -> None:
    """For flags, the value at every assurance is the one of the reference."""
    check_against_the_rules(FLAG, declared, claims)


@given(st.one_of(st.none(), NUMBER_VALUES), claims_about(NUMBER, NUMBER_VALUES))
def test_numbers_follow_the_rules(declared: int | None, claims: list[ClaimRecord]) -> None:
    """For numbers, the value at every assurance is the one of the reference."""
    check_against_the_rules(NUMBER, declared, claims)


def check_against_the_rules(attribute: str, declared: ClaimValue, claims: list[ClaimRecord]) -> None:
    """Compare a resolution with the reference, whatever the order in which the claims come."""
    for ordered_claims in (claims, claims[::-1]):
        resolution = resolve_attribute(attribute, declared, ordered_claims, OWNER, NOW)
        assert resolution.shown_value == value_by_the_rules(attribute, declared, claims, Assurance.DECLARED)
        if not counted_claims(claims):
            assert resolution.evidence is None
            continue
        assert resolution.evidence is not None
        assert resolution.evidence.declared == declared
        for assurance in (Assurance.DOCUMENTED, Assurance.REVIEWED):
            value = resolution.evidence.value_at(assurance, resolution.shown_value)
            assert value == value_by_the_rules(attribute, declared, claims, assurance), assurance


def test_the_level_is_that_of_the_strongest_support() -> None:
    """A value that a file and its creator agree about is shown as measured."""
    measured_claim = make_claim(NUMBER, 10, EvidenceLevel.MEASURED, author=None)
    agreement = resolve_attribute(NUMBER, 10, [measured_claim], OWNER, NOW)
    assert agreement.evidence is not None
    assert agreement.evidence.level is EvidenceLevel.MEASURED
    dispute = resolve_attribute(NUMBER, 12, [measured_claim], OWNER, NOW)
    assert dispute.evidence is not None
    assert dispute.evidence.level is EvidenceLevel.DECLARED
    assert (dispute.shown_value, dispute.evidence.documented, dispute.evidence.reviewed) == (12, 10, 10)


def test_not_applicable_is_a_state_of_its_own() -> None:
    """A reviewed "not applicable" leaves no value and says so; silence does not."""
    reviewed_claim = make_claim(FLAG, None, EvidenceLevel.REVIEWED)
    resolution = resolve_attribute(FLAG, True, [reviewed_claim], OWNER, NOW)
    assert (resolution.shown_value, resolution.is_not_applicable) == (None, True)
    assert not resolve_attribute(FLAG, None, [], OWNER, NOW).is_not_applicable
