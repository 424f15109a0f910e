"""The report sections about the trained models with their explanations, and about the limitations of the report."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from touchstone.jobs.job_states import JobState
from touchstone.services.selection.report.document import (
    Block,
    Bullets,
    Cell,
    Column,
    Fact,
    FactList,
    Heading,
    Line,
    Row,
    Section,
    Style,
    Table,
    paragraph,
    text_cell,
)
from touchstone.services.selection.report.fact_types import ReportContent
from touchstone.services.selection.report.job_facts import ReportedExplanation, ReportedTraining
from touchstone.services.selection.report.language import DASH, ReportLanguage

Json = Mapping[str, Any]
SHOWN_FILES: Final = ("model.skops", "predictions.parquet")
"""The files of a training whose digests are shown: the model, and what its metrics can be computed from.

The JSON format contains the digests of all files.
"""


def trials_section(content: ReportContent, language: ReportLanguage) -> Section | None:
    """Return the section about the project's trainings and explanations, or None if none has ended.

    If none has succeeded, the section about limitations says so.
    """
    training_count = sum(content.training_counts.values())
    if training_count == 0 and not content.explanations:
        return None

    blocks: list[Block] = []
    if training_count > 0:
        blocks.append(paragraph(language.text("training_counts", total=training_count, **content.training_counts)))
    if len(content.trainings) < content.training_counts[JobState.SUCCEEDED]:
        blocks.append(paragraph(language.text("trainings_described", shown=len(content.trainings))))
    for training in content.trainings:
        blocks += _training_blocks(training, language)
    for explanation in content.explanations:
        blocks += _explanation_blocks(explanation, language)
    return Section("trials", language.text("training"), blocks)


def _training_blocks(training: ReportedTraining, language: ReportLanguage) -> Iterator[Block]:
    """Yield the results of one training, which are the metrics of the model, also by group, and the warnings."""
    algorithm = language.algorithm(training.algorithm)
    yield Heading(language.text("training_title", target=training.target, algorithm=algorithm))
    yield FactList(_training_facts(training, language))
    yield _metrics_table(training, language)

    for column in training.group_metrics:
        yield _groups_table(column, language)
    if not training.group_metrics:
        yield paragraph(language.text("no_groups"), Style.UNKNOWN)

    if training.warnings:
        lines = [Line(language.translation(warning["text"])) for warning in training.warnings]
        yield FactList([Fact(language.text("training_warnings"), lines)])


def _training_facts(training: ReportedTraining, language: ReportLanguage) -> list[Fact]:
    """Return the data that a model was trained on, the time of the training, and the method of evaluation."""
    numbered_name = language.text("dataset_number", id=str(training.dataset_id or DASH))
    data = language.text(
        "training_data_value",
        name=training.dataset_name or numbered_name,
        rows=training.rows or 0,
        sha256=training.data_sha256 or DASH,
    )
    facts = [
        Fact(language.text("training_job"), _identity_lines(training, language)),
        Fact(language.text("training_data"), [Line(data)]),
        Fact(language.text("training_request"), _request_lines(training, language)),
        Fact(language.text("training_finished"), [Line(language.timestamp(training.finished_at))]),
    ]

    evaluation_lines: list[Line] = []
    if training.folds is not None:
        evaluation_lines.append(Line(language.text("training_folds", folds=training.folds)))
    elif training.test_rows is not None:
        evaluation_lines.append(Line(language.text("training_test_rows", rows=training.test_rows)))
    evaluation_lines += [Line(str(language.translation(text))) for text in training.evaluation]
    if training.learned_from_all_rows:
        evaluation_lines.append(Line(language.text("training_on_all_rows")))
    if evaluation_lines:
        facts.append(Fact(language.text("training_evaluation"), evaluation_lines))

    if training.group_thresholds:
        thresholds = [_threshold_line(entry, language) for entry in training.group_thresholds]
        columns = language.enumeration(training.group_columns)
        facts.append(Fact(language.text("training_thresholds", columns=columns), thresholds))
    return facts


def _identity_lines(training: ReportedTraining, language: ReportLanguage) -> list[Line]:
    """Return the name, the id and the seed of a training, and the digests of its model and of its predictions."""
    lines = [Line(language.text("training_id", id=str(training.job_id)))]
    if training.name:
        lines.insert(0, Line(training.name, Style.STRONG))
    if training.seed is not None:
        lines.append(Line(language.text("training_seed", seed=str(training.seed))))
    lines += [
        Line(language.text("file_digest", name=name, sha256=training.files[name]), Style.MUTED)
        for name in SHOWN_FILES
        if name in training.files
    ]
    return lines


def _request_lines(training: ReportedTraining, language: ReportLanguage) -> list[Line]:
    """Return the request of a training as JSON, and what it is good for."""
    request = json.dumps(training.request, ensure_ascii=False, sort_keys=True)
    return [Line(request, Style.CODE), Line(language.text("training_request_hint"), Style.MUTED)]


def _threshold_line(entry: Json, language: ReportLanguage) -> Line:
    """Return the decision threshold of one group. The group None contains all other groups."""
    group = language.text("other_groups") if entry["group"] is None else str(entry["group"])
    return Line(language.text("labelled", label=group, value=language.number(entry["threshold"])))


def _metrics_table(training: ReportedTraining, language: ReportLanguage) -> Table:
    """Return a table of the model's metrics, with the naive baseline for the metric that selected the model."""
    columns = [
        Column(language.text("metric"), width=3),
        Column(language.text("value"), is_number=True),
        Column(language.text("interval"), is_number=True),
    ]
    rows = [
        Row(
            [text_cell(language.metric(name)), *_estimate_cells(estimate, language)],
            is_emphasized=name == training.metric,
        )
        for name, estimate in training.metrics.items()
    ]

    metric_label = language.metric(training.metric)
    baseline_label = language.text("labelled", label=metric_label, value=language.text("baseline"))
    baseline = [text_cell(baseline_label, Style.MUTED), text_cell(language.number(training.baseline)), text_cell(DASH)]
    return Table(language.text("training_metrics"), columns, [*rows, Row(baseline)])


