"""The commands of `touchstone project` that document which dataset was chosen, and why.

`choices` lists all choices. `snapshot` stores the current ranking, `snapshots` and `delete-snapshot` manage the stored
ones, and `replay` shows the changes since a snapshot. `report` writes a file for people who were not involved, and
`verify-report` checks the digest of this file.
"""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import ExitStatus, exit_with_error, server_command
from touchstone.cli.file_output import STANDARD_STREAM, OutputPath, write_file
from touchstone.cli.local_command import local_command
from touchstone.cli.ranking_tables import DASH, format_place, format_shared_place
from touchstone.cli.tables import Column, build_facts_table, build_table, format_value
from touchstone.client import Choice, Replay, ReplayedDataset, Snapshot, SnapshotSummary
from touchstone.core.canonical_json import canonical_digest
from touchstone.core.json_decoding import decode_json

choice = typer.Typer()  # these commands become part of `touchstone project`

DIGEST_CHARACTERS_SHOWN: Final = 12  # in a table; JSON output contains the whole digest


def _author_name(choice: Choice) -> str:
    """Return the pseudonym of the user who made a choice, the id without one, or an empty string if unknown."""
    if choice.by is None:
        return ""
    return choice.by.pseudo or str(choice.by.id)


def _dataset_name(choice: Choice) -> str:
    """Return the name of the chosen dataset, which is marked if it was withdrawn, or `(none)`."""
    dataset = choice.dataset
    if dataset is None:
        return "(none)"
    if dataset.withdrawn:
        return f"{dataset.name} (withdrawn)"
    return dataset.name


def _place_when_chosen(choice: Choice) -> str:
    """Return the place of a dataset when it was chosen, or a dash if it was not ranked."""
    return DASH if choice.ranking is None else format_place(choice.ranking)


def _digest_when_chosen(choice: Choice) -> str:
    """Return the beginning of the digest of the chosen dataset, or an empty string without one."""
    if choice.dataset is None or choice.dataset.digest is None:
        return ""
    return choice.dataset.digest[:DIGEST_CHARACTERS_SHOWN]


def _rank_change(dataset: ReplayedDataset) -> str:
    """Return the place of a dataset in a snapshot and its place now, such as `3 = → 1`."""
    place, tied_with = dataset.place, dataset.tied_with
    return _before_and_after(
        format_shared_place(place.before, tied_with.before), format_shared_place(place.after, tied_with.after)
    )


def _score_change(dataset: ReplayedDataset) -> str:
    """Return the score of a dataset in a snapshot and its score now."""
    return _before_and_after(dataset.score.before, dataset.score.after)


def _before_and_after(before: float | str | None, after: float | str | None) -> str:
    """Return the values before and after a change with an arrow between them, or a single unchanged value."""
    if before == after:
        return format_value(after)
    return f"{format_value(before)} → {format_value(after)}"


CHOICE_COLUMNS: Final = (
    Column[Choice]("At", lambda choice: choice.at),
    Column[Choice]("By", _author_name),
    Column[Choice]("Dataset", _dataset_name),
    Column[Choice]("Place", _place_when_chosen, is_key=True),
    Column[Choice]("Reason", lambda choice: choice.reason or ""),
    Column[Choice]("Digest", _digest_when_chosen, is_key=True),
)
SNAPSHOT_COLUMNS: Final = (
    Column[SnapshotSummary]("Id", lambda snapshot: snapshot.id, is_key=True),
    Column[SnapshotSummary]("At", lambda snapshot: snapshot.at),
    Column[SnapshotSummary]("Note", lambda snapshot: snapshot.note or ""),
    Column[SnapshotSummary]("Datasets", lambda snapshot: snapshot.item_count, is_number=True),
    Column[SnapshotSummary]("Digest", lambda snapshot: snapshot.sha256[:DIGEST_CHARACTERS_SHOWN], is_key=True),
)
REPLAY_COLUMNS: Final = (
    Column[ReplayedDataset]("Rank", _rank_change, is_key=True),
    Column[ReplayedDataset]("Score", _score_change, is_key=True),
    Column[ReplayedDataset]("Name", lambda dataset: dataset.dataset_name),
    Column[ReplayedDataset]("Status", lambda dataset: dataset.status, is_key=True),
    Column[ReplayedDataset]("Because of", lambda dataset: dataset.reason or "", is_key=True),
    Column[ReplayedDataset]("Changed", lambda dataset: [change.field for change in dataset.changes]),
)
ProjectId = Annotated[str, typer.Argument(help="Id of the project.")]
SnapshotId = Annotated[str, typer.Argument(help="Id of the snapshot.")]


