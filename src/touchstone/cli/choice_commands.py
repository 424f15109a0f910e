"""`touchstone project choices`, `snapshot`, `snapshots`, `replay` and `report`: answering for a choice."""

import sys
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import ExitStatus, exit_with_error, server_command
from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.cli.tables import Column, build_facts_table, build_table, format_value
from touchstone.client import Choice, Replay, ReplayedDataset, Snapshot, SnapshotSummary

choice = typer.Typer()  # its commands are part of `touchstone project`

STANDARD_STREAM: Final = Path("-")
SHORT_DIGEST: Final = 12  # characters of a digest in a table; the JSON has all of it

SNAPSHOT_OPTIONS: Final = OptionGroup(
    (
        Option("note", str, "Why you keep this ranking."),
        Option("limit", int, "How many places (default: 20)."),
    )
)
REPORT_OPTIONS: Final = OptionGroup(
    (
        Option("format", str, "html (the default), pdf or json."),
        Option("lang", str, "fr or en (default: the language of the command line, en)."),
    )
)


def _author_name(choice: Choice) -> str:
    """Return the pseudo of the user who made a choice, or else the id."""
    if choice.by is None:
        return ""
    return choice.by.pseudo or str(choice.by.id)


def _dataset_name(choice: Choice) -> str:
    """Return the name of the dataset of a choice, and whether it has been withdrawn since."""
    if choice.dataset is None:
        return "(none)"
    return f"{choice.dataset.name} (withdrawn)" if choice.dataset.withdrawn else choice.dataset.name


def _rank(choice: Choice) -> str:
    """Return the rank that the dataset of a choice had, or a dash if it was not in the ranking of the project."""
    ranking = choice.ranking
    return str(ranking.rank) if ranking and ranking.rank else "–"


def _short_digest(digest: str | None) -> str:
    """Return the beginning of a digest, or an empty text if there is none."""
    return (digest or "")[:SHORT_DIGEST]


CHOICE_COLUMNS: Final = (
    Column[Choice]("At", lambda choice: choice.at),
    Column[Choice]("By", _author_name),
    Column[Choice]("Dataset", _dataset_name),
    Column[Choice]("Rank", _rank, is_number=True),
    Column[Choice]("Reason", lambda choice: choice.reason or ""),
    Column[Choice](
        "Digest", lambda choice: _short_digest(choice.dataset.digest if choice.dataset else None), is_key=True
    ),
)
SNAPSHOT_COLUMNS: Final = (
    Column[SnapshotSummary]("Id", lambda snapshot: snapshot.id, is_key=True),
    Column[SnapshotSummary]("At", lambda snapshot: snapshot.at),
    Column[SnapshotSummary]("Note", lambda snapshot: snapshot.note or ""),
    Column[SnapshotSummary]("Datasets", lambda snapshot: snapshot.item_count, is_number=True),
    Column[SnapshotSummary]("Digest", lambda snapshot: _short_digest(snapshot.sha256), is_key=True),
)
REPLAY_COLUMNS: Final = (
    Column[ReplayedDataset]("Rank", lambda dataset: _transition(dataset.rank.before, dataset.rank.after), is_key=True),
    Column[ReplayedDataset](
        "Score", lambda dataset: _transition(dataset.score.before, dataset.score.after), is_key=True
    ),
    Column[ReplayedDataset]("Name", lambda dataset: dataset.dataset_name),
    Column[ReplayedDataset]("Status", lambda dataset: dataset.status, is_key=True),
    Column[ReplayedDataset]("Because of", lambda dataset: dataset.reason or "", is_key=True),
    Column[ReplayedDataset]("Changed", lambda dataset: [change.field for change in dataset.changes]),
)
ProjectId = Annotated[str, typer.Argument(help="Id of the project.")]
SnapshotId = Annotated[str, typer.Argument(help="Id of the snapshot.")]


@server_command(choice, "choices")
def choices(project_id: ProjectId, *, context: CommandContext) -> None:
    """List every choice that was made in a project, newest first, with its reason."""
    history = context.client.list_choices(project_id, limit=1000)
    context.show(history, build_table(CHOICE_COLUMNS, history))


@server_command(choice, "snapshot", options=SNAPSHOT_OPTIONS)
def snapshot(project_id: ProjectId, *, context: CommandContext, options: dict[str, Any]) -> None:
    """Freeze the recommendation of a project as it is now."""
    new_snapshot = context.client.create_snapshot(project_id, **options)
    context.show(new_snapshot, _snapshot_table(new_snapshot))


def _snapshot_table(new_snapshot: Snapshot) -> Table:
    """Return the table that shows what was frozen."""
    facts = {
        "Id": new_snapshot.id,
        "At": new_snapshot.at,
        "Note": new_snapshot.note,
        "Datasets": f"{new_snapshot.item_count} of {new_snapshot.total_count}",
        "SHA-256": new_snapshot.sha256,
    }
    return build_facts_table(facts, title="Snapshot")


@server_command(choice, "snapshots")
def snapshots(project_id: ProjectId, *, context: CommandContext) -> None:
    """List the snapshots of a project, newest first."""
    summaries = context.client.list_snapshots(project_id, limit=1000)
    context.show(summaries, build_table(SNAPSHOT_COLUMNS, summaries))


@server_command(choice, "replay")
def replay(project_id: ProjectId, snapshot_id: SnapshotId, *, context: CommandContext) -> None:
    """Rank again as in a snapshot, and say what has changed since then and why."""
    result = context.client.replay_snapshot(project_id, snapshot_id)
    context.show(result, build_table(REPLAY_COLUMNS, result.items), _replay_summary(result))


def _replay_summary(result: Replay) -> str:
    """Return one line that says whether anything has changed since a snapshot."""
    if result.identical:
        return "Nothing has changed since the snapshot."

    changed_count = sum(dataset.status != "unchanged" for dataset in result.items)
    return f"{changed_count} of {len(result.items)} datasets have changed, moved, come or gone since the snapshot."


def _transition(before: float | None, after: float | None) -> str:
    """Return a value as it was and as it is, or only once if it is the same."""
    if before == after:
        return format_value(after)
    return f"{format_value(before)} → {format_value(after)}"


@server_command(choice, "report", options=REPORT_OPTIONS)
def report(
    project_id: ProjectId,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="File to write, - for the standard output (default: a name made of the project's)."
        ),
    ] = None,
    *,
    context: CommandContext,
    options: dict[str, Any],
) -> None:
    """Write the report of a project: its need, ranking, reasons, choice and evidence."""
    file = context.client.get_report(project_id, **{"lang": "en", **options})
    if output == STANDARD_STREAM:
        sys.stdout.buffer.write(file.content)
        return

    path = output or Path(file.name)
    try:
        path.write_bytes(file.content)
    except OSError as error:
        exit_with_error(f"{path}: {error.strerror}", ExitStatus.USAGE)
    context.show({"file": str(path), "bytes": len(file.content)}, f"{path}: {len(file.content)} bytes")
