"""The report section about the chosen dataset, the reason for the choice, and the comparison with its rival."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from touchstone.core.errors import Invalid
from touchstone.core.evidence import EvidenceLevel
from touchstone.metadata.licences import UNKNOWN_LICENCE
from touchstone.ranking.criteria import FACTS_BY_CRITERION
from touchstone.services.selection.filters import FILTER_PARAMETERS
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState
from touchstone.services.selection.projects.dataset_content import ContentChange
from touchstone.services.selection.report.document import (
    Block,
    Cell,
    Column,
    Fact,
    FactList,
    Line,
    Paragraph,
    Row,
    Section,
    Style,
    Table,
    paragraph,
    text_cell,
)
from touchstone.services.selection.report.fact_types import (
    ReportContent,
    ReportedChoice,
    ReportedComparison,
    ReportedDataset,
    ReportedDecision,
    ReportedDifference,
    ReportedNeed,
    ReportedSource,
)
from touchstone.services.selection.report.language import DASH, ReportLanguage
from touchstone.services.selection.report.sections.evidence import origin_of_quote, without_emphasis
from touchstone.services.selection.report.sections.ranking import gate_lines

MAX_VALUE_LENGTH: Final = 200
"""The maximum length of a changed text that the report shows before and after the change."""
SHORT_DIGEST_LENGTH: Final = 12
"""The number of digits of a digest in the history. The JSON format contains all of them."""
_STATE_STYLES: Final = {
    ChosenDatasetState.UNCHANGED: Style.GOOD,
    ChosenDatasetState.CHANGED: Style.UNKNOWN,
    ChosenDatasetState.WITHDRAWN: Style.BAD,
    ChosenDatasetState.UNKNOWN: Style.UNKNOWN,
}


def choice_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the choice, its reason, and the comparison with its rival."""
    blocks: list[Block] = []
    if content.choice is None:
        blocks += [Paragraph(line) for line in lines_without_choice(content, language)]
    else:
        blocks.append(FactList(_choice_facts(content, content.choice, language)))
    if content.comparison is not None:
        blocks += [
            _comparison_table(content.comparison, language),
            paragraph(language.text("reversing_weight_hint"), Style.MUTED),
            _sources_table(content.comparison, content.need, language),
        ]
    if content.history:
        blocks.append(_history_table(content, language))
    return Section("choice", language.text("choice"), blocks)


