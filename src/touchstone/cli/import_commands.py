"""`touchstone import`: metadata documents from files and folders."""

import gzip
import zlib
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from touchstone.cli.bulk_import import import_in_bulk
from touchstone.cli.catalog_commands import GZIP_SUFFIX, import_records, open_text_input
from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, exit_with_error, server_command
from touchstone.cli.option_groups import Option, OptionGroup
from touchstone.cli.tables import Column, build_table, digits_of
from touchstone.client import DocumentResult, ImportProblem, ImportStatus, Touchstone, TouchstoneError
from touchstone.client.document_files import JSON_LINES_SUFFIX, Document, batches, documents_in
from touchstone.client.record_files import READERS, RecordError

IMPORT_OPTIONS: Final = OptionGroup(
    (
        Option("format", str, "The metadata standard, such as croissant or hf_card (default: detected)."),
        Option("source_name", str, "Name of the source; with it, what a curator imports is documented."),
        Option("source_url", str, "Address of the source, which is stored and never fetched."),
        Option(
            "visibility",
            str,
            "`public` or `private` (default: new records are public, except for exports of private records, and others "
            "stay as they are).",
        ),
        Option(
            "accept",
            bool,
            "Let claims that are found in prose take effect immediately, instead of proposing them.",
            flags="--accept",
        ),
        Option("dry_run", bool, "Report what would be done, and change nothing.", flags="--dry-run"),
    )
)
_NOT_WRITTEN_IN_TIME: Final = "not_written_in_time"
_UNUSABLE_DOCUMENTS: Final = "unusable_documents"
_MORE_REJECTIONS: Final = "more_rejections"
_RESULT_COLUMNS: Final = (
    Column[DocumentResult]("Status", lambda result: result.status.value),
    Column[DocumentResult](
        "Id", lambda result: digits_of(result.dataset.id) if result.dataset else None, is_number=True
    ),
    Column[DocumentResult]("Name", lambda result: result.dataset.name if result.dataset else result.document),
    Column[DocumentResult]("Claims", lambda result: len(result.evidence), is_number=True),
    Column[DocumentResult]("Proposals", lambda result: len(result.proposals), is_number=True),
    Column[DocumentResult]("Skipped", lambda result: len(result.skipped), is_number=True),
)
_MAX_TABLE_ROWS: Final = 50


def import_documents(
    path: Annotated[
        Path,
        typer.Argument(
            help="A document, a folder of documents, or a JSON Lines file of them; with --bulk, a file of records, "
            "or - for the standard input.",
            allow_dash=True,
        ),
    ],
    bulk: Annotated[
        bool, typer.Option("--bulk", help="Import catalog records in any number, from JSON Lines or Parquet.")
    ] = False,
    from_line: Annotated[
        int | None, typer.Option("--from-line", min=1, help="With --bulk, the first line to import.")
    ] = None,
    *,
    context: CommandContext,
    options: dict[str, Any],
) -> None:
    """Import descriptions of datasets in the formats that people use, such as dataset cards and Croissant.

    Importing the same again changes nothing, so an import that was interrupted can simply be repeated. A JSON Lines
    file of catalog records, as `touchstone catalog export` writes it, is imported as `touchstone catalog import` does.
    The exit status is 1 if something was rejected.

    With --bulk, millions of records are imported, at least ten times as fast. Records with a source name and a key
    replace those that were imported with the same name and key, so that such an import can be repeated as well.
    """
    if bulk:
        if options:
            raise typer.BadParameter(f"--bulk takes no --{next(iter(options)).replace('_', '-')}")
        import_in_bulk(path, from_line or 1, context)
        return
    if from_line is not None:
        raise typer.BadParameter("--from-line needs --bulk")

    if _contains_records(path):
        import_records(path, check=options.get("dry_run", False), context=context)
        return

    documents = _read_documents(path)
    results: list[DocumentResult] = []
    with progress_bar("Importing", len(documents)) as (progress, task_id):
        for batch in batches(documents):
            results += _import_batch(context.client, batch, options)
            progress.advance(task_id, len(batch))

    _show_results(context, results)
    if any(result.status is ImportStatus.REJECTED for result in results):
        raise typer.Exit(ExitStatus.REFUSED)


