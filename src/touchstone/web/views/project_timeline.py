"""The timeline of a project."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from touchstone.client import Choice, Job, Project, SnapshotSummary

RECENT_EVENTS: Final = 15  # older events are hidden until the reader unfolds them


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event in the history of a project.

    Attributes:
        key: the message key of the event, without the prefix `event_`.
        at: the time of the event.
        job: the job that was requested or finished; None for other events.
        choice: the choice that was made; None for other events.
        snapshot: the snapshot that was taken; None for other events.
    """

    key: str
    at: datetime
    job: Job | None = None
    choice: Choice | None = None
    snapshot: SnapshotSummary | None = None


def project_timeline(
    project: Project, jobs: Iterable[Job], choices: Sequence[Choice], snapshots: Iterable[SnapshotSummary]
) -> tuple[TimelineEvent, ...]:
    """Return the changes, choices, snapshots and jobs of a project as events, newest first.

    The service stores the time of every choice, but only the time of the latest change of any kind. This change becomes
    an event if it is later than the last choice.
    """
    events = [TimelineEvent("project_made", project.created_at)]

    choice_times = [choice.at for choice in choices]
    last_recorded_change = max([project.created_at, *choice_times])
    if project.updated_at > last_recorded_change:
        events.append(TimelineEvent("project_changed", project.updated_at))

    for choice in reversed(choices):
        key = "choice" if choice.dataset is not None else "choice_taken_back"
        events.append(TimelineEvent(key, choice.at, choice=choice))

    events.extend(TimelineEvent("snapshot", snapshot.at, snapshot=snapshot) for snapshot in snapshots)

    for job in jobs:
        events.append(TimelineEvent(f"{job.kind}_asked", job.created_at, job))
        if job.finished_at is not None:
            events.append(TimelineEvent(f"job_{job.status}", job.finished_at, job))

    # Sorting keeps the order of events at the same time, and reversing inverts it. The creation of a project is thus
    # listed below a choice that was made at the same time.
    events.sort(key=lambda event: event.at)
    events.reverse()
    return tuple(events)
