"""The job pages: progress, the measured quality of a model, and the contributions of an explanation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from touchstone.client import Job
from touchstone.messages.labels import GROUP_METRIC_LABELS, METRIC_LABELS
from touchstone.web.localization import Localizer

JsonObject = Mapping[str, Any]

_SEARCH_PHASE: Final = "searching"
_MIN_TRIALS: Final = 3  # trials whose pace is enough for an estimate
_MAX_CONTRIBUTIONS: Final = 14  # contributions that are shown one by one
_OTHER_COLUMNS: Final = "…"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of the model with its confidence interval and the baseline; `main` for the optimized metric."""

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
class GroupTable:
    """The metrics of each group of a sensitive column; `metrics` are their labels by name."""

    column: str
    metrics: Mapping[str, str]
    groups: tuple[JsonObject, ...]
    gaps: JsonObject


@dataclass(frozen=True, slots=True)
class ContributionBar:
    """What a column adds to a prediction. `start` and `width` of its bar are in 0-1; `value` may be unknown."""

    column: str
    value: str | None
    points: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class JobTiming:
    """How long a job has been waiting or working, and how long it will probably take (None: unknown)."""

    waiting: bool
    seconds: int
    elapsed: str
    remaining: str | None


def localized_text(value: Any, locale: str) -> str:
    """Return a text of a result, which may be given in both languages."""
    return str(value.get(locale, "")) if isinstance(value, Mapping) else str(value or "")


def progress_text(job: Job, localizer: Localizer) -> str:
    """Return what a running job is doing, and in which of its steps; empty if that is unknown."""
    progress = job.progress
    if progress is None or not progress.message or job.status != "running":
        return ""
    if progress.step is None or progress.total_steps is None or progress.total_steps < 2:
        return progress.message
    return localizer.text("progress_step", message=progress.message, step=progress.step, steps=progress.total_steps)


def job_timing(job: Job, *, localizer: Localizer, now: datetime) -> JobTiming:
    """Return how long a job has been waiting or working, and how long it will probably take."""
    since = job.started_at or job.created_at
    elapsed = max(0.0, (now - since).total_seconds())
    remaining = _estimate_remaining(job, elapsed)
    return JobTiming(
        waiting=job.started_at is None,
        seconds=int(elapsed),
        elapsed=format_clock(int(elapsed)),
        remaining=None if remaining is None else localizer.estimated_duration(remaining),
    )


def format_clock(seconds: int) -> str:
    """Return a duration as `m:ss`, or `h:mm:ss` from one hour on."""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _estimate_remaining(job: Job, elapsed: float) -> float | None:
    """Return the remaining seconds of a search; None in every other phase.

    The trials of a search take similar times, so from the third one on their pace allows an estimate. It never exceeds
    the time limit of the search. No other phase tells how much of it is done.
    """
    progress = job.progress
    if job.status != "running" or progress is None or progress.phase != _SEARCH_PHASE:
        return None

    done, total = progress.step or 0, progress.total_steps or 0
    if done < _MIN_TRIALS or total <= done:
        return None

    remaining = elapsed / done * (total - done)
    limit = (job.request.get("budget") or {}).get("max_runtime_seconds")
    if isinstance(limit, int | float):
        remaining = min(remaining, max(0.0, limit - elapsed))
    return remaining


def metric_rows(result: JsonObject, localizer: Localizer) -> tuple[MetricRow, ...]:
    """Return the measured quality of a model, starting with the metric that was optimized."""
    metrics = result.get("metrics") or {}
    measured = metrics.get("holdout") or metrics.get("folds") or {}
    baselines = metrics.get("baseline") or {}
    main_metric = metrics.get("metric")

    rows = []
    for name in sorted(measured, key=lambda name: name != main_metric):
        row = MetricRow(
            label=localizer.either(METRIC_LABELS[name]) if name in METRIC_LABELS else name,
            value=_point_estimate(measured[name]),
            low=measured[name].get("low"),
            high=measured[name].get("high"),
            baseline=_point_estimate(baselines.get(name) or {}),
            main=name == main_metric,
        )
        rows.append(row)
    return tuple(rows)


def _point_estimate(metric: JsonObject) -> float | None:
    """Return the value of a metric: of the test rows, or the mean of the folds."""
    value: float | None = metric.get("value", metric.get("mean"))
    return value


def chart_titles(job: Job, localizer: Localizer) -> tuple[ChartTitle, ...]:
    """Return the charts of a result."""
    charts = (job.result or {}).get("charts") or {}
    return tuple(
        ChartTitle(name, localized_text(chart.get("title"), localizer.locale) or name) for name, chart in charts.items()
    )


def chart_spec(job: Job, name: str, locale: str) -> JsonObject | None:
    """Return the Vega-Lite specification of a chart in a language; None if there is no such chart."""
    chart = ((job.result or {}).get("charts") or {}).get(name)
    if not isinstance(chart, Mapping):
        return None
    specs = chart.get("spec", chart)
    spec = specs.get(locale, specs) if isinstance(specs, Mapping) else None
    return spec if isinstance(spec, Mapping) else None


def group_tables(result: JsonObject, localizer: Localizer) -> tuple[GroupTable, ...]:
    """Return the metrics by group, one table for each sensitive column."""
    return tuple(_group_table(entry, localizer) for entry in result.get("group_metrics") or ())


def _group_table(entry: JsonObject, localizer: Localizer) -> GroupTable:
    groups = tuple(entry.get("groups") or ())
    labels = {}
    for group in groups:
        for name in group.get("metrics") or {}:
            labels[name] = localizer.either(GROUP_METRIC_LABELS[name]) if name in GROUP_METRIC_LABELS else name
    return GroupTable(entry["column"], labels, groups, entry.get("gaps") or {})


def contribution_bars(entry: JsonObject) -> tuple[ContributionBar, ...]:
    """Return what each column adds to one prediction, strongest first; the weakest ones are added up.

    The bars of a waterfall chart: each begins where the one before ends, from the base value to the prediction.
    """
    values = entry.get("values") or {}
    strongest_first = sorted(entry["attributions"].items(), key=lambda item: -abs(item[1]))
    steps = [(name, points, values.get(name)) for name, points in strongest_first[:_MAX_CONTRIBUTIONS]]
    others = strongest_first[_MAX_CONTRIBUTIONS:]
    if others:
        steps.append((_OTHER_COLUMNS, sum(points for _, points in others), None))

    ends = [float(entry["base_value"])]
    for _, points, _ in steps:
        ends.append(ends[-1] + points)
    lowest = min(ends)
    span = (max(ends) - lowest) or 1.0

    return tuple(
        ContributionBar(name, value, points, (min(before, after) - lowest) / span, abs(points) / span)
        for (name, points, value), before, after in zip(steps, ends, ends[1:], strict=False)
    )


def influential_columns(result: JsonObject) -> tuple[JsonObject, ...]:
    """Return the columns with an importance or a mean contribution for the model as a whole."""
    entries: Sequence[JsonObject] = result.get("global") or ()
    return tuple(entry for entry in entries if "column" in entry and (entry.get("importance") or entry.get("shap")))
