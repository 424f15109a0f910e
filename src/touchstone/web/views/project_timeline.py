"""The events of a project in order of time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from touchstone.client import Choice, Job, Project, SnapshotSummary


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event in the history of a project.

    Attributes:
        key: The key of its text, without the prefix `event_`.
        at: When it happened.
        job: The job that it is about, if it is about one.
        choice: The choice that was made, if it is one.
        snapshot: The snapshot that was taken, if it is one.
    """

    key: str
    at: datetime
    job: Job | None = None
    choice: Choice | None = None
    snapshot: SnapshotSummary | None = None


def project_timeline(
    project: Project, jobs: Iterable[Job], choices: Sequence[Choice], snapshots: Iterable[SnapshotSummary]
) -> tuple[TimelineEvent, ...]:
    """Return the events of a project, newest first: its changes, choices, snapshots and jobs.

    The service records when each choice was made. Of all other changes of the project, it only records the time of the
    latest one, which becomes an event if it is later than the last choice.
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

    # Events of the same time keep the order in which they were collected: a project that was created together with a
    # choice is older than its choice.
    events.sort(key=lambda event: event.at)
    events.reverse()
    return tuple(events)
