"""The progress of jobs, the quality of trained models and the results of explanations."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from touchstone.client import Job
from touchstone.learning.baseline_comparison import measured_estimates, point_estimate
from touchstone.messages.labels import ARTIFACT_LABELS, GROUP_METRIC_LABELS, METRIC_LABELS
from touchstone.web.localizer import Localizer
from touchstone.web.views.chart_table import ChartTable, build_chart_table

JsonObject = Mapping[str, Any]

_SEARCH_PHASE: Final = "searching"
_MIN_TRIALS_FOR_ESTIMATE: Final = 3  # fewer finished trials do not allow an estimate of the remaining time
_MIN_SIZE_WITHOUT_DECIMALS: Final = 1_000  # explained numbers from this size on have no decimals
_MIN_SIZE_WITH_ONE_DECIMAL: Final = 100
_MAX_CONTRIBUTIONS: Final = 14  # columns with a separate bar in the chart
_OTHER_COLUMNS: Final = "…"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A measured metric of a model.

    Attributes:
        label: the name of the metric for readers.
        value: the measured value; None if it is unknown.
        low: the lower end of the confidence interval.
        high: the upper end of the confidence interval.
        baseline: the value of a trivial model that ignores every column; None if it was not measured.
        is_main: whether the training has optimized this metric.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    is_main: bool


@dataclass(frozen=True, slots=True)
class ChartView:
    """A chart of a job.

    Attributes:
        name: its name in the result.
        title: its localized title.
        table: its values; None if the chart has too many, or if the page states them elsewhere.
    """

    name: str
    title: str
    table: ChartTable | None


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file that a job has produced.

    Attributes:
        name: the name of the file.
        bytes: the size in bytes; None if it is unknown.
        content: a description of the content; empty for unknown files.
    """

    name: str
    bytes: int | None
    content: str


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The metrics of each group of people in one sensitive column.

    Attributes:
        column: the name of the column.
        metrics: the labels of the metrics, by name.
        groups: the groups with their metrics, as in the result of the job.
        gaps: the largest difference between groups for each metric, as in the result of the job.
        class_tables: the rates of each class by its name, if there are more than two classes.
    """

    column: str
    metrics: Mapping[str, str]
    groups: tuple[JsonObject, ...]
    gaps: JsonObject
    class_tables: Mapping[str, "GroupTable"]


@dataclass(frozen=True, slots=True)
class ContributionBar:
    """The contribution of one column to a prediction, as a bar of a waterfall chart.

    Attributes:
        column: the name of the column.
        value: the value of the column in the explained row; None if it is unknown.
        points: the amount that the column adds to the prediction; negative if it lowers the prediction.
        start: the left end of the bar, as a share of the chart width.
        width: the length of the bar, as a share of the chart width.
    """

    column: str
    value: str | None
    points: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class JobTiming:
    """The time that a job has waited or run, and the estimated remaining time.

    Attributes:
        is_waiting: whether the job has not started yet.
        seconds: the elapsed seconds. The script of the page starts its clock with them.
        elapsed: the elapsed time, formatted for the clock.
        remaining: the estimated remaining time, formatted for display; None if there is no estimate.
    """

    is_waiting: bool
    seconds: int
    elapsed: str
    remaining: str | None


def localized_text(value: Any, locale: str) -> str:
    """Return a text in the result of a job in the given language, or an empty string if there is none.

    Args:
        value: the text by language, a single string for all languages, or None.
        locale: the language, `fr` or `en`.
    """
    if isinstance(value, Mapping):
        return str(value.get(locale, ""))
    return str(value or "")


def progress_text(job: Job, localizer: Localizer) -> str:
    """Describe the current step of a running job, or return an empty string if it is unknown."""
    progress = job.progress
    if progress is None or not progress.message or job.status != "running":
        return ""

    if progress.step is None or progress.total_steps is None or progress.total_steps < 2:
        return progress.message
    return localizer.text("progress_step", message=progress.message, step=progress.step, steps=progress.total_steps)


def job_timing(job: Job, *, localizer: Localizer, now: datetime) -> JobTiming:
    """Return the time that a job has waited or run until `now`, and an estimate of the remaining time."""
    start = job.started_at or job.created_at
    # The clocks of two machines may differ slightly, so a job may seem to have started in the future.
    elapsed_seconds = max(0.0, (now - start).total_seconds())

    remaining_seconds = _estimate_remaining_seconds(job, elapsed_seconds)
    remaining_text = None
    if remaining_seconds is not None:
        remaining_text = localizer.estimated_duration(remaining_seconds)

    return JobTiming(
        is_waiting=job.started_at is None,
        seconds=int(elapsed_seconds),
        elapsed=format_clock(int(elapsed_seconds)),
        remaining=remaining_text,
    )


def format_clock(seconds: int) -> str:
    """Format a duration as `m:ss`, or as `h:mm:ss` from one hour on."""
    hours, remaining_seconds = divmod(seconds, 3600)
    minutes, remaining_seconds = divmod(remaining_seconds, 60)
    if hours:
        return f"{hours}:{minutes:02}:{remaining_seconds:02}"
    return f"{minutes}:{remaining_seconds:02}"


def _estimate_remaining_seconds(job: Job, elapsed_seconds: float) -> float | None:
    """Estimate the remaining seconds of a model search, or return None if that is not possible.

    A search tries several models, and the trials take similar times. The estimate multiplies their average time by the
    number of remaining trials, and never exceeds the time limit of the search. Other phases of a job allow no estimate.
    """
    progress = job.progress
    if job.status != "running" or progress is None or progress.phase != _SEARCH_PHASE:
        return None

    finished_trials = progress.step or 0
    remaining_trials = (progress.total_steps or 0) - finished_trials
    if finished_trials < _MIN_TRIALS_FOR_ESTIMATE or remaining_trials <= 0:
        return None

    seconds_per_trial = elapsed_seconds / finished_trials
    remaining_seconds = seconds_per_trial * remaining_trials

    budget = job.request.get("budget") or {}
    limit_seconds = budget.get("max_runtime_seconds")
    if isinstance(limit_seconds, int | float):
        seconds_until_limit = max(0.0, limit_seconds - elapsed_seconds)
        remaining_seconds = min(remaining_seconds, seconds_until_limit)
    return remaining_seconds


def metric_rows(result: JsonObject, localizer: Localizer) -> tuple[MetricRow, ...]:
    """Return one row for each measured metric of a trained model, beginning with the optimized metric.

    The metrics were measured on the test rows or, if there are none, by cross-validation.
    """
    metrics = result.get("metrics") or {}
    baseline_estimates = metrics.get("baseline") or {}
    main_metric = metrics.get("metric")

    rows = []
    for name, estimate in measured_estimates(metrics).items():
        row = MetricRow(
            label=_metric_label(METRIC_LABELS, name, localizer),
            value=point_estimate(estimate),
            low=estimate.get("low"),
            high=estimate.get("high"),
            baseline=point_estimate(baseline_estimates.get(name) or {}),
            is_main=name == main_metric,
        )
        rows.append(row)

    rows.sort(key=lambda row: not row.is_main)
    return tuple(rows)


def _metric_label(labels: Mapping[str, tuple[str, str]], name: str, localizer: Localizer) -> str:
    """Return the localized label of a metric, or its name if it has no label."""
    if name not in labels:
        return name
    return localizer.choose_text(labels[name])


def job_charts(job: Job, localizer: Localizer) -> tuple[ChartView, ...]:
    """Return the charts in the result of a job, with localized titles."""
    charts = (job.result or {}).get("charts") or {}

    views = []
    for name, chart in charts.items():
        title = localized_text(chart.get("title"), localizer.locale)
        specification = chart_spec(job, name, localizer.locale)
        table = build_chart_table(name, specification, localizer) if specification else None
        views.append(ChartView(name, title or name, table))
    return tuple(views)


def chart_spec(job: Job, name: str, locale: str) -> JsonObject | None:
    """Return the Vega-Lite specification of a chart, or None if the job has no such chart.

    The result of a job has a specification for each language, or a single one if the chart contains no words.
    """
    charts = (job.result or {}).get("charts") or {}
    chart = charts.get(name)
    if not isinstance(chart, Mapping):
        return None

    specification = chart.get("spec", chart)
    if isinstance(specification, Mapping) and locale in specification:
        specification = specification[locale]
    return specification if isinstance(specification, Mapping) else None


def job_files(job: Job, localizer: Localizer) -> tuple[JobFile, ...]:
    """Return the files that a job has produced, with localized descriptions."""
    files = []
    for artifact in job.artifacts:
        label = ARTIFACT_LABELS.get(artifact.name)
        content = localizer.choose_text(label) if label else ""
        files.append(JobFile(artifact.name, artifact.bytes, content))
    return tuple(files)


def group_tables(result: JsonObject, localizer: Localizer) -> tuple[GroupTable, ...]:
    """Return the metrics by group of people, with one table for each sensitive column."""
    return tuple(_group_table(column_metrics, localizer) for column_metrics in result.get("group_metrics") or ())


def _group_table(column_metrics: JsonObject, localizer: Localizer) -> GroupTable:
    """Return the table that compares the groups in a sensitive column, such as women and men.

    It has a row for each group, and a column for each metric that was measured for at least one group.
    """
    groups = tuple(column_metrics.get("groups") or ())

    labels = {}
    for group in groups:
        for name in group.get("metrics") or {}:
            labels[name] = _metric_label(GROUP_METRIC_LABELS, name, localizer)

    gaps = column_metrics.get("gaps") or {}
    class_tables = {
        class_name: _group_table(_metrics_of_class(column_metrics, class_name), localizer)
        for class_name in column_metrics.get("class_gaps") or {}
    }
    return GroupTable(column_metrics["column"], labels, groups, gaps, class_tables)


def _metrics_of_class(column_metrics: JsonObject, class_name: str) -> JsonObject:
    """Return the metrics of a sensitive column for one class, in the form of the metrics for all classes."""
    groups = [{**group, "metrics": group["classes"][class_name]} for group in column_metrics["groups"]]
    return {"column": column_metrics["column"], "groups": groups, "gaps": column_metrics["class_gaps"][class_name]}


def contribution_bars(explained_row: JsonObject) -> tuple[ContributionBar, ...]:
    """Return the contributions of the columns to one prediction, as the bars of a waterfall chart.

    The first bar begins at the base value, which is the average prediction. Each of the others begins at the end of the
    previous bar, and the last bar ends at the prediction.
    """
    values = explained_row.get("values") or {}
    base_value = float(explained_row["base_value"])
    uncertain_columns = explained_row.get("uncertain") or ()
    contributions = _strongest_contributions(explained_row["attributions"], uncertain_columns)

    # Each bar lies between two consecutive levels.
    all_points = [points for _, points in contributions]
    levels = list(itertools.accumulate(all_points, initial=base_value))

    lowest_level = min(levels)
    chart_width = max(levels) - lowest_level
    if chart_width == 0:
        chart_width = 1.0  # no column contributes anything, so all bars are empty

    bars = []
    for (column, points), ends in zip(contributions, itertools.pairwise(levels), strict=True):
        left_end = min(ends)
        bar = ContributionBar(
            column=column,
            value=values.get(column),
            points=points,
            start=(left_end - lowest_level) / chart_width,
            width=abs(points) / chart_width,
        )
        bars.append(bar)
    return tuple(bars)


def shown_decimals(explained_row: JsonObject) -> int:
    """Return the number of decimals for the numbers of an explained row; large numbers need none."""
    base_value = float(explained_row["base_value"])
    prediction = float(explained_row["prediction"])
    size = max(abs(base_value), abs(prediction))
    if size >= _MIN_SIZE_WITHOUT_DECIMALS:
        return 0
    return 1 if size >= _MIN_SIZE_WITH_ONE_DECIMAL else 3


def _strongest_contributions(
    points_by_column: Mapping[str, float], uncertain_columns: Collection[str]
) -> list[tuple[str, float]]:
    """Return the columns with the strongest contributions to a prediction, strongest first.

    The chart has room for a limited number of columns. The contributions of all other columns are added up under the
    name `…`, and so are the contributions of `uncertain_columns`, which may be due to chance.
    """
    strongest_first = sorted(points_by_column.items(), key=_contribution_strength, reverse=True)
    certain = [(column, points) for column, points in strongest_first if column not in uncertain_columns]
    uncertain = [(column, points) for column, points in strongest_first if column in uncertain_columns]

    shown = certain[:_MAX_CONTRIBUTIONS]
    others = certain[_MAX_CONTRIBUTIONS:] + uncertain
    if others:
        other_points = sum(points for _, points in others)
        shown.append((_OTHER_COLUMNS, other_points))
    return shown


def _contribution_strength(contribution: tuple[str, float]) -> float:
    """Return the amount by which a column raises or lowers the prediction."""
    _, points = contribution
    return abs(points)


def influential_columns(result: JsonObject) -> tuple[JsonObject, ...]:
    """Return the columns with an importance or a mean SHAP value for the model as a whole."""
    entries: Sequence[JsonObject] = result.get("global") or ()

    columns = []
    for entry in entries:
        has_influence = entry.get("importance") or entry.get("shap")
        if "column" in entry and has_influence:
            columns.append(entry)
    return tuple(columns)
