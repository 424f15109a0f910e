"""API calls that document which dataset was chosen in a project, and why.

Every choice is stored in a history. A snapshot stores the ranking behind a choice, for comparison with a later ranking.
The report presents everything to people who were not involved.
"""

from uuid import UUID

from touchstone.client.call import Call, build_path, read_json, read_nothing, without_none
from touchstone.client.choice_models import Choice, ChoicePage, Replay, Snapshot, SnapshotPage, SnapshotSummary
from touchstone.client.document_calls import ReportFormat, read_file
from touchstone.client.models import ExportedFile, Locale


def list_choices(project_id: str | UUID, *, skip: int = 0, limit: int = 100) -> Call[list[Choice]]:
    """List up to 1000 choices that were made in a project, newest first, with their reasons.

    The service never removes a choice from this history.
    """
    query = {"skip": skip, "limit": limit}
    return Call("GET", build_path("projects", project_id, "choices"), read_json(list[Choice]), query=query)


def page_choices(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[ChoicePage]:
    """Return one page of the choices that were made in a project, newest first, with their total number."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "choices"), read_json(ChoicePage), query=query)


def create_snapshot(project_id: str | UUID, *, note: str | None = None, limit: int | None = None) -> Call[Snapshot]:
    """Store the first `limit` datasets in the current ranking of a project, with their records and claims.

    `replay_snapshot` later returns the changes since then. The `note` may explain why the snapshot was made.
    """
    body = without_none(note=note, limit=limit)
    return Call("POST", build_path("projects", project_id, "snapshots"), read_json(Snapshot), json=body)


def list_snapshots(project_id: str | UUID, *, skip: int = 0, limit: int = 100) -> Call[list[SnapshotSummary]]:
    """List up to 1000 snapshots of a project, newest first, without their contents."""
    path = build_path("projects", project_id, "snapshots")
    return Call("GET", path, read_json(list[SnapshotSummary]), query={"skip": skip, "limit": limit})


def page_snapshots(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[SnapshotPage]:
    """Return one page of the snapshots of a project, newest first, without their contents."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "snapshots"), read_json(SnapshotPage), query=query)


def get_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[Snapshot]:
    """Return a snapshot with its content: the need, the choice, and the ranked datasets at that time."""
    return Call("GET", build_path("projects", project_id, "snapshots", snapshot_id), read_json(Snapshot))


def delete_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[None]:
    """Delete a snapshot; the choices in the project are kept."""
    return Call("DELETE", build_path("projects", project_id, "snapshots", snapshot_id), read_nothing)


def replay_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[Replay]:
    """Repeat the ranking of a snapshot with the current catalog, and return the differences."""
    path = build_path("projects", project_id, "snapshots", snapshot_id, "replay")
    return Call("GET", path, read_json(Replay))


def get_report(
    project_id: str | UUID,
    report_format: ReportFormat = "html",
    *,
    lang: Locale | None = None,
) -> Call[ExportedFile]:
    """Return the report of a project as a file, for readers who want to know what was chosen and why.

    It presents the need, the ranking with its reasons, the choice and the evidence. `lang` is its language; the default
    is the language of the client. All formats contain the same digest, the SHA-256 of the facts in the report. The
    service returns an identical file until one of these facts changes.
    """
    path = build_path("projects", project_id, "report")
    return Call("GET", path, read_file("report"), query={"format": report_format, "lang": lang})
