"""The job pages: what a training measured, what an explanation attributes, in the words of the reader."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from touchstone.client import Job
from touchstone.messages.labels import GROUP_METRIC_LABELS, METRIC_LABELS
from touchstone.web.rendering import Speech

_SEARCHING: Final = "searching"
_ENOUGH_TRIALS: Final = 3  # trials after which their pace says something about the others
LONGEST: Final = 14  # contributions shown one by one; the rest is summed up


@dataclass(frozen=True, slots=True)
class Score:
    """One metric of the model with its interval, beside the naive baseline's."""

    label: str
    value: float | None
    low: float | None
    high: float | None
    baseline: float | None
    main: bool  # the metric that the search went by


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart of a result, by its name."""

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The metrics of each group of one sensitive column."""

    column: str
    metrics: Mapping[str, str]  # their labels, by name
    groups: tuple[Mapping[str, Any], ...]
    gaps: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one column adds to a prediction; `start` and `width` place its bar in 0-1."""

    column: str
    value: str | None  # the cell, where it is known
    points: float
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a job waits (`waiting`) or works already, and how long it is likely to go on (None: unknown)."""

    waiting: bool
    seconds: int
    elapsed: str
    remaining: str | None


def said(found: Any, locale: str) -> str:
    """A text that a result holds in both languages."""
    return str(found.get(locale, "")) if isinstance(found, Mapping) else str(found or "")


def progress_text(job: Job, speech: Speech) -> str:
    """What the work is doing, in the words of the service, and which step of how many that is."""
    told = job.progress
    if told is None or not told.message or job.status != "running":
        return ""
    if told.step is None or told.total_steps is None or told.total_steps < 2:
        return told.message
    return speech.text("progress_step", message=told.message, step=told.step, steps=told.total_steps)


def timing(job: Job, *, speech: Speech, now: datetime) -> Timing:
    """Return how long a job waits or works already, and how long it is likely to go on.

    What remains is said only during a search, whose trials are alike enough: from the third one on, by the pace so
    far, and never longer than the search may take. No other phase shows how much of it is left.
    """
    since = job.started_at or job.created_at
    elapsed = max(0.0, (now - since).total_seconds())
    seconds = _remaining(job, elapsed)
    return Timing(
        waiting=job.started_at is None,
        seconds=int(elapsed),
        elapsed=clock(int(elapsed)),
        remaining=None if seconds is None else speech.span(seconds),
    )


def clock(seconds: int) -> str:
    """Return a duration as a clock shows it: minutes and seconds, with hours in front once there are any."""
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _remaining(job: Job, elapsed: float) -> float | None:
    progress = job.progress
    if job.status != "running" or progress is None or progress.phase != _SEARCHING:
        return None
    done, total = progress.step or 0, progress.total_steps or 0
    if done < _ENOUGH_TRIALS or total <= done:
        return None
    seconds = elapsed / done * (total - done)
    limit = (job.request.get("budget") or {}).get("max_runtime_seconds")
    return min(seconds, max(0.0, limit - elapsed)) if isinstance(limit, int | float) else seconds


def scores(result: Mapping[str, Any], speech: Speech) -> tuple[Score, ...]:
    """The measured quality, the metric of the search first."""
    metrics = result.get("metrics") or {}
    own = metrics.get("holdout") or metrics.get("folds") or {}
    names = sorted(own, key=lambda name: name != metrics.get("metric"))
    return tuple(_score(name, own[name], metrics, speech) for name in names)


def _score(name: str, own: Mapping[str, Any], metrics: Mapping[str, Any], speech: Speech) -> Score:
    both, naive = METRIC_LABELS.get(name), (metrics.get("baseline") or {}).get(name) or {}
    return Score(
        label=speech.either(both) if both else name,
        value=_middle(own),
        low=own.get("low"),
        high=own.get("high"),
        baseline=_middle(naive),
        main=name == metrics.get("metric"),
    )


def _middle(found: Mapping[str, Any]) -> float | None:
    value: float | None = found.get("value", found.get("mean"))
    return value


def charts(job: Job, speech: Speech) -> tuple[Chart, ...]:
    """The charts of the result."""
    found = (job.result or {}).get("charts") or {}
    return tuple(Chart(name, said(one.get("title"), speech.locale) or name) for name, one in found.items())


def spec_of(job: Job, name: str, locale: str) -> Mapping[str, Any] | None:
    """The Vega-Lite spec of one chart in a language."""
    found = ((job.result or {}).get("charts") or {}).get(name)
    if not isinstance(found, Mapping):
        return None
    spec = found.get("spec", found)
    chosen = spec.get(locale, spec) if isinstance(spec, Mapping) else None
    return chosen if isinstance(chosen, Mapping) else None


def group_tables(result: Mapping[str, Any], speech: Speech) -> tuple[GroupTable, ...]:
    """Quality by group, one table a sensitive column."""
    return tuple(_groups(one, speech) for one in result.get("group_metrics") or ())


def _groups(found: Mapping[str, Any], speech: Speech) -> GroupTable:
    groups = tuple(found.get("groups") or ())
    names = dict.fromkeys(name for group in groups for name in group.get("metrics") or {})
    labels = {name: speech.either(GROUP_METRIC_LABELS[name]) if name in GROUP_METRIC_LABELS else name for name in names}
    return GroupTable(found["column"], labels, groups, found.get("gaps") or {})


def contributions(entry: Mapping[str, Any]) -> tuple[Contribution, ...]:
    """What each column adds to one prediction, strongest first, laid out from the base value to the prediction."""
    values = entry.get("values") or {}
    ordered = sorted(entry["attributions"].items(), key=lambda one: -abs(one[1]))
    steps = [(name, points, values.get(name)) for name, points in ordered[:LONGEST]]
    if rest := ordered[LONGEST:]:
        steps.append(("…", sum(points for _, points in rest), None))
    return _laid_out(float(entry["base_value"]), steps)


def _laid_out(base: float, steps: Sequence[tuple[str, float, str | None]]) -> tuple[Contribution, ...]:
    ends = [base]
    for _, points, _ in steps:
        ends.append(ends[-1] + points)
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    return tuple(
        Contribution(name, value, points, (min(before, after) - low) / span, abs(points) / span)
        for (name, points, value), before, after in zip(steps, ends, ends[1:], strict=False)
    )


def influences(result: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """What matters to the model as a whole: the columns with an importance or a mean contribution."""
    rows = result.get("global") or ()
    return tuple(row for row in rows if "column" in row and (row.get("importance") or row.get("shap")))
