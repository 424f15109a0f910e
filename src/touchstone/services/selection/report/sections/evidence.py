"""The report section about the attributes of a dataset and the quotes that support their values."""

import re
from collections.abc import Iterator
from typing import Final

from touchstone.core.evidence import ClaimValue, EvidenceLevel
from touchstone.services.selection.report.document import (
    Cell,
    Column,
    Line,
    Row,
    Section,
    Style,
    Table,
    paragraph,
    text_cell,
)
from touchstone.services.selection.report.fact_types import (
    ReportContent,
    ReportedAttribute,
    ReportedClaim,
    ReportedSource,
)
from touchstone.services.selection.report.language import ReportLanguage

_BOLD: Final = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
_NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
MAX_CLAIMS: Final = 3
"""The maximum number of claims shown for one attribute. The JSON format contains all of them."""


def evidence_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the attributes of the dataset and the claims about them."""
    title = language.text("evidence")
    evidence = content.evidence
    if evidence is None:
        key = "evidence_gone" if content.choice else "nothing_to_know"
        return Section("evidence", title, [paragraph(language.text(key), Style.BAD)])

    blocks = [
        paragraph(language.text("evidence_lead", name=evidence.dataset.name)),
        paragraph(language.text("levels_scale"), Style.MUTED),
    ]
    if evidence.kept_at is not None:
        blocks.append(paragraph(language.text("evidence_kept", date=language.timestamp(evidence.kept_at)), Style.BAD))
    if not evidence.is_chosen:
        blocks.append(paragraph(language.text("evidence_first"), Style.MUTED))

    columns = [
        Column(language.text("attribute"), width=2),
        Column(language.text("what_is_known"), width=1.5),
        Column(language.text("quotes"), width=4),
    ]
    rows = [_attribute_row(attribute, language) for attribute in evidence.attributes]
    return Section("evidence", title, [*blocks, Table(language.text("evidence_caption"), columns, rows)])


def value_style(attribute: ReportedAttribute) -> Style:
    """Return the style for the value of an attribute, which shows whether the value is known."""
    return Style.UNKNOWN if attribute.value is None else Style.STRONG


def _attribute_row(attribute: ReportedAttribute, language: ReportLanguage) -> Row:
    """Return a row with the value of one attribute and its evidence."""
    return Row(
        [
            text_cell(language.attribute(attribute.name)),
            Cell(list(_value_lines(attribute, language))),
            Cell(list(_lines_of_claims(attribute, language))),
        ]
    )


def _value_lines(attribute: ReportedAttribute, language: ReportLanguage) -> Iterator[Line]:
    """Yield the value of an attribute with its level of evidence, and reasons to be careful with it."""
    value = language.attribute_value(attribute.name, attribute.value, is_applicable=not attribute.not_applicable)
    yield Line(value, value_style(attribute))

    if attribute.level is not None:
        yield Line(language.level(attribute.level), Style.MUTED)
    if attribute.value is not None and attribute.counted_value is None:
        yield Line(language.text("not_counted"), Style.UNKNOWN)
    if attribute.is_conflicting:
        yield Line(language.text("conflicting"), Style.BAD)


def _lines_of_claims(attribute: ReportedAttribute, language: ReportLanguage) -> Iterator[Line]:
    """Yield the claims about an attribute, the strongest first, or say that there are none."""
    if not attribute.claims:
        yield Line(language.text("no_evidence"), Style.UNKNOWN)
        return

    strongest_first = sorted(attribute.claims, key=lambda claim: -claim.level.strength)
    for claim in strongest_first[:MAX_CLAIMS]:
        yield from _lines_of_claim(claim, language)
    if len(strongest_first) > MAX_CLAIMS:
        yield Line(language.text("more_claims", count=len(strongest_first) - MAX_CLAIMS), Style.MUTED)


def _lines_of_claim(claim: ReportedClaim, language: ReportLanguage) -> Iterator[Line]:
    """Yield the evidence for a claim, its author and its review.

    The evidence is a quote with its source and the rule by which the value follows from it, or the origin of a claim
    without a quote.
    """
    if claim.quote:
        yield Line(without_emphasis(claim.quote), Style.QUOTE)
        origin = origin_of_quote(claim)
        if origin:
            yield Line(origin, Style.MUTED)
        if not shows_number(claim.quote, claim.value):
            yield Line(language.text("quote_is_part"), Style.MUTED)
        if claim.note:
            yield Line(language.text("claim_note", note=language.claim_note(claim.note)), Style.MUTED)
    elif claim.level is EvidenceLevel.MEASURED:
        yield Line(language.text("computed_from_file"))
    else:
        yield Line(language.text("merely_declared"), Style.UNKNOWN)

    if claim.by is not None and claim.at is not None:
        yield Line(language.text("claimed_by", name=claim.by, date=language.day(claim.at)), Style.MUTED)

    review = claim.review
    if review is not None and claim.level is EvidenceLevel.REVIEWED:
        yield Line(language.text("confirmed_by", name=review.by or "–", date=language.day(review.at)), Style.GOOD)
        if review.note:
            yield Line(language.text("review_note", note=review.note), Style.MUTED)


def without_emphasis(quote: str) -> str:
    """Remove the asterisks that mark bold text in Markdown from a quote."""
    return _BOLD.sub(r"\1", quote)


def shows_number(quote: str, value: ClaimValue) -> bool:
    """Return whether a quote contains the number that a claim states, or True for claims about flags."""
    if value is None or isinstance(value, bool):
        return True
    numbers = {number.replace(",", "") for number in _NUMBER.findall(quote)}
    return f"{value:.12g}" in numbers


def origin_of_quote(claim: ReportedClaim | ReportedSource) -> str:
    """Return the document of a claim's quote and the place in it, or an empty string if both are unknown."""
    source = claim.source
    document = "" if source is None else source.name or source.url or source.kind or ""
    return ", ".join(part for part in (document, claim.place) if part)
