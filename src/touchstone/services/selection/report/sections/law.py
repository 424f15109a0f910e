"""The report section about points of law and the evidence for each of them."""

from collections.abc import Iterator, Mapping, Sequence

from touchstone.core.evidence import EvidenceLevel
from touchstone.services.selection.report.document import (
    Block,
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
from touchstone.services.selection.report.fact_types import ReportContent, ReportedAttribute, ReportedPoint
from touchstone.services.selection.report.language import ReportLanguage


def law_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the principles of the GDPR and the points of article 10(2) of the AI Act."""
    title = language.text("law")
    evidence = content.evidence
    if evidence is None:
        key = "evidence_gone" if content.choice else "nothing_to_know"
        return Section("law", title, [paragraph(language.text(key))])

    attributes = {attribute.name: attribute for attribute in evidence.attributes}
    gdpr = _points_table("gdpr_caption", evidence.gdpr, attributes, content, language)
    ai_act = _points_table("ai_act_caption", evidence.ai_act, attributes, content, language)
    blocks: list[Block] = [
        paragraph(language.text("law_lead")),
        paragraph(language.text("law_values")),
        gdpr,
        ai_act,
        paragraph(language.text("law_scope"), Style.MUTED),
    ]
    return Section("law", title, blocks)


def _points_table(
    caption_key: str,
    points: Sequence[ReportedPoint],
    attributes: Mapping[str, ReportedAttribute],
    content: ReportContent,
    language: ReportLanguage,
) -> Table:
    """Return the table of the points of one law with the evidence for each of them."""
    columns = [Column(language.text("point"), width=2), Column(language.text("facts_of_report"), width=3)]

    rows: list[Row] = []
    for point in points:
        evidence_lines = list(_evidence_lines(point, attributes, content, language))
        rows.append(Row([text_cell(language.legal_point(point.point)), Cell(evidence_lines)]))
    return Table(language.text(caption_key), columns, rows)


def _evidence_lines(
    point: ReportedPoint, attributes: Mapping[str, ReportedAttribute], content: ReportContent, language: ReportLanguage
) -> Iterator[Line]:
    """Yield the facts in the report that are evidence for a point of law, or say that there are none."""
    if not point.has_evidence:
        yield Line(language.text("no_evidence"), Style.UNKNOWN)

    for name in point.attributes:
        line = _attribute_line(attributes[name], language)
        if line is not None:
            yield line
    for part in point.parts:
        yield Line(language.text(f"part_{part}", count=content.ranking.total_count))


def _attribute_line(attribute: ReportedAttribute, language: ReportLanguage) -> Line | None:
    """Return a line about an attribute and its evidence, or None if there are no claims about it."""
    name = language.attribute(attribute.name)
    if attribute.is_evident:
        value = language.attribute_value(attribute.name, attribute.value, is_applicable=not attribute.not_applicable)
        level = language.level(attribute.level or EvidenceLevel.DECLARED)
        return Line(language.text("known_value", name=name, value=value, level=level))
    if attribute.claims:
        return Line(language.text("only_declared", name=name), Style.MUTED)
    return None
