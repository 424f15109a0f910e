"""`touchstone import --bulk`: the import of any number of records, which can be resumed if it is interrupted."""

import os
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, NoReturn

import msgspec
import typer

from touchstone.cli.bulk_records import BulkFile, open_bulk_file
from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, as_sentence, error_message, exit_status_of, exit_with_error
from touchstone.client import BulkBatch, RecordError, RefusedLine, TouchstoneError

# The report lists only the first refused lines, because all lines of a large file may be refused.
MAX_REPORTED_LINES: Final = 1000
MAX_SHOWN_LINES: Final = 20
# After these, nobody knows which lines of the last request were stored.
_STATUSES_WITHOUT_RESPONSE: Final = frozenset({ExitStatus.UNREACHABLE, ExitStatus.INTERRUPTED})


@dataclass(slots=True)
class BulkSummary:
    """The results of an import so far.

    Attributes:
        skipped_lines: the number of lines at the beginning of the file that the user wants to skip.
        imported_lines: the number of further lines that were stored or refused.
        refusals: the first refused lines, with their line numbers in the file.
    """

    skipped_lines: int
    imported_lines: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: int = 0
    refusals: list[RefusedLine] = field(default_factory=list)

    @property
    def completed_lines(self) -> int:
        """The number of lines at the beginning of the file that need not be imported again."""
        return self.skipped_lines + self.imported_lines

    @property
    def next_line(self) -> int:
        """The number of the line where the import can be resumed."""
        return self.completed_lines + 1

    def add(self, batch: BulkBatch) -> None:
        """Add the results of a batch to the summary.

        Line numbers of the batch count from the first imported line, and are converted to line numbers of the file. At
        most `MAX_REPORTED_LINES` refused lines are stored.
        """
        self.imported_lines = batch.last_line
        self.created += batch.created
        self.updated += batch.updated
        self.unchanged += batch.unchanged
        self.refused += len(batch.refused)

        for refused in batch.refused:
            if len(self.refusals) < MAX_REPORTED_LINES:
                line_in_file = self.skipped_lines + refused.line
                self.refusals.append(msgspec.structs.replace(refused, line=line_in_file))


def import_in_bulk(file: Path, first_line: int, context: CommandContext) -> None:
    """Import the records of a file from line `first_line` to its end, and show the results.

    If the import stops before the end, for example because the user interrupts it, the results so far are shown, and an
    error message says how to resume it.

    Raises:
        typer.Exit: a line was refused, or the import has stopped.
    """
    summary = BulkSummary(skipped_lines=first_line - 1)
    try:
        with open_bulk_file(file) as bulk_file:
            _skip_lines(bulk_file, summary.skipped_lines)
            _import_records(bulk_file, summary, context)
    except TouchstoneError as error:
        _stop(summary, context, error_message(error), exit_status_of(error))
    except RecordError as error:
        _stop(summary, context, str(error), ExitStatus.USAGE)
    except OSError as error:
        # Errors of decompression have a message, but no error number. Those of Arrow repeat the name of the file.
        reason = os.strerror(error.errno) if error.errno else str(error)
        _stop(summary, context, f"{file}: {reason}", ExitStatus.USAGE)
    except KeyboardInterrupt:
        _stop(summary, context, "Interrupted.", ExitStatus.INTERRUPTED)

    _show_summary(summary, context)
    if summary.refused:
        raise typer.Exit(ExitStatus.REFUSED)


def _skip_lines(bulk_file: BulkFile, line_count: int) -> None:
    """Pass over the first lines of a file.

    Raises:
        RecordError: the file has fewer lines.
    """
    skipped_lines = sum(1 for _ in islice(bulk_file.records, line_count))
    if skipped_lines < line_count:
        raise RecordError(f"There is no line {line_count + 1}: the file has {skipped_lines} lines")


def _import_records(bulk_file: BulkFile, summary: BulkSummary, context: CommandContext) -> None:
    """Import the remaining records of an open file with a progress bar, and add the results to the summary."""
    with progress_bar("Importing", bulk_file.record_count) as (progress, task_id):
        for batch in context.client.import_bulk(bulk_file.records):
            summary.add(batch)
            progress.update(task_id, completed=summary.completed_lines)


def _stop(summary: BulkSummary, context: CommandContext, reason: str, exit_status: ExitStatus) -> NoReturn:
    """Show the results of an import that has stopped early, and end the command with the reason.

    Raises:
        typer.Exit: always, with the exit status.
    """
    if summary.imported_lines == 0:
        exit_with_error(reason, exit_status)

    _show_summary(summary, context)
    line = summary.next_line
    advice = f"All lines before line {line} have been imported. "
    if exit_status in _STATUSES_WITHOUT_RESPONSE:
        advice += "Some later lines may have been imported as well; without a key, their records are created again. "
    exit_with_error(f"{as_sentence(reason)} {advice}To continue, add --from-line {line}.", exit_status)


def _show_summary(summary: BulkSummary, context: CommandContext) -> None:
    """Show the number of created, updated, unchanged and refused records, and the reasons for refusals."""
    counts = {
        "created": summary.created,
        "updated": summary.updated,
        "unchanged": summary.unchanged,
        "refused": summary.refused,
    }
    count_lines = [f"{status}: {count}" for status, count in counts.items()]

    shown_refusals = summary.refusals[:MAX_SHOWN_LINES]
    refusal_lines = [f"  line {refused.line}: {refused.detail}" for refused in shown_refusals]
    if summary.refused > MAX_SHOWN_LINES:
        refusal_lines.append(f"  … and {summary.refused - MAX_SHOWN_LINES} more")

    report = {"next_line": summary.next_line, **counts, "refusals": summary.refusals}
    context.show(report, *count_lines, *refusal_lines)
