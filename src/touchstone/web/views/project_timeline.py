"""The events of a project in order of time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from touchstone.client import Job, Project


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event: the key of its text (`event_<key>`), its time, and the job that it is about."""

    key: str
    at: datetime
    job: Job | None = None


def project_timeline(project: Project, jobs: Iterable[Job]) -> tuple[TimelineEvent, ...]:
    """Return the events of a project and its jobs, newest first.

    The time of a choice is not recorded. It is shown at the project's last change, the latest possible time.
    """
    events = [TimelineEvent("project_made", project.created_at)]
    if project.chosen_dataset_id is not None:
        events.append(TimelineEvent("choice", project.updated_at))
    elif project.updated_at != project.created_at:
        events.append(TimelineEvent("project_changed", project.updated_at))

    for job in jobs:
        events.append(TimelineEvent(f"{job.kind}_asked", job.created_at, job))
        if job.finished_at is not None:
            events.append(TimelineEvent(f"job_{job.status}", job.finished_at, job))

    return tuple(sorted(events, key=lambda event: event.at, reverse=True))
