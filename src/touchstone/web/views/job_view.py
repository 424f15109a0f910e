"""The job pages: progress, the measured quality of a model, and the contributions of an explanation."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from touchstone.client import Job
from touchstone.messages.labels import ARTIFACT_LABELS, GROUP_METRIC_LABELS, METRIC_LABELS
from touchstone.web.localizer import Localizer

JsonObject = Mapping[str, Any]

_SEARCH_PHASE: Final = "searching"
_MIN_TRIALS: Final = 3  # trials whose pace is enough for an estimate
_WITHOUT_DECIMALS: Final = 1_000  # From this size on, explained numbers are shown without decimals.
_WITH_ONE_DECIMAL: Final = 100
_MAX_CONTRIBUTIONS: Final = 14  # contributions that are shown one by one
_OTHER_COLUMNS: Final = "…"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A measured metric of a model.

    Attributes:
        label: The name of the metric for readers.
        value: The measured value; None if it is unknown.
        low: The lower end of the confidence interval.
        high: The upper end of the confidence interval.
        baseline: The value of a model that ignores every column; None if it was not measured.
        main: Whether the training has optimized this metric.
    """

    label: str
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    main: bool


@dataclass(frozen=True, slots=True)
class ChartTitle:
    """The name and the title of a chart."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file that a job has produced, with its size and its description, which is empty for unknown files."""

    name: str
    bytes: int | None
    content: str


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The metrics of each group of a sensitive column. `metrics` has their labels by name."""

    column: str
    metrics: Mapping[str, str]
    groups: tuple[JsonObject, ...]
    gaps: JsonObject


@dataclass(frozen=True, slots=True)
class ContributionBar:
    """What one column adds to a prediction, as a bar of a waterfall chart.

    Attributes:
        column: The name of the column.
        value: The value of the column in the explained row; None if it is unknown.
        points: What the column adds to the prediction; negative if it lowers the prediction.
        start: Where the bar begins, as a share of the chart's width.
        width: The length of the bar, as a share of the chart's width.
    """

    column: str
    value: str | None
    points: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class JobTiming:
    """How long a job has been waiting or running, and how long it will probably take.

    Attributes:
        waiting: Whether the job has not started yet.
        seconds: The elapsed seconds, from which the page's script lets a clock run.
        elapsed: The elapsed time as the clock shows it.
        remaining: The estimated remaining time; None if there is no estimate.
    """

    waiting: bool
    seconds: int
    elapsed: str
    remaining: str | None


def localized_text(value: Any, locale: str) -> str:
    """Return a string of a job's result in the reader's language, or an empty string if there is none."""
    if isinstance(value, Mapping):
        return str(value.get(locale, ""))
    return str(value or "")


def progress_text(job: Job, localizer: Localizer) -> str:
    """Return the current step of a running job in words, or an empty string if it is unknown."""
    progress = job.progress
    if progress is None or not progress.message or job.status != "running":
        return ""

    if progress.step is None or progress.total_steps is None or progress.total_steps < 2:
        return progress.message
    return localizer.text("progress_step", message=progress.message, step=progress.step, steps=progress.total_steps)


def job_timing(job: Job, *, localizer: Localizer, now: datetime) -> JobTiming:
    """Return the time that a job has waited or run until `now`, and an estimate of the remaining time."""
    # The clocks of two machines may differ by a little, so a job may seem to have started in the future.
    since = job.started_at or job.created_at
    elapsed_seconds = max(0.0, (now - since).total_seconds())

    remaining_seconds = _estimate_remaining_seconds(job, elapsed_seconds)
    remaining_text = None
    if remaining_seconds is not None:
        remaining_text = localizer.estimated_duration(remaining_seconds)

    return JobTiming(
        waiting=job.started_at is None,
        seconds=int(elapsed_seconds),
        elapsed=format_clock(int(elapsed_seconds)),
        remaining=remaining_text,
    )


def format_clock(seconds: int) -> str:
    """Return a duration as `m:ss`, or `h:mm:ss` from one hour on."""
    hours, remaining_seconds = divmod(seconds, 3600)
    minutes, remaining_seconds = divmod(remaining_seconds, 60)
    if hours:
        return f"{hours}:{minutes:02}:{remaining_seconds:02}"
    return f"{minutes}:{remaining_seconds:02}"


def _estimate_remaining_seconds(job: Job, elapsed_seconds: float) -> float | None:
    """Return how many seconds the model search of a training will probably still take, or None if that is unknown.

    A search tries several models, which take similar times. After three trials, their average is used for the others.
    The estimate never exceeds the time limit of the search. Other phases of a job allow no estimate.
    """
    progress = job.progress
    if job.status != "running" or progress is None or progress.phase != _SEARCH_PHASE:
        return None

    finished_trials = progress.step or 0
    all_trials = progress.total_steps or 0
    if finished_trials < _MIN_TRIALS or all_trials <= finished_trials:
        return None

    seconds_per_trial = elapsed_seconds / finished_trials
    remaining_seconds = seconds_per_trial * (all_trials - finished_trials)

    budget = job.request.get("budget") or {}
    limit_seconds = budget.get("max_runtime_seconds")
    if isinstance(limit_seconds, int | float):
        seconds_until_limit = max(0.0, limit_seconds - elapsed_seconds)
        remaining_seconds = min(remaining_seconds, seconds_until_limit)
    return remaining_seconds


def metric_rows(result: JsonObject, localizer: Localizer) -> tuple[MetricRow, ...]:
    """Return the measured quality of a trained model, one row for each metric.

    The metric that the training has optimized comes first. The values were measured on the test rows or, if the split
    has none, by cross-validation.
    """
    metrics = result.get("metrics") or {}
    measurements = metrics.get("holdout") or metrics.get("folds") or {}
    baselines = metrics.get("baseline") or {}
    main_metric = metrics.get("metric")

    rows = []
    for name, measured in measurements.items():
        row = MetricRow(
            label=_metric_label(METRIC_LABELS, name, localizer),
            value=_point_estimate(measured),
            low=measured.get("low"),
            high=measured.get("high"),
            baseline=_point_estimate(baselines.get(name) or {}),
            main=name == main_metric,
        )
        rows.append(row)

    main_rows = [row for row in rows if row.main]
    other_rows = [row for row in rows if not row.main]
    return (*main_rows, *other_rows)


def _point_estimate(metric: JsonObject) -> float | None:
    """Return the value of a metric: of the test rows, or the mean of the folds."""
    value: float | None = metric.get("value", metric.get("mean"))
    return value


def _metric_label(labels: Mapping[str, tuple[str, str]], name: str, localizer: Localizer) -> str:
    """Return the label of a metric, or its name if it has no label."""
    if name not in labels:
        return name
    return localizer.choose_text(labels[name])


def chart_titles(job: Job, localizer: Localizer) -> tuple[ChartTitle, ...]:
    """Return the charts of a result."""
    charts = (job.result or {}).get("charts") or {}

    titles = []
    for name, chart in charts.items():
        title = localized_text(chart.get("title"), localizer.locale)
        titles.append(ChartTitle(name, title or name))
    return tuple(titles)


def chart_spec(job: Job, name: str, locale: str) -> JsonObject | None:
    """Return the Vega-Lite specification of a chart in a language, or None if the job has no such chart.

    The result of the job has a specification for each language, or a single one if the chart contains no words.
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
    """Return the files that a job has left."""
    files = []
    for artifact in job.artifacts:
        label = ARTIFACT_LABELS.get(artifact.name)
        content = localizer.choose_text(label) if label else ""
        files.append(JobFile(artifact.name, artifact.bytes, content))
    return tuple(files)


