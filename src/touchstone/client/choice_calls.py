"""API calls for the choice of a project: its history, snapshots of the ranking, and the report."""

from uuid import UUID

from touchstone.client.call import Call, build_path, read_json, without_none
from touchstone.client.choice_models import Choice, ChoicePage, Replay, Snapshot, SnapshotPage, SnapshotSummary
from touchstone.client.document_calls import ReportFormat, read_file
from touchstone.client.models import ExportedFile, Locale


def list_choices(project_id: str | UUID, *, skip: int = 0, limit: int = 100) -> Call[list[Choice]]:
    """List the choices of a project with their reasons, newest first; nothing is ever removed from this history."""
    query = {"skip": skip, "limit": limit}
    return Call("GET", build_path("projects", project_id, "choices"), read_json(list[Choice]), query=query)


def page_choices(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[ChoicePage]:
    """Return one page of the choices of a project, newest first."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "choices"), read_json(ChoicePage), query=query)


def create_snapshot(project_id: str | UUID, *, note: str | None = None, limit: int | None = None) -> Call[Snapshot]:
    """Freeze the recommendation of a project with its first `limit` datasets, so that it can be replayed later."""
    body = without_none(note=note, limit=limit)
    return Call("POST", build_path("projects", project_id, "snapshots"), read_json(Snapshot), json=body)


def list_snapshots(project_id: str | UUID, *, skip: int = 0, limit: int = 100) -> Call[list[SnapshotSummary]]:
    """List the snapshots of a project without their contents, newest first."""
    path = build_path("projects", project_id, "snapshots")
    return Call("GET", path, read_json(list[SnapshotSummary]), query={"skip": skip, "limit": limit})


def page_snapshots(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[SnapshotPage]:
    """Return one page of the snapshots of a project without their contents, newest first."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "snapshots"), read_json(SnapshotPage), query=query)


def get_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[Snapshot]:
    """Return a snapshot with its content."""
    return Call("GET", build_path("projects", project_id, "snapshots", snapshot_id), read_json(Snapshot))


def replay_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[Replay]:
    """Rank the catalog again as in a snapshot, and return what has changed since and why."""
    path = build_path("projects", project_id, "snapshots", snapshot_id, "replay")
    return Call("GET", path, read_json(Replay))


def get_report(
    project_id: str | UUID,
    format: ReportFormat = "html",  # noqa: A002
    *,
    lang: Locale | None = None,
) -> Call[ExportedFile]:
    """Return the report of a project: the need, the ranking with its reasons, the choice and the evidence.

    The report states what is known and carries the digest of what it states; the same state gives the same bytes.
    """
    path = build_path("projects", project_id, "report")
    return Call("GET", path, read_file("report"), query={"format": format, "lang": lang})
