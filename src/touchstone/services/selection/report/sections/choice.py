"""The section of a report about the choice: what was chosen and why, and how it compares with its rival."""

from touchstone.services.selection.report.content import ReportContent, ReportedChoice, ReportedComparison
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
from touchstone.services.selection.report.language import ReportLanguage
from touchstone.services.selection.report.sections.ranking import gate_lines


def choice_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the choice, its reason, and the comparison with its rival."""
    blocks: list[Block] = []
    if content.choice is None:
        blocks.append(paragraph(language.text("chosen_nothing")))
    else:
        blocks.append(FactList(_choice_facts(content, content.choice, language)))
    if content.comparison is not None:
        blocks.append(_comparison_table(content.comparison, language))
    return Section("choice", language.text("choice"), blocks)


def _choice_facts(content: ReportContent, choice: ReportedChoice, language: ReportLanguage) -> list[Fact]:
    """Return which dataset was chosen, at which rank, what the gates say of it, and for which reason it was chosen."""
    facts = []
    if choice.dataset is None:
        gone = Line(language.text("chosen_gone", id=str(choice.dataset_id)), Style.BAD)
        facts.append(Fact(language.text("choice_dataset"), [gone]))
    else:
        identifier = Line(str(choice.dataset.dataset_id), Style.MUTED)
        facts.append(Fact(language.text("choice_dataset"), [Line(choice.dataset.name, Style.STRONG), identifier]))
        if choice.dataset.objective:
            facts.append(Fact(language.text("choice_objective"), [Line(choice.dataset.objective, Style.QUOTE)]))

    rank = language.text("choice_rank_none")
    if choice.standing is not None:
        place = language.rank(choice.standing)
        rank = language.text("choice_rank_of", rank=place, total=content.ranking.total_count)
    facts.append(Fact(language.text("choice_rank"), [Line(rank)]))
    if choice.standing is not None and content.need.gates:
        facts.append(Fact(language.text("gates"), gate_lines(choice.standing, language)))

    reason = Line(choice.reason, Style.QUOTE) if choice.reason else Line(language.text("reason_none"), Style.BAD)
    facts.append(Fact(language.text("choice_reason"), [reason]))
    return facts


def _comparison_table(comparison: ReportedComparison, language: ReportLanguage) -> Table:
    """Return the points of two datasets criterion by criterion, with the differences and the scores below."""
    above, below = comparison.above, comparison.below
    columns = [
        Column(language.text("criterion"), width=2),
        Column(above.dataset_name, is_number=True, width=1.5),
        Column(below.dataset_name, is_number=True, width=1.5),
        Column(language.text("difference"), is_number=True),
    ]
    rows = [
        Row(
            [
                text_cell(language.criterion(difference.criterion_name)),
                text_cell(language.decimal(difference.above_points)),
                text_cell(language.decimal(difference.below_points)),
                text_cell(language.signed(difference.difference)),
            ]
        )
        for difference in comparison.differences
    ]
    total = Row(
        [
            text_cell(language.text("total"), Style.STRONG),
            text_cell(language.decimal(above.score), Style.STRONG),
            text_cell(language.decimal(below.score), Style.STRONG),
            text_cell(language.signed(above.score - below.score), Style.STRONG),
        ],
        is_emphasised=True,
    )
    caption = language.text("comparison_caption", above=above.dataset_name, below=below.dataset_name)
    return Table(caption, columns, [*rows, total])