@server_command(choice, "choices")
def list_choices(project_id: ProjectId, *, context: CommandContext) -> None:
    """List every choice that was made in a project, newest first, with its reason."""
    history = context.client.list_choices(project_id)
    context.show(history, build_table(CHOICE_COLUMNS, history))


@server_command(choice, "snapshot")
def create_snapshot(
    project_id: ProjectId,
    note: Annotated[str | None, typer.Option(help="The reason for the snapshot.")] = None,
    limit: Annotated[int | None, typer.Option(help="How many datasets, best first (default: 20).")] = None,
    *,
    context: CommandContext,
) -> None:
    """Store the current ranking of a project, so that you can show it later."""
    snapshot = context.client.create_snapshot(project_id, note=note, limit=limit)
    context.show(snapshot, _snapshot_table(snapshot))


def _snapshot_table(snapshot: Snapshot) -> Table:
    """Return a table with the size and the digest of a new snapshot."""
    values_by_label = {
        "Id": snapshot.id,
        "At": snapshot.at,
        "Note": snapshot.note,
        "Datasets": f"{snapshot.item_count} of {snapshot.total_count}",
        "SHA-256": snapshot.sha256,
    }
    return build_facts_table(values_by_label, title="Snapshot")


@server_command(choice, "snapshots")
def list_snapshots(project_id: ProjectId, *, context: CommandContext) -> None:
    """List the snapshots of a project, newest first."""
    summaries = context.client.list_snapshots(project_id)
    context.show(summaries, build_table(SNAPSHOT_COLUMNS, summaries))


@server_command(choice, "delete-snapshot")
def delete_snapshot(project_id: ProjectId, snapshot_id: SnapshotId, *, context: CommandContext) -> None:
    """Delete a snapshot; the choices in the project are kept."""
    context.client.delete_snapshot(project_id, snapshot_id)
    context.show(None, f"Snapshot {snapshot_id} is deleted.")


@server_command(choice, "replay")
def replay_snapshot(project_id: ProjectId, snapshot_id: SnapshotId, *, context: CommandContext) -> None:
    """Repeat the ranking of a snapshot with the current catalog, and show the changes with their reasons."""
    replay = context.client.replay_snapshot(project_id, snapshot_id)
    context.show(replay, build_table(REPLAY_COLUMNS, replay.items), _replay_summary(replay))


def _replay_summary(replay: Replay) -> str:
    """Return a sentence with the number of datasets that have changed since a snapshot."""
    if replay.identical:
        return "Nothing has changed since the snapshot."

    changed_count = sum(dataset.status != "unchanged" for dataset in replay.items)
    return f"{changed_count} of {len(replay.items)} datasets have changed, moved, come or gone since the snapshot."


@server_command(choice, "report")
def write_report(
    project_id: ProjectId,
    output: OutputPath = None,
    report_format: Annotated[str, typer.Option("--format", help="html, pdf or json.")] = "html",
    language: Annotated[str, typer.Option("--lang", help="fr or en.")] = "en",
    *,
    context: CommandContext,
) -> None:
    """Write the report of a project: its need, ranking, reasons, choice and evidence."""
    # The service refuses an unknown format or language with a list of the known ones.
    file = context.client.get_report(project_id, report_format, lang=language)  # type: ignore[arg-type]
    write_file(file, output, context)


class ReportFile(msgspec.Struct, frozen=True):
    """A report in the format JSON, with its content and its digest."""

    sha256: str
    report: dict[str, Any]


@local_command(choice, "verify-report")
def verify_report(
    file: Annotated[
        Path,
        typer.Argument(allow_dash=True, help="A report in the format JSON, or - for the standard input."),
    ],
) -> None:
    """Compute the digest of a report again, and compare it with the one in the file; needs no server.

    The digest is the SHA-256 of the canonical JSON (RFC 8785) of the content of the report. The exit status is 1 if the
    file contains another digest.
    """
    try:
        content = sys.stdin.buffer.read() if file == STANDARD_STREAM else file.read_bytes()
        report_file = decode_json(content, ReportFile)
        digest = canonical_digest(report_file.report)
    except OSError as error:
        exit_with_error(f"{file}: {error.strerror}", ExitStatus.USAGE)
    except (ValueError, RecursionError) as error:  # not JSON, or without a canonical form
        typer.echo(f"{file} is not a report in the format JSON.", err=True)
        raise typer.Exit(ExitStatus.USAGE) from error

    typer.echo(digest)
    if digest != report_file.sha256:
        typer.echo(f"The report has been changed: its file carries the digest {report_file.sha256}.", err=True)
        raise typer.Exit(ExitStatus.REFUSED)
    typer.echo("The file carries this digest. A filed document that shows the same digest states the same facts.")