def group_tables(result: JsonObject, localizer: Localizer) -> tuple[GroupTable, ...]:
    """Return the metrics by group, one table for each sensitive column."""
    return tuple(_group_table(entry, localizer) for entry in result.get("group_metrics") or ())


def _group_table(entry: JsonObject, localizer: Localizer) -> GroupTable:
    """Return the table that compares the groups of people in one sensitive column, such as women and men.

    It has a row for each group, and a column for each metric that was measured for any of them.
    """
    groups = tuple(entry.get("groups") or ())

    labels = {}
    for group in groups:
        for name in group.get("metrics") or {}:
            labels[name] = _metric_label(GROUP_METRIC_LABELS, name, localizer)

    gaps = entry.get("gaps") or {}
    return GroupTable(entry["column"], labels, groups, gaps)


def contribution_bars(explained_row: JsonObject) -> tuple[ContributionBar, ...]:
    """Return the contribution of each column to one prediction, as the bars of a waterfall chart.

    The first bar begins at the base value, which is the average prediction. Every other bar begins where the one before
    it ends, and the last one ends at the prediction.
    """
    values = explained_row.get("values") or {}
    base_value = float(explained_row["base_value"])
    uncertain_columns = explained_row.get("uncertain") or ()
    contributions = _strongest_contributions(explained_row["attributions"], uncertain_columns)

    # The bar with the number `index` lies between `ends[index]` and `ends[index + 1]`.
    all_points = [points for _, points in contributions]
    ends = list(itertools.accumulate(all_points, initial=base_value))

    lowest = min(ends)
    chart_width = max(ends) - lowest
    if chart_width == 0:
        chart_width = 1.0  # no column adds anything, so all bars are empty

    bars = []
    for index, (column, points) in enumerate(contributions):
        left_end = min(ends[index], ends[index + 1])
        bar = ContributionBar(
            column=column,
            value=values.get(column),
            points=points,
            start=(left_end - lowest) / chart_width,
            width=abs(points) / chart_width,
        )
        bars.append(bar)
    return tuple(bars)


def shown_decimals(explained_row: JsonObject) -> int:
    """Return the number of decimals for the numbers of an explained row. Large numbers need none."""
    size = max(abs(float(explained_row["base_value"])), abs(float(explained_row["prediction"])))
    if size >= _WITHOUT_DECIMALS:
        return 0
    return 1 if size >= _WITH_ONE_DECIMAL else 3


def _strongest_contributions(
    points_by_column: Mapping[str, float], uncertain_columns: Collection[str]
) -> list[tuple[str, float]]:
    """Return the columns that change a prediction most, strongest first, each with the points that it adds.

    The chart has room for a limited number of columns. The points of all others are added up under the name `…`, and
    so are those of `uncertain_columns`, whose contribution may as well be zero.
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
    """Return by how much a column changes the prediction, in either direction."""
    _, points = contribution
    return abs(points)


def influential_columns(result: JsonObject) -> tuple[JsonObject, ...]:
    """Return the columns with an importance or a mean contribution for the model as a whole."""
    entries: Sequence[JsonObject] = result.get("global") or ()

    columns = []
    for entry in entries:
        has_influence = entry.get("importance") or entry.get("shap")
        if "column" in entry and has_influence:
            columns.append(entry)
    return tuple(columns)