def lines_without_choice(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield that nothing has been chosen yet, or the choice that was taken back, with the date and the reason."""
    last_choice = next((decision for decision in content.history if decision.dataset is not None), None)
    if last_choice is None or last_choice.dataset is None:
        yield Line(language.text("chosen_nothing"), Style.STRONG)
        return

    name = language.dataset(last_choice.dataset)
    date = language.timestamp(last_choice.superseded_at)
    yield Line(language.text("choice_was_taken_back", name=name, date=date), Style.STRONG)
    # The newest entry of the history is the withdrawal of the choice.
    reason = content.history[0].reason
    if reason:
        yield Line(language.text("reason_given"))
        yield Line(reason, Style.QUOTE)


def _choice_facts(content: ReportContent, choice: ReportedChoice, language: ReportLanguage) -> list[Fact]:
    """Return the chosen dataset with its state, its rank, its gates and the reason for the choice."""
    dataset = choice.dataset
    lines = [Line(language.dataset(dataset), Style.STRONG)]
    if dataset.dataset_id is not None:
        lines.append(Line(language.text("choice_identifier", id=str(dataset.dataset_id)), Style.MUTED))
    facts = [
        Fact(language.text("choice_dataset"), lines),
        *_origin_facts(dataset, language),
        Fact(language.text("choice_state"), list(_state_lines(choice, language))),
    ]
    if dataset.objective:
        objective = Line(without_emphasis(dataset.objective), Style.QUOTE)
        facts.append(Fact(language.text("choice_objective"), [objective]))

    if choice.standing is not None:
        place = language.rank(choice.standing)
        rank = language.text("choice_rank_of", rank=place, total=content.ranking.total_count)
    elif choice.state is ChosenDatasetState.WITHDRAWN:
        rank = language.text("choice_rank_gone")
    else:
        rank = language.text("choice_rank_none")
    facts.append(Fact(language.text("choice_rank"), [Line(rank)]))
    if choice.standing is not None and content.need.gates:
        facts.append(Fact(language.text("gates"), gate_lines(choice.standing, content.need, language)))

    reason = Line(choice.reason, Style.QUOTE) if choice.reason else Line(language.text("reason_none"), Style.BAD)
    facts.append(Fact(language.text("choice_reason"), [reason]))
    return facts


def _origin_facts(dataset: ReportedDataset, language: ReportLanguage) -> Iterator[Fact]:
    """Yield the licence of a dataset, the source that its record names, and the digest of its data file, if known."""
    if UNKNOWN_LICENCE in dataset.licences:
        yield Fact(language.text("choice_licence"), [Line(language.text("licence_unknown"), Style.UNKNOWN)])
    elif dataset.licences:
        licences = language.text("licence_separator").join(dataset.licences)
        yield Fact(language.text("choice_licence"), [Line(licences)])

    source_lines = [Line(text) for text in (dataset.source_name, dataset.source_url) if text]
    if source_lines:
        yield Fact(language.text("choice_source"), source_lines)
    if dataset.data_sha256 is not None:
        digest = language.text("data_digest", sha256=dataset.data_sha256)
        yield Fact(language.text("choice_data_file"), [Line(digest, Style.MUTED)])


def _state_lines(choice: ReportedChoice, language: ReportLanguage) -> Iterator[Line]:
    """Yield the present state of the chosen dataset, its changed fields, and its digest at the time of the choice."""
    yield Line(language.text(f"state_{choice.state}"), _STATE_STYLES[choice.state])
    if choice.changed_fields:
        # The value of an attribute, its evidence and its claims are separate fields with the same label.
        labels = dict.fromkeys(language.field(name) for name in choice.changed_fields)
        yield Line(language.text("changed_fields", fields=language.enumeration(list(labels))))
        yield from _changed_values(choice.changes, language)
    if choice.digest is not None:
        yield Line(language.text("choice_digest", digest=choice.digest), Style.MUTED)


def _changed_values(changes: Sequence[ContentChange], language: ReportLanguage) -> Iterator[Line]:
    """Yield the values before and after each change of a short value. The JSON format contains all of them."""
    for change in changes:
        if _is_short_value(change.before) and _is_short_value(change.after):
            before = _value_text(change.field, change.before, language)
            # The value was known before, so it is not "unknown" like a value that nobody has ever given.
            is_removed = change.after is None and change.before is not None
            after = language.text("value_removed") if is_removed else _value_text(change.field, change.after, language)
            label = language.field(change.field)
            yield Line(language.text("changed_value", label=label, before=before, after=after), Style.MUTED)


def _value_text(field: str, value: Any, language: ReportLanguage) -> str:
    """Return a value of a record as text."""
    return value if isinstance(value, str) else language.attribute_value(field, value)


def _is_short_value(value: object) -> bool:
    """Return whether a value fits on a line: a short text, a number, a truth value or None."""
    return len(value) <= MAX_VALUE_LENGTH if isinstance(value, str) else isinstance(value, bool | int | float | None)


def _history_table(content: ReportContent, language: ReportLanguage) -> Table:
    """Return the table of the newest choices for the project."""
    history, total_count = content.history, content.history_count
    has_authors = any(decision.by for decision in history)
    columns = [
        Column(language.text("decision_date_author" if has_authors else "decision_date"), width=1.5),
        Column(language.text("dataset"), width=1.7),
        Column(language.text("decision_status"), width=0.8),
        Column(language.text("rank"), width=1.5),
        Column(language.text("choice_reason"), width=2.5),
    ]
    rows = [_history_row(decision, content.need, language, has_authors=has_authors) for decision in history]
    caption = language.text("history_caption")
    if len(history) < total_count:
        caption = language.text("history_caption_newest", shown=len(history), total=total_count)
    return Table(caption, columns, rows)


def _history_row(
    decision: ReportedDecision, project_need: ReportedNeed, language: ReportLanguage, *, has_authors: bool
) -> Row:
    """Return the row of one choice in the history.

    `has_authors` is whether the table shows authors, which is the case if the author of any choice in it has a name.
    """
    date_lines = [Line(language.timestamp(decision.at))]
    if has_authors:
        date_lines.append(Line(language.author(decision), Style.MUTED))

    is_current = decision.superseded_at is None
    if is_current:
        status = text_cell(language.text("decision_current"), Style.GOOD)
    else:
        status = text_cell(language.text("decision_replaced"), Style.MUTED)

    dataset_cell = Cell(_lines_of_chosen_dataset(decision, language))
    rank_cell = Cell(_lines_of_rank(decision, project_need, language))
    cells = [Cell(date_lines), dataset_cell, status, rank_cell, _reason_cell(decision, language)]
    return Row(cells, is_emphasized=is_current)


def _lines_of_rank(decision: ReportedDecision, project_need: ReportedNeed, language: ReportLanguage) -> list[Line]:
    """Return the rank of the chosen dataset at the time, and whether it follows from another need than the present."""
    if decision.rank is None or decision.total_count is None:
        return [Line(DASH)]

    place = language.place(decision.place or decision.rank, decision.tied_with)
    lines = [Line(language.text("choice_rank_of", rank=place, total=decision.total_count))]
    if not _is_present_need(decision, project_need):
        lines.append(Line(language.text("rank_by_other_need"), Style.UNKNOWN))
    return lines


def _is_present_need(decision: ReportedDecision, project_need: ReportedNeed) -> bool:
    """Return whether a dataset was chosen by the filters, weights and level of evidence that the project has now."""
    # A choice stores the filters as the project had them, and the same filters can be written in several ways.
    try:
        filters_then = FILTER_PARAMETERS.parse_json(dict(decision.filters), "body", "criteria")
    except Invalid:
        return False

    weights_then = {weight.criterion_name: weight.weight for weight in decision.weights if weight.weight > 0}
    weights_now = {weight.criterion_name: weight.weight for weight in project_need.weights if weight.weight > 0}
    need_then = (dict(filters_then), weights_then, decision.assurance)
    return need_then == (dict(project_need.filters), weights_now, project_need.assurance)


def _lines_of_chosen_dataset(decision: ReportedDecision, language: ReportLanguage) -> list[Line]:
    """Return the name of the chosen dataset, or the statement that the previous choice was taken back."""
    if decision.dataset is None:
        return [Line(language.text("choice_taken_back"), Style.MUTED)]

    lines = [Line(language.dataset(decision.dataset), Style.STRONG)]
    if decision.is_withdrawn:
        lines.append(Line(language.text("withdrawn"), Style.BAD))
    if decision.digest is not None:
        digest_start = decision.digest[:SHORT_DIGEST_LENGTH]
        lines.append(Line(language.text("short_digest", digest=digest_start), Style.MUTED))
    return lines


def _reason_cell(decision: ReportedDecision, language: ReportLanguage) -> Cell:
    """Return a cell with the reason for a choice."""
    if decision.reason:
        return text_cell(decision.reason, Style.QUOTE)
    return text_cell(language.text("reason_none"), Style.MUTED)


def _difference_row(difference: ReportedDifference, language: ReportLanguage) -> Row:
    """Return a row with the difference between two datasets in one criterion."""
    return Row(
        [
            text_cell(language.criterion(difference.criterion_name)),
            _points_cell(difference.weight, difference.above_points, difference.above_value, language),
            _points_cell(difference.weight, difference.below_points, difference.below_value, language),
            text_cell(language.signed(difference.difference)),
            text_cell(language.number(difference.weight)),
            _reversing_weight_cell(difference, language),
        ]
    )


def _points_cell(weight: float, points: float, value: float | None, language: ReportLanguage) -> Cell:
    """Return a cell with the points of a criterion, or with its value if it has no weight and therefore no points."""
    if value is None:
        return text_cell("?", Style.UNKNOWN)
    if weight > 0:
        return text_cell(language.decimal(points))
    return text_cell(language.text("criterion_value", value=language.decimal(value)), Style.MUTED)


def _reversing_weight_cell(difference: ReportedDifference, language: ReportLanguage) -> Cell:
    """Return a cell with the weight of a criterion beyond which the order of two datasets is reversed.

    If the reversing weight is 0, the two datasets have equal scores there but are not reversed.
    """
    weight, reversing_weight = difference.weight, difference.reversing_weight
    if reversing_weight is None:
        return text_cell(DASH)
    if reversing_weight == 0 and weight > 0:
        return Cell([Line(DASH), Line(language.text("tie_at_zero"), Style.MUTED)])

    if reversing_weight >= weight:
        return text_cell(f"> {language.bound(reversing_weight, is_lower=True)}")
    return text_cell(f"< {language.bound(reversing_weight, is_lower=False)}")


def _comparison_table(comparison: ReportedComparison, language: ReportLanguage) -> Table:
    """Return a table with the points of two datasets by criterion, their differences, and a row with the scores."""
    above, below = comparison.above, comparison.below
    columns = [
        Column(language.text("criterion"), width=2),
        Column(above.dataset_name, is_number=True, width=1.5),
        Column(below.dataset_name, is_number=True, width=1.5),
        Column(language.text("difference"), is_number=True),
        Column(language.text("weight"), is_number=True),
        Column(language.text("reversing_weight"), is_number=True, width=1.5),
    ]
    rows = [
        _difference_row(difference, language)
        for difference in comparison.differences
        if difference.weight > 0 or difference.reversing_weight is not None
    ]
    total = Row(
        [
            text_cell(language.text("total"), Style.STRONG),
            text_cell(language.decimal(above.score), Style.STRONG),
            text_cell(language.decimal(below.score), Style.STRONG),
            text_cell(language.signed(above.score - below.score), Style.STRONG),
            text_cell(""),
            text_cell(""),
        ],
        is_emphasized=True,
    )
    caption = language.text("comparison_caption", above=above.dataset_name, below=below.dataset_name)
    return Table(caption, columns, [*rows, total])


def _sources_table(comparison: ReportedComparison, project_need: ReportedNeed, language: ReportLanguage) -> Table:
    """Return a table with the sources of the values that the weighted criteria of two datasets are computed from."""
    columns = [
        Column(language.text("criterion"), width=1),
        Column(comparison.above.dataset_name, width=2),
        Column(comparison.below.dataset_name, width=2),
    ]
    sources_by_column = (comparison.above_sources, comparison.below_sources)
    rows: list[Row] = []
    for weight in project_need.weights:
        name = weight.criterion_name
        source_cells = [Cell(list(_source_lines(name, sources, language))) for sources in sources_by_column]
        rows.append(Row([text_cell(language.criterion(name)), *source_cells]))
    return Table(language.text("sources_caption"), columns, rows)


def _source_lines(criterion: str, sources: Sequence[ReportedSource], language: ReportLanguage) -> Iterator[Line]:
    """Yield the values that a criterion is computed from, each with its level of evidence and its origin."""
    relevant_sources = [source for source in sources if source.attribute in FACTS_BY_CRITERION[criterion]]
    for source in relevant_sources:
        if source.value is not None and source.level is not None:
            name = language.attribute(source.attribute)
            value = language.attribute_value(source.attribute, source.value)
            yield Line(language.text("known_value", name=name, value=value, level=language.level(source.level)))
            yield Line(_origin_of_value(source, language), Style.MUTED)

    unknown_labels = [language.attribute(source.attribute) for source in relevant_sources if source.value is None]
    if len(unknown_labels) == len(relevant_sources):
        yield Line(language.text("nothing_counted"), Style.UNKNOWN)
    elif unknown_labels:
        yield Line(language.text("unknown_names", names=language.enumeration(unknown_labels)), Style.UNKNOWN)


def _origin_of_value(source: ReportedSource, language: ReportLanguage) -> str:
    """Return the origin of a value: the data file, a document, or the person who entered it."""
    if source.quote:
        return origin_of_quote(source) or language.text("quoted_without_source")
    is_measured = source.level is EvidenceLevel.MEASURED
    return language.text("computed_from_file" if is_measured else "merely_declared")
