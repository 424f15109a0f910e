"""The report section about the requirements of the project for datasets."""

from touchstone.services.selection.report.document import (
    Block,
    Column,
    Fact,
    FactList,
    Line,
    Row,
    Section,
    Style,
    Table,
    paragraph,
    text_cell,
)
from touchstone.services.selection.report.fact_types import ReportContent, ReportedNeed
from touchstone.services.selection.report.language import ReportLanguage


def need_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the description of the project, its filters, its assurance and its weights."""
    blocks: list[Block] = []
    if content.project.description:
        blocks.append(paragraph(content.project.description, Style.QUOTE))
    blocks += [
        paragraph(language.text("need_lead")),
        FactList(_requirements(content.need, language)),
        _weights_table(content.need, language),
    ]
    if not content.need.has_own_weights:
        blocks.append(paragraph(language.text("weights_default"), Style.MUTED))
    return Section("need", language.text("need"), blocks)


def _requirements(project_need: ReportedNeed, language: ReportLanguage) -> list[Fact]:
    """Return the filters, the gates and the level of evidence that the project requires."""
    filters = [Line(language.filter_sentence(name, value)) for name, value in project_need.filters.items()]
    gates = [Line(language.gate_sentence(name, value)) for name, value in project_need.gates.items()]

    facts = [Fact(language.text("filters"), filters or [Line(language.text("filters_none"), Style.MUTED)])]
    if gates:
        facts.append(Fact(language.text("gates"), [*gates, Line(language.text("gates_hint"), Style.MUTED)]))
    return [*facts, _assurance_fact(project_need, language)]


def _assurance_fact(project_need: ReportedNeed, language: ReportLanguage) -> Fact:
    """Return the level of evidence that the project requires, with an explanation."""
    assurance = project_need.assurance
    lines = [Line(language.assurance(assurance)), Line(language.assurance_hint(assurance), Style.MUTED)]
    return Fact(language.text("assurance"), lines)


def _weights_table(project_need: ReportedNeed, language: ReportLanguage) -> Table:
    """Return a table of the weights with their shares and the formulas of their criteria."""
    columns = [
        Column(language.text("criterion"), width=2),
        Column(language.text("weight"), is_number=True),
        Column(language.text("share"), is_number=True),
        Column(language.text("formula"), width=4),
    ]
    rows = [
        Row(
            [
                text_cell(language.criterion(weight.criterion_name)),
                text_cell(language.number(weight.weight)),
                text_cell(language.weight_share(weight.share)),
                text_cell(language.criterion_formula(weight.criterion_name), Style.MUTED),
            ]
        )
        for weight in project_need.weights
    ]
    return Table(language.text("weights"), columns, rows)
