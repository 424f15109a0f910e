"""`touchstone import --bulk`: records in any number, which the command can go on with after an interruption."""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa
import typer

from touchstone.cli.bulk_records import open_bulk_file
from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, error_message, exit_status_of, exit_with_error
from touchstone.client import BulkBatch, RefusedLine, TouchstoneError

# A file of the wrong form may have millions of refused lines.
MAX_REPORTED_LINES: Final = 1000
MAX_SHOWN_LINES: Final = 20


@dataclass(slots=True)
class BulkSummary:
    """What an import has done so far.

    Attributes:
        next_line: The line at which the import has to go on: all lines before it are stored or refused.
        refusals: The first of the refused lines, with reasons.
    """

    next_line: int
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: int = 0
    refusals: list[RefusedLine] = field(default_factory=list)


def import_in_bulk(file: Path, first_line: int, context: CommandContext) -> None:
    """Import the records of a file from a line on, and report what was done; exit with status 1 if any was refused."""
    summary = BulkSummary(next_line=first_line)
    try:
        _import_with_progress(file, summary, context)
    except TouchstoneError as error:
        advice = ""
        if summary.next_line > first_line:
            advice = f" The lines before {summary.next_line} are done: go on with --from-line {summary.next_line}."
        exit_with_error(error_message(error) + advice, exit_status_of(error))
    except (OSError, pa.ArrowInvalid) as error:
        exit_with_error(f"{file}: {getattr(error, 'strerror', None) or error}", ExitStatus.USAGE)

    _show_summary(summary, context)
    if summary.refused:
        raise typer.Exit(ExitStatus.REFUSED)


def _import_with_progress(file: Path, summary: BulkSummary, context: CommandContext) -> None:
    """Import the records of a file behind a progress bar, and add what each batch has done to the summary."""
    first_line = summary.next_line
    with open_bulk_file(file) as bulk_file, progress_bar("Importing", bulk_file.record_count) as (progress, task_id):
        remaining_records = islice(bulk_file.records, first_line - 1, None)
        for batch in context.client.import_bulk(remaining_records):
            _add_batch(summary, batch, first_line)
            progress.update(task_id, completed=summary.next_line - 1)


def _add_batch(summary: BulkSummary, batch: BulkBatch, first_line: int) -> None:
    """Add what a batch has done to the summary of an import, whose lines are counted from `first_line`."""
    offset = first_line - 1
    summary.next_line = batch.last_line + offset + 1
    summary.created += batch.created
    summary.updated += batch.updated
    summary.unchanged += batch.unchanged
    summary.refused += len(batch.refused)

    for refused in batch.refused[: MAX_REPORTED_LINES - len(summary.refusals)]:
        line = refused.line + offset
        summary.refusals.append(RefusedLine(line=line, code=refused.code, detail=refused.detail))


def _show_summary(summary: BulkSummary, context: CommandContext) -> None:
    """Show how many records were created, updated, left unchanged and refused, and why lines were refused."""
    counts = {name: getattr(summary, name) for name in ("created", "updated", "unchanged", "refused")}
    count_lines = [f"{status}: {count}" for status, count in counts.items()]

    refusal_lines = [f"  line {refused.line}: {refused.detail}" for refused in summary.refusals[:MAX_SHOWN_LINES]]
    if summary.refused > MAX_SHOWN_LINES:
        refusal_lines.append(f"  … and {summary.refused - MAX_SHOWN_LINES} more")

    report = {"next_line": summary.next_line, **counts, "refusals": summary.refusals}
    context.show(report, *count_lines, *refusal_lines)
