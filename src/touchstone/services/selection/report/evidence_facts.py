"""The evidence about a dataset: the state of its attributes with the supporting claims, also grouped by legal point."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from touchstone.core.evidence import Assurance, AttributeEvidence, ClaimValue, EvidenceLevel
from touchstone.ranking.criteria import CRITERIA
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.evidence.attribute_states import AttributeState, attribute_states
from touchstone.services.selection.evidence.claim_editor import RecordEvidence
from touchstone.services.selection.evidence.claim_records import ClaimRecord
from touchstone.services.selection.projects.dataset_content import ContentClaim, DatasetContent
from touchstone.services.selection.report.choice_facts import KeptContent
from touchstone.services.selection.report.fact_types import (
    ReportedAttribute,
    ReportedClaim,
    ReportedDataset,
    ReportedEvidence,
    ReportedNeed,
    ReportedPoint,
    ReportedReview,
    ReportedSource,
)
from touchstone.services.selection.report.legal_points import LEGAL_POINTS, Law, LegalPoint, ReportPart
from touchstone.services.selection.user_name_store import Pseudos

REPORTED_ATTRIBUTES: Final = tuple(dict.fromkeys(attribute for point in LEGAL_POINTS for attribute in point.attributes))
"""The attributes that are evidence for a legal point, which every report covers."""


def _attributes_of_criteria(need: ReportedNeed) -> list[str]:
    """Return the attributes that the weighted criteria of a project are computed from."""
    weighted_names = {weight.criterion_name for weight in need.weights}
    criteria = [criterion for criterion in CRITERIA if criterion.name in weighted_names]
    return list(dict.fromkeys(attribute for criterion in criteria for attribute in criterion.facts))


def _reported_attribute_names(need: ReportedNeed) -> list[str]:
    """Return the attributes that a report covers, for the legal points and for the ranking."""
    return list(dict.fromkeys([*REPORTED_ATTRIBUTES, *_attributes_of_criteria(need)]))


def reported_dataset(record: DatasetRecord) -> ReportedDataset:
    """Return the identity of a dataset for a report."""
    name, objective = record.attributes["dataset_name"], record.attributes["objective"]
    return ReportedDataset(
        id=record.id or 0,
        dataset_id=record.dataset_id,
        name=str(name),
        objective=None if objective is None else str(objective),
    )


def current_evidence(
    evidence: RecordEvidence, need: ReportedNeed, parts: Collection[ReportPart], now: datetime, *, is_chosen: bool
) -> ReportedEvidence:
    """Return the current evidence for a dataset.

    Args:
        evidence: the record with all claims about it.
        need: the requirements of the project.
        parts: the parts of the report that are not empty, which are evidence for legal points, too.
        now: the time of the report.
        is_chosen: whether the dataset is the chosen one of the project.
    """
    states = attribute_states(evidence.record, evidence.ledger_claims, now)
    counted_claims = [claim for claim in evidence.claims if claim.is_counted(now)]
    attributes = {
        name: _reported_attribute(name, states[name], counted_claims, evidence.pseudos, need.assurance)
        for name in _reported_attribute_names(need)
    }

    points = {law: _legal_points(law, attributes, parts) for law in Law}
    return ReportedEvidence(
        dataset=reported_dataset(evidence.record),
        is_chosen=is_chosen,
        kept_at=None,
        attributes=list(attributes.values()),
        gdpr=points[Law.GDPR],
        ai_act=points[Law.AI_ACT],
    )


def find_sources(evidence: RecordEvidence, need: ReportedNeed, now: datetime) -> list[ReportedSource]:
    """Return the source of each attribute value that the weighted criteria use."""
    states = attribute_states(evidence.record, evidence.ledger_claims, now)
    counted_claims = [claim for claim in evidence.claims if claim.is_counted(now)]
    return [
        _find_source(name, _value_at(states[name], need.assurance), counted_claims)
        for name in _attributes_of_criteria(need)
    ]


def _find_source(name: str, value: ClaimValue, claims: Sequence[ClaimRecord]) -> ReportedSource:
    """Return the strongest claim with the given value as its source, preferring the newest among equals."""
    supporting_claims = [claim for claim in claims if claim.attribute == name and claim.value == value]
    if value is None or not supporting_claims:
        return ReportedSource(attribute=name, value=value, level=None, quote=None, place=None, source=None)

    strongest = max(supporting_claims, key=lambda claim: claim.effective_level.strength)
    return ReportedSource(
        attribute=name,
        value=value,
        level=strongest.effective_level,
        quote=strongest.quote,
        place=strongest.place,
        source=strongest.source,
    )


def kept_evidence(kept: KeptContent, need: ReportedNeed, parts: Collection[ReportPart]) -> ReportedEvidence:
    """Return the stored evidence from the time of the choice, for a dataset that has been withdrawn since."""
    names = _reported_attribute_names(need)
    attributes = {name: _kept_attribute(name, kept.content, need.assurance) for name in names}
    points = {law: _legal_points(law, attributes, parts) for law in Law}
    return ReportedEvidence(
        dataset=kept.dataset,
        is_chosen=True,
        kept_at=kept.at,
        attributes=list(attributes.values()),
        gdpr=points[Law.GDPR],
        ai_act=points[Law.AI_ACT],
    )


def _kept_attribute(name: str, content: DatasetContent, assurance: Assurance) -> ReportedAttribute:
    """Return the evidence about one attribute of a dataset at the time of the choice."""
    claims = [claim for claim in content.claims if claim.attribute == name and claim.scope != "annotators"]
    stated_values = {claim.value for claim in claims}

    value = content.record.get(name)
    evidence_json = content.record.get("evidence", {}).get(name)
    if evidence_json is None:
        level = None if value is None else EvidenceLevel.DECLARED
        counted_value = value if assurance is Assurance.DECLARED else None
    else:
        evidence = msgspec.convert(evidence_json, AttributeEvidence)
        level = evidence.level
        counted_value = evidence.value_at(assurance, value)

    return ReportedAttribute(
        name=name,
        value=value,
        not_applicable=value is None and any(claim.not_applicable for claim in claims),
        level=level,
        counted_value=counted_value,
        is_conflicting=len(stated_values) > 1,
        claims=[_kept_claim(claim) for claim in claims],
    )


def _kept_claim(claim: ContentClaim) -> ReportedClaim:
    """Convert a claim that was stored with a choice, which has no names and times."""
    return ReportedClaim(
        value=claim.value,
        not_applicable=claim.not_applicable,
        level=claim.level,
        quote=claim.quote,
        place=claim.place,
        source=claim.source,
        standard=claim.standard,
        by=None,
        at=None,
        until=claim.until,
        review=None,
    )


def _reported_attribute(
    name: str, state: AttributeState, claims: Sequence[ClaimRecord], pseudos: Pseudos, assurance: Assurance
) -> ReportedAttribute:
    """Return the state of one attribute with its claims, selected from `claims` about all attributes."""
    return ReportedAttribute(
        name=name,
        value=state.value,
        not_applicable=state.is_not_applicable,
        level=state.level,
        counted_value=_value_at(state, assurance),
        is_conflicting=state.is_conflicting,
        claims=[_reported_claim(claim, pseudos) for claim in claims if claim.attribute == name],
    )


def _value_at(state: AttributeState, assurance: Assurance) -> ClaimValue:
    """Return the value of an attribute at an assurance."""
    if assurance is Assurance.DECLARED:
        return state.value
    return state.documented if assurance is Assurance.DOCUMENTED else state.reviewed


def _reported_claim(claim: ClaimRecord, pseudos: Pseudos) -> ReportedClaim:
    """Convert a claim for a report, with the names of its author and its reviewer."""
    author_name = None if claim.author is None else pseudos.get(claim.author)

    review = claim.review
    reported_review: ReportedReview | None = None
    if review is not None:
        reviewer_name = pseudos.get(review.reviewer)
        reported_review = ReportedReview(by=reviewer_name, at=review.at, decision=review.decision, note=review.note)

    return ReportedClaim(
        value=claim.value,
        not_applicable=claim.is_not_applicable,
        level=claim.effective_level,
        quote=claim.quote,
        place=claim.place,
        source=claim.source,
        standard=claim.standard,
        by=author_name,
        at=claim.created_at,
        until=claim.until,
        review=reported_review,
    )


def _legal_points(
    law: Law, attributes: Mapping[str, ReportedAttribute], parts: Collection[ReportPart]
) -> list[ReportedPoint]:
    """Return the points of a law, each with its evidence."""
    return [_reported_point(point, attributes, parts) for point in LEGAL_POINTS if point.law is law]


def _reported_point(
    point: LegalPoint, attributes: Mapping[str, ReportedAttribute], parts: Collection[ReportPart]
) -> ReportedPoint:
    """Return one point of law with the attributes and the parts of the report that are evidence for it."""
    evident_names = [name for name in point.attributes if attributes[name].is_evident]
    present_parts = [part.value for part in point.parts if part in parts]
    return ReportedPoint(
        point=point.key,
        attributes=point.attributes,
        evident=evident_names,
        parts=present_parts,
        has_evidence=bool(evident_names or present_parts),
    )
