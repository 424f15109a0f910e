"""What happened in a project, in order."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from touchstone.client import Job, Project


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: a key of the texts, when, and the job it is about."""

    key: str
    at: datetime
    job: Job | None = None


def timeline(project: Project, jobs: Iterable[Job]) -> tuple[Event, ...]:
    """The project's making, its present choice and last change, and its jobs' starts and ends; newest first.

    When a choice was made is not recorded: it stands at the project's last change, the latest that it can have been.
    """
    events = [Event("project_made", project.created_at)]
    if project.chosen_dataset_id is not None:
        events.append(Event("choice", project.updated_at))
    elif project.updated_at != project.created_at:
        events.append(Event("project_changed", project.updated_at))
    for job in jobs:
        events.append(Event(f"{job.kind}_asked", job.created_at, job))
        if job.finished_at is not None:
            events.append(Event(f"job_{job.status}", job.finished_at, job))
    return tuple(sorted(events, key=lambda event: event.at, reverse=True))