def _estimate_cells(estimate: Json, language: ReportLanguage) -> list[Cell]:
    """Return the cells for an estimate: its value or mean, and its confidence interval."""
    value = estimate.get("value", estimate.get("mean"))
    low, high = estimate["low"], estimate["high"]
    interval = DASH
    if low is not None and high is not None:
        interval = f"{language.number(low)} – {language.number(high)}"
    return [text_cell(language.number(value)), text_cell(interval)]


def _groups_table(column: Json, language: ReportLanguage) -> Table:
    """Return a table with the quality of a model for each group of one sensitive column."""
    groups: Sequence[Json] = column["groups"]
    metric_names = list(groups[0]["metrics"]) if groups else []
    columns = [
        Column(language.text("group"), width=2),
        Column(language.text("rows"), is_number=True, width=0.8),
        *(Column(language.metric(name), is_number=True, width=1.2) for name in metric_names),
    ]
    rows = [_group_row(group, metric_names, language) for group in groups]
    return Table(language.text("training_groups", column=str(column["column"])), columns, rows)


def _group_row(group: Json, metric_names: Sequence[str], language: ReportLanguage) -> Row:
    """Return a row with the quality of a model for one group. The group None contains the rows with a missing value."""
    name = language.text("missing_group") if group["group"] is None else str(group["group"])
    name_lines = [Line(name)]
    if group["too_small"]:
        name_lines.append(Line(language.text("too_small"), Style.UNKNOWN))

    values = [text_cell(language.number(group["metrics"][metric]["value"])) for metric in metric_names]
    return Row([Cell(name_lines), text_cell(language.integer(group["rows"])), *values])


def _explanation_blocks(explanation: ReportedExplanation, language: ReportLanguage) -> Iterator[Block]:
    """Yield the narrative of one explanation, and the limits of its conclusions."""
    methods = language.enumeration([language.method(name) for name in explanation.methods])
    yield Heading(language.text("explanation_title", methods=methods))
    yield paragraph(str(language.translation(explanation.narrative)))

    facts = [
        Fact(language.text("explanation_subject"), _subject_lines(explanation, language)),
        Fact(language.text("training_finished"), [Line(language.timestamp(explanation.finished_at))]),
    ]
    limits = [Line(sentence) for sentence in language.translation(explanation.limits)]
    if limits:
        facts.append(Fact(language.text("explanation_limits"), limits))
    yield FactList(facts)


def _subject_lines(explanation: ReportedExplanation, language: ReportLanguage) -> list[Line]:
    """Return the training whose model is explained, or the table, with the digest of the file."""
    if explanation.training_id is not None:
        subject = language.text("explained_training", id=str(explanation.training_id))
        name, sha256 = "model.skops", explanation.model_sha256
    else:
        subject = language.text("dataset_number", id=str(explanation.dataset_id or DASH))
        name, sha256 = language.text("training_data"), explanation.data_sha256

    lines = [Line(subject)]
    if sha256 is not None:
        lines.append(Line(language.text("file_digest", name=name, sha256=sha256), Style.MUTED))
    return lines


def limitations_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the limitations of the report."""
    lines = [Line(language.text(f"limit_{code}")) for code in content.limitations]
    return Section("limitations", language.text("limitations"), [Bullets(lines)])
