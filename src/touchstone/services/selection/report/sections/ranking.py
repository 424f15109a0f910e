"""The report section about the first datasets of the ranking and their points by criterion."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import UNSET

from touchstone.messages.numbers import limit_to_show
from touchstone.services.selection.datasets.ranking_response import ExplainedItem
from touchstone.services.selection.gates import GateOutcome
from touchstone.services.selection.report.document import (
    Bar,
    Block,
    Cell,
    Column,
    Line,
    Paragraph,
    Row,
    Section,
    Style,
    Table,
    paragraph,
    text_cell,
)
from touchstone.services.selection.report.fact_types import ReportContent, ReportedNeed, ReportedRanking
from touchstone.services.selection.report.language import DASH, ReportLanguage

MAX_CRITERIA: Final = 4
"""The maximum number of criteria in one table, as many as fit on a page."""
_SCORE_DIGITS: Final = 3
_GATE_STYLES: Final = {GateOutcome.FAILED: Style.BAD, GateOutcome.UNKNOWN: Style.UNKNOWN}


def ranking_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the ranking and the points of each criterion."""
    if not content.ranking.items:
        return Section("ranking", language.text("ranking"), [paragraph(language.text("nothing_matches"))])

    blocks: list[Block] = [
        paragraph(language.text("ranking_lead", total=content.ranking.total_count)),
        _ranking_table(content, language),
        *_notes(content.ranking, language),
        *_points_tables(content, language),
        paragraph(language.text("points_lead"), Style.MUTED),
    ]
    return Section("ranking", language.text("ranking"), blocks)


def _notes(ranking: ReportedRanking, language: ReportLanguage) -> Iterator[Paragraph]:
    """Yield notes about weighted criteria that do not distinguish the first datasets."""
    criteria_by_code: dict[str, list[str]] = {}
    for note in ranking.notes:
        criteria_by_code.setdefault(note.code, []).append(note.criterion_name)
    for code, criterion_names in criteria_by_code.items():
        yield paragraph(language.note(code, criterion_names), Style.MUTED)


def shown_items(content: ReportContent) -> list[ExplainedItem]:
    """Return the first items of the ranking, followed by the chosen one if it is not among them."""
    items = list(content.ranking.items)
    standing = content.choice.standing if content.choice else None
    if standing is not None and standing.id not in {item.id for item in items}:
        items.append(standing)
    return items


def _ranking_table(content: ReportContent, language: ReportLanguage) -> Table:
    """Return the table of the ranking, which marks the chosen dataset."""
    columns = [
        Column(language.text("rank"), is_number=True),
        Column(language.text("dataset"), width=3),
        Column(language.text("score"), width=2),
        Column(language.text("ethics"), width=2),
        Column(language.text("known"), is_number=True, width=1),
    ]
    if content.need.gates:
        columns.append(Column(language.text("gates"), width=2))
    rows = [_ranking_row(item, content, language) for item in shown_items(content)]
    caption = language.text("ranking_first", shown=len(content.ranking.items), total=content.ranking.total_count)
    return Table(caption, columns, rows)


def _ranking_row(item: ExplainedItem, content: ReportContent, language: ReportLanguage) -> Row:
    """Return the row of one dataset in the ranking."""
    is_chosen = content.choice is not None and content.choice.dataset.id == item.id
    dataset_lines = [Line(item.dataset_name, Style.STRONG if is_chosen else Style.PLAIN)]
    if is_chosen:
        dataset_lines.append(Line(language.text("is_chosen"), Style.GOOD))

    cells = [
        text_cell(language.rank(item)),
        Cell(dataset_lines),
        _bounded_cell(Bar(item.score, item.best_case.score), language, is_known=_is_score_known(item)),
        _bounded_cell(Bar(*item.ethical_interval), language, is_known=item.known > 0),
        text_cell(language.text("known_ratio", known=str(item.known))),
    ]
    if content.need.gates:
        cells.append(Cell(_gate_marks(item, language)))
    return Row(cells, is_emphasized=is_chosen)


def _is_score_known(item: ExplainedItem) -> bool:
    """Return whether at least one criterion that contributes to the score of a dataset is known."""
    return not set(item.points).issubset(item.unknown)


def open_gates(item: ExplainedItem) -> dict[str, GateOutcome]:
    """Return the outcomes of the gates that a dataset does not pass, because it fails them or the value is unknown."""
    outcomes = {} if item.gates is UNSET else item.gates
    return {name: outcome for name, outcome in outcomes.items() if outcome is not GateOutcome.PASSED}


def _gate_marks(item: ExplainedItem, language: ReportLanguage) -> list[Line]:
    """Return short lines for a table about the gates that a dataset does not pass, or a line that it passes all."""
    lines = [
        Line(language.text(f"mark_{outcome}", gate=language.gate_label(name)), _GATE_STYLES[outcome])
        for name, outcome in open_gates(item).items()
    ]
    return lines or [Line(language.text("marks_passed"), Style.GOOD)]


def gate_lines(item: ExplainedItem, project_need: ReportedNeed, language: ReportLanguage) -> list[Line]:
    """Return sentences about the gates that a dataset does not pass, or a sentence that it passes all."""
    lines: list[Line] = []
    for name, outcome in open_gates(item).items():
        gate = language.gate_sentence(name, project_need.gates[name])
        lines.append(Line(language.text(f"gate_{outcome}", gate=gate), _GATE_STYLES[outcome]))
    return lines or [Line(language.text("gates_passed"), Style.GOOD)]


def _bounded_cell(bar: Bar, language: ReportLanguage, *, is_known: bool) -> Cell:
    """Return a cell with a score and its upper bound.

    A score that only depends on unknown values is shown as a dash. A bound that looks like the score is left out.
    """
    value = language.decimal(bar.value, _SCORE_DIGITS) if is_known else DASH
    highest = limit_to_show(bar.value, bar.highest, _SCORE_DIGITS)
    if highest is None:
        return Cell([Line(value)], bar)
    return Cell([Line(language.text("at_most", value=value, highest=language.decimal(highest, _SCORE_DIGITS)))], bar)


def _points_tables(content: ReportContent, language: ReportLanguage) -> Iterator[Table]:
    """Yield tables with the points of the datasets by criterion, each with at most `MAX_CRITERIA` criteria."""
    names = [weight.criterion_name for weight in content.need.weights]
    for start in range(0, len(names), MAX_CRITERIA):
        yield _points_table(content, names[start : start + MAX_CRITERIA], language)


def _points_table(content: ReportContent, names: Sequence[str], language: ReportLanguage) -> Table:
    """Return a table with the points of the datasets for the criteria `names`."""
    columns = [
        Column(language.text("rank"), is_number=True),
        Column(language.text("dataset"), width=2),
        *(Column(language.criterion(name), is_number=True, width=1) for name in names),
        Column(language.text("score"), is_number=True),
    ]
    rows = [_points_row(item, names, language) for item in shown_items(content)]
    return Table(language.text("points_caption"), columns, rows)


def _points_row(item: ExplainedItem, names: Sequence[str], language: ReportLanguage) -> Row:
    """Return a row with the points of one dataset, and a question mark for unknown criteria."""
    points = [
        text_cell("?", Style.UNKNOWN) if name in item.unknown else text_cell(language.decimal(item.points[name]))
        for name in names
    ]
    return Row(
        [
            text_cell(language.rank(item)),
            text_cell(item.dataset_name),
            *points,
            text_cell(language.decimal(item.score) if _is_score_known(item) else DASH, Style.STRONG),
        ]
    )
