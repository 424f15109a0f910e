"""The events of a project in order of time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from touchstone.client import Job, Project


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One event in the history of a project.

    Attributes:
        key: The key of its text, without the prefix `event_`.
        at: When it happened.
        job: The job that it is about; None for an event of the project itself.
    """

    key: str
    at: datetime
    job: Job | None = None


def project_timeline(project: Project, jobs: Iterable[Job]) -> tuple[TimelineEvent, ...]:
    """Return the events of a project and its jobs, newest first.

    The service does not record when a project has chosen its dataset. The choice is shown at the time of the project's
    last change, because it cannot have been made later.
    """
    events = [TimelineEvent("project_made", project.created_at)]

    has_chosen = project.chosen_dataset_id is not None
    has_changed = project.updated_at != project.created_at
    if has_chosen:
        events.append(TimelineEvent("choice", project.updated_at))
    elif has_changed:
        events.append(TimelineEvent("project_changed", project.updated_at))

    for job in jobs:
        events.append(TimelineEvent(f"{job.kind}_asked", job.created_at, job))
        if job.finished_at is not None:
            events.append(TimelineEvent(f"job_{job.status}", job.finished_at, job))

    return tuple(sorted(events, key=lambda event: event.at, reverse=True))
