"""API calls that document which dataset was chosen in a project, and why.

Every choice is kept in a history. A snapshot keeps the ranking that a choice was based on, so that it can be compared
with the ranking of a later day, and the report presents all of it to people who were not involved.
"""

from uuid import UUID

from touchstone.client.call import Call, build_path, read_json, read_nothing, without_none
from touchstone.client.choice_models import Choice, ChoicePage, Replay, Snapshot, SnapshotPage, SnapshotSummary
from touchstone.client.document_calls import ReportFormat, read_file
from touchstone.client.models import ExportedFile, Locale


def list_choices(project_id: str | UUID, *, skip: int = 0, limit: int = 100) -> Call[list[Choice]]:
    """List the choices that were made in a project, newest first, each with its reason.

    The service never removes anything from this history.
    """
    query = {"skip": skip, "limit": limit}
    return Call("GET", build_path("projects", project_id, "choices"), read_json(list[Choice]), query=query)


def page_choices(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[ChoicePage]:
    """Return one page of the choices that were made in a project, newest first, with their total number."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "choices"), read_json(ChoicePage), query=query)


def create_snapshot(project_id: str | UUID, *, note: str | None = None, limit: int | None = None) -> Call[Snapshot]:
    """Keep the first `limit` datasets of the ranking of a project as they are now, with their records and claims.

    `replay_snapshot` later tells what has changed since then. The `note` may say why the snapshot was made.
    """
    body = without_none(note=note, limit=limit)
    return Call("POST", build_path("projects", project_id, "snapshots"), read_json(Snapshot), json=body)


def list_snapshots(project_id: str | UUID, *, skip: int = 0, limit: int = 100) -> Call[list[SnapshotSummary]]:
    """List the snapshots of a project, newest first, without their contents."""
    path = build_path("projects", project_id, "snapshots")
    return Call("GET", path, read_json(list[SnapshotSummary]), query={"skip": skip, "limit": limit})


def page_snapshots(project_id: str | UUID, *, page: int = 1, page_size: int = 12) -> Call[SnapshotPage]:
    """Return one page of the snapshots of a project, newest first, without their contents."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("projects", project_id, "snapshots"), read_json(SnapshotPage), query=query)


def get_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[Snapshot]:
    """Return a snapshot with its content: the need, the choice, and the ranked datasets as they were."""
    return Call("GET", build_path("projects", project_id, "snapshots", snapshot_id), read_json(Snapshot))


def delete_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[None]:
    """Delete a snapshot; the choices that were made in the project stay."""
    return Call("DELETE", build_path("projects", project_id, "snapshots", snapshot_id), read_nothing)


def replay_snapshot(project_id: str | UUID, snapshot_id: str | UUID) -> Call[Replay]:
    """Repeat the ranking of a snapshot with the present catalog, and return what differs from the snapshot and why."""
    path = build_path("projects", project_id, "snapshots", snapshot_id, "replay")
    return Call("GET", path, read_json(Replay))


def get_report(
    project_id: str | UUID,
    report_format: ReportFormat = "html",
    *,
    lang: Locale | None = None,
) -> Call[ExportedFile]:
    """Return the report of a project as a file, for people who want to know what was chosen and why.

    It presents the need, the ranking with its reasons, the choice and the evidence. `lang` is its language; by default,
    it is that of the client. Every format has the same digest, the SHA-256 of all that the report states. As long as
    nothing that the report states has changed, the service returns exactly the same file.
    """
    path = build_path("projects", project_id, "report")
    return Call("GET", path, read_file("report"), query={"format": report_format, "lang": lang})