def _contains_records(path: Path) -> bool:
    """Return whether a file contains records of a catalog as JSON Lines, and not documents.

    The file may be compressed with gzip.
    """
    uncompressed_path = path.with_suffix("") if path.suffix == GZIP_SUFFIX else path
    if uncompressed_path.suffix.lower() != JSON_LINES_SUFFIX or not path.is_file():
        return False

    try:
        with open_text_input(path) as file:
            next(READERS["jsonl"](file), None)
    except (RecordError, UnicodeDecodeError, gzip.BadGzipFile, EOFError, zlib.error):
        return False
    return True


def _read_documents(path: Path) -> list[Document]:
    """Return the documents in a file or folder, or end the command with an error message if this fails."""
    try:
        documents = list(documents_in(path))
    except OSError as error:
        exit_with_error(f"{error.filename or path}: {error.strerror}", ExitStatus.USAGE)
    if not documents:
        exit_with_error(f"{path}: no documents", ExitStatus.USAGE)
    return documents


def _import_batch(client: Touchstone, batch: list[Document], options: dict[str, Any]) -> list[DocumentResult]:
    """Import documents with one request, and repeat it if the service does not write all datasets in time.

    Raises:
        TouchstoneError: the service refused the request for another reason than the documents, or did not respond.
    """
    documents = [(document.name, document.content) for document in batch]
    results_by_dataset: dict[tuple[str, str | None], DocumentResult] = {}

    while True:
        try:
            report = client.import_documents(documents, **options)
        except TouchstoneError as error:
            if error.code == _UNUSABLE_DOCUMENTS:
                return [_rejection(batch, field_error) for field_error in error.errors]
            raise

        # A repeated request reports earlier written datasets as unchanged, so the first result of each is kept.
        written_results = [result for result in report.results if not _is_late(result)]
        has_progressed = False
        for result in written_results:
            dataset_key = (result.document, result.key)
            if dataset_key not in results_by_dataset or result.status is ImportStatus.REJECTED:
                results_by_dataset[dataset_key] = result
                has_progressed = True

        is_complete = len(written_results) == len(report.results)
        if is_complete:
            return list(results_by_dataset.values())
        if not has_progressed:
            raise TouchstoneError(503, _NOT_WRITTEN_IN_TIME, "The service has no time to write the records.")


def _is_late(result: DocumentResult) -> bool:
    """Return whether the service had no time to write a dataset, so that the request should be repeated."""
    return result.error is not None and result.error.code == _NOT_WRITTEN_IN_TIME


def _rejection(batch: list[Document], field_error: dict[str, Any]) -> DocumentResult:
    """Return the result for a document that the service has rejected as unusable."""
    position = field_error["loc"][-1]
    problem = ImportProblem(code=field_error["type"], detail=field_error["msg"])
    return DocumentResult(status=ImportStatus.REJECTED, document=batch[position].name, error=problem)


def _show_results(context: CommandContext, results: list[DocumentResult]) -> None:
    """Show a table of the results, their number for each status, and the reasons for rejections.

    The entry that says how many rejections are not listed is not counted as a rejection itself.
    """
    results_to_count = [result for result in results if result.error is None or result.error.code != _MORE_REJECTIONS]
    status_counts = Counter(result.status for result in results_to_count)
    counts = {status.value: status_counts[status] for status in ImportStatus}
    count_lines = [f"{status}: {count}" for status, count in counts.items()]

    imported = [result for result in results if result.status is not ImportStatus.REJECTED]
    table = build_table(_RESULT_COLUMNS, imported[:_MAX_TABLE_ROWS], "Imported datasets")
    rest_lines = [f"… and {len(imported) - _MAX_TABLE_ROWS} more"] if len(imported) > _MAX_TABLE_ROWS else []

    rejection_lines = [f"  {result.document}: {result.error.detail}" for result in results if result.error is not None]
    report = {"total": len(results_to_count), **counts, "results": results}
    context.show(report, table, *rest_lines, *count_lines, *rejection_lines)


def register(app: typer.Typer) -> None:
    """Add `import` to the application."""
    server_command(app, "import", options=IMPORT_OPTIONS)(import_documents)
