"""The report section that compares the models trained on several datasets."""

from touchstone.services.selection.report.document import (
    Block,
    Cell,
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
from touchstone.services.selection.report.fact_types import ReportContent
from touchstone.services.selection.report.language import DASH, ReportLanguage
from touchstone.services.selection.report.model_comparison_facts import (
    ReportedModel,
    ReportedModelComparison,
    ReportedOmission,
)


def model_comparison_section(content: ReportContent, language: ReportLanguage) -> Section | None:
    """Return the section about the newest finished comparison of models, or None if there is none."""
    comparison = content.model_comparison
    if comparison is None:
        return None

    blocks: list[Block] = [
        paragraph(str(language.translation(comparison.summary))),
        _models_table(comparison, language),
        FactList([Fact(language.text("training_finished"), [Line(language.timestamp(comparison.finished_at))])]),
    ]
    if comparison.left_out:
        lines = [Line(_omission_sentence(omission, language)) for omission in comparison.left_out]
        blocks.append(FactList([Fact(language.text("models_left_out"), lines)]))
    return Section("models", language.text("models"), blocks)


def _models_table(comparison: ReportedModelComparison, language: ReportLanguage) -> Table:
    """Return a table with one row per model, best first."""
    # Datasets that the user named have no rank.
    has_ranks = any(model.rank is not None for model in comparison.models)
    rank_columns = [Column(language.text("models_rank"), is_number=True)] if has_ranks else []
    columns = [
        Column(language.text("models_place"), is_number=True),
        Column(language.text("dataset"), width=3),
        *rank_columns,
        Column(language.text("metric"), width=1.6),
        Column(language.text("value"), is_number=True),
        Column(language.text("interval"), is_number=True, width=1.4),
        Column(language.text("models_baseline"), is_number=True, width=1.2),
    ]
    rows = [
        Row(_model_cells(model, language, has_ranks=has_ranks), is_emphasized=model.place == 1)
        for model in comparison.models
    ]
    return Table(language.text("models_table"), columns, rows)


def _model_cells(model: ReportedModel, language: ReportLanguage, *, has_ranks: bool) -> list[Cell]:
    """Return the cells of the row of one model, with the rank of its dataset if the table has a column for it."""
    interval = DASH
    if model.low is not None and model.high is not None:
        interval = f"{language.number(model.low)} – {language.number(model.high)}"

    dataset_lines = [Line(model.name)]
    if model.target is not None:
        dataset_lines.append(Line(language.text("models_target", target=model.target), Style.MUTED))
    if model.overlaps_best:
        dataset_lines.append(Line(language.text("models_overlap"), Style.UNKNOWN))
    if model.warnings:
        dataset_lines.append(Line(language.text("models_warnings", count=model.warnings), Style.UNKNOWN))

    rank_cells = [text_cell(DASH if model.rank is None else language.integer(model.rank))] if has_ranks else []
    return [
        text_cell(DASH if model.place is None else language.place(model.place, model.tied_with)),
        Cell(dataset_lines),
        *rank_cells,
        text_cell(DASH if model.metric is None else language.metric(model.metric)),
        text_cell(language.number(model.value)),
        text_cell(interval),
        text_cell(language.number(model.baseline)),
    ]


def _omission_sentence(omission: ReportedOmission, language: ReportLanguage) -> str:
    """Return the name of a dataset that was left out of the comparison, and the reason."""
    reason = str(language.translation(omission.reason))
    return language.text("labelled", label=omission.name, value=reason)
