"""The evidence about a dataset for a report, by attribute and by legal point.

Usually this is the current evidence in the catalog. If the chosen dataset has been withdrawn, the evidence that was
stored with the choice is used.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from touchstone.core.evidence import Assurance, AttributeEvidence, ClaimValue, EvidenceLevel
from touchstone.ranking.criteria import CRITERIA
from touchstone.services.selection.evidence.attribute_states import AttributeState, attribute_states
from touchstone.services.selection.evidence.claim_editor import RecordEvidence
from touchstone.services.selection.evidence.claim_records import ClaimRecord
from touchstone.services.selection.projects.dataset_content import ContentClaim, DatasetContent
from touchstone.services.selection.report.choice_facts import StoredContent
from touchstone.services.selection.report.dataset_facts import present_dataset
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
"""The attributes that are relevant to any legal point. Every report covers them."""


def current_evidence(
    evidence: RecordEvidence,
    project_need: ReportedNeed,
    parts: Collection[ReportPart],
    now: datetime,
    *,
    is_chosen: bool,
) -> ReportedEvidence:
    """Return the current evidence for a dataset.

    Args:
        evidence: the record with all claims about it.
        project_need: the requirements of the project.
        parts: the parts of the report that are not empty, since they also are evidence for legal points.
        now: the time of the report.
        is_chosen: whether the dataset is the chosen one of the project.
    """
    states = attribute_states(evidence.record, evidence.ledger_claims, now)
    effective_claims = [claim for claim in evidence.claims if claim.is_effective(now)]
    attributes = [
        _reported_attribute(name, states[name], effective_claims, evidence.pseudos, project_need.assurance)
        for name in _list_reported_attributes(project_need)
    ]
    dataset = present_dataset(evidence.record)
    return _group_by_law(dataset, attributes, parts, is_chosen=is_chosen, kept_at=None)


def stored_evidence(
    stored: StoredContent, project_need: ReportedNeed, parts: Collection[ReportPart]
) -> ReportedEvidence:
    """Return the evidence that was stored with the choice of a dataset that has been withdrawn since.

    Args:
        stored: the content of the dataset at the time of the choice.
        project_need: the requirements of the project.
        parts: the parts of the report that are not empty, since they also are evidence for legal points.
    """
    attributes = [
        _stored_attribute(name, stored.content, project_need.assurance)
        for name in _list_reported_attributes(project_need)
    ]
    return _group_by_law(stored.dataset, attributes, parts, is_chosen=True, kept_at=stored.chosen_at)


def _list_reported_attributes(project_need: ReportedNeed) -> list[str]:
    """Return the names of the attributes that a report covers, for the legal points and for the ranking."""
    return list(dict.fromkeys([*REPORTED_ATTRIBUTES, *_attributes_of_criteria(project_need)]))


def _attributes_of_criteria(project_need: ReportedNeed) -> list[str]:
    """Return the names of the attributes that the weighted criteria of a project are computed from."""
    weighted_names = {weight.criterion_name for weight in project_need.weights}
    criteria = [criterion for criterion in CRITERIA if criterion.name in weighted_names]
    return list(dict.fromkeys(attribute for criterion in criteria for attribute in criterion.facts))


def _group_by_law(
    dataset: ReportedDataset,
    attributes: Sequence[ReportedAttribute],
    parts: Collection[ReportPart],
    *,
    is_chosen: bool,
    kept_at: datetime | None,
) -> ReportedEvidence:
    """Return the attributes of a dataset together with the legal points that they and the parts are evidence for."""
    attributes_by_name = {attribute.name: attribute for attribute in attributes}
    points = {law: _legal_points(law, attributes_by_name, parts) for law in Law}
    return ReportedEvidence(
        dataset=dataset,
        is_chosen=is_chosen,
        kept_at=kept_at,
        attributes=attributes,
        gdpr=points[Law.GDPR],
        ai_act=points[Law.AI_ACT],
    )


def find_sources(evidence: RecordEvidence, project_need: ReportedNeed, now: datetime) -> list[ReportedSource]:
    """Return the source of each attribute value that the weighted criteria use."""
    states = attribute_states(evidence.record, evidence.ledger_claims, now)
    effective_claims = [claim for claim in evidence.claims if claim.is_effective(now)]
    return [
        _find_source(name, states[name].value_at(project_need.assurance), effective_claims)
        for name in _attributes_of_criteria(project_need)
    ]


def _find_source(name: str, value: ClaimValue, claims: Sequence[ClaimRecord]) -> ReportedSource:
    """Return the strongest claim that states the given value, or the newest of equally strong claims.

    Args:
        name: the name of the attribute.
        value: the value of the attribute, or None if it is unknown.
        claims: the effective claims about all attributes, the newest first.
    """
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


def _stored_attribute(name: str, content: DatasetContent, assurance: Assurance) -> ReportedAttribute:
    """Return one attribute of a dataset with its evidence at the time of the choice."""
    # Claims about annotators rather than about the persons in the data never count.
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
        claims=[_stored_claim(claim) for claim in claims],
    )


def _stored_claim(claim: ContentClaim) -> ReportedClaim:
    """Convert a claim that was stored with a choice, without its author, its time and its review."""
    return ReportedClaim(
        value=claim.value,
        not_applicable=claim.not_applicable,
        level=claim.level,
        quote=claim.quote,
        note=claim.note,
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
    """Return one attribute of a dataset with its evidence.

    Args:
        name: the name of the attribute.
        state: its state according to all claims.
        claims: the effective claims about all attributes.
        pseudos: the names of the users, by user id.
        assurance: the weakest level of evidence that counts for the project.
    """
    return ReportedAttribute(
        name=name,
        value=state.value,
        not_applicable=state.is_not_applicable,
        level=state.level,
        counted_value=state.value_at(assurance),
        is_conflicting=state.is_conflicting,
        claims=[_reported_claim(claim, pseudos) for claim in claims if claim.attribute == name],
    )


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
        note=claim.note,
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
    """Return the points of a law with their evidence, given all attributes by name and the non-empty parts."""
    return [_reported_point(point, attributes, parts) for point in LEGAL_POINTS if point.law is law]


def _reported_point(
    point: LegalPoint, attributes: Mapping[str, ReportedAttribute], parts: Collection[ReportPart]
) -> ReportedPoint:
    """Return a point of law with the relevant attributes that have evidence, and the relevant parts of the report."""
    evident_names = [name for name in point.attributes if attributes[name].is_evident]
    present_parts = [part.value for part in point.parts if part in parts]
    return ReportedPoint(
        point=point.key,
        attributes=point.attributes,
        evident=evident_names,
        parts=present_parts,
        has_evidence=bool(evident_names or present_parts),
    )
