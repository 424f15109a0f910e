"""`touchstone catalog`, `touchstone rank` and `touchstone suggest`."""

import gzip
import io
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final, TextIO, cast

import typer
from rich.table import Table

from touchstone.cli.command_context import CommandContext, progress_bar
from touchstone.cli.command_runner import ExitStatus, exit_with_error, server_command
from touchstone.cli.file_output import STANDARD_STREAM, open_output
from touchstone.cli.filter_options import (
    ASSURANCE,
    ASSURANCE_OPTION,
    FILTERS,
    GATES,
    ONLY_PASSING_OPTION,
    SORTING,
    WEIGHTS,
)
from touchstone.cli.option_groups import PAGE, Option, OptionGroup
from touchstone.cli.ranking_tables import explain_ranking, summarize_ranking
from touchstone.cli.tables import Column, build_facts_table, build_table, digits_of, format_value
from touchstone.client import (
    CatalogImport,
    Dataset,
    File,
    ImportResult,
    ImportStatus,
    Record,
    Suggestion,
    Touchstone,
)
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import Filters
from touchstone.client.record_files import READERS, WRITERS
from touchstone.core.attributes import ATTRIBUTES

catalog = typer.Typer(help="The datasets: list, show, add, export and import them.", no_args_is_help=True)

DATASET_COLUMNS: Final = (
    Column[Dataset]("Id", lambda dataset: digits_of(dataset.id), is_number=True),
    Column[Dataset]("Name", lambda dataset: dataset.name),
    Column[Dataset]("Year", lambda dataset: digits_of(dataset.year), is_number=True),
    Column[Dataset]("Instances", lambda dataset: dataset.instances_number, is_number=True),
    Column[Dataset]("Features", lambda dataset: dataset.features_number, is_number=True),
    Column[Dataset]("Ethical", lambda dataset: dataset.ethical_score, is_number=True),
    Column[Dataset]("Tech.", lambda dataset: dataset.technical_score, is_number=True),
    Column[Dataset]("Popul.", lambda dataset: dataset.popularity_score, is_number=True),
)
SUGGESTION_COLUMNS: Final = (
    Column[Suggestion]("Kind", lambda suggestion: suggestion.kind, is_key=True),
    Column[Suggestion]("Text", lambda suggestion: suggestion.text),
    Column[Suggestion]("Datasets", lambda suggestion: suggestion.count, is_number=True),
)

NEW_DATASET_OPTIONS: Final = OptionGroup(
    (
        Option("description", str, "What it is."),
        Option("file", Path, "A table on this machine (CSV or Parquet), uploaded with the record."),
        Option("file_path", str, "Path of a table that the server can open already."),
        Option("file_type", str, "csv or parquet (default: by the ending of the file)."),
        Option("visibility", str, "`public` (the default) or `private`, which only you can see."),
    )
)


def _parse_rank_options(given_options: dict[str, Any]) -> dict[str, Any]:
    """Convert the options of `touchstone rank` to keyword arguments of `Touchstone.score_datasets`.

    By default, 20 datasets are shown. The option `--only-passing` becomes `gate="pass"`.
    """
    options = {"limit": DEFAULT_RANKING_LENGTH, **given_options}
    if options.pop(ONLY_PASSING_OPTION.name, False):
        options["gate"] = "pass"
    return options


RANK_OPTIONS: Final = OptionGroup(
    (
        Option("limit", int, "How many datasets, best first (default: 20)."),
        Option("explain", bool, "Show the points of each criterion, and the reason for the place of each dataset."),
        ONLY_PASSING_OPTION,
        ASSURANCE_OPTION,
    ),
    build=_parse_rank_options,
)
DatasetId = Annotated[str, typer.Argument(help="Id or UUID.")]
FormatName = Annotated[
    str | None,
    typer.Option("--format", help="csv, jsonl or, to export, parquet (default: by the ending of the file)."),
]

GZIP_SUFFIX: Final = ".gz"
PARQUET: Final = "parquet"
EXPORT_FORMATS: Final = (*WRITERS, PARQUET)
DEFAULT_RANKING_LENGTH: Final = 20


@server_command(catalog, "list", filters=FILTERS, sorting=SORTING, assurance=ASSURANCE, page=PAGE)
def list_datasets(
    *,
    context: CommandContext,
    filters: dict[str, Any],
    sorting: dict[str, Any],
    assurance: AssuranceName | None,
    page: dict[str, Any],
) -> None:
    """List the datasets that match, page by page."""
    dataset_page = context.client.page_datasets(**page, **sorting, assurance=assurance, **filters)
    title = f"Datasets: {dataset_page.total_count}, page {dataset_page.page} of {dataset_page.total_pages}"
    context.show(dataset_page, build_table(DATASET_COLUMNS, dataset_page.datasets, title))


@server_command(catalog, "show")
def show(dataset: DatasetId, *, context: CommandContext) -> None:
    """Show all known facts about a dataset; `?` means that nobody has assessed an attribute."""
    record = context.client.get_dataset(dataset)
    context.show(record, _dataset_table(record))


def _dataset_table(dataset: Dataset) -> Table:
    """Return a table of the scores, the attributes and the metadata of a dataset.

    Unknown attributes are included, because leaving them out would suggest that they do not exist.
    """
    table_rows: dict[str, Any] = {
        "Id": digits_of(dataset.id),
        "UUID": dataset.dataset_id,
        "File": dataset.file_path,
        "Description": dataset.description,
        "Visibility": dataset.visibility,
        "Declared by": _declarer_name(dataset),
        "Ethical": dataset.ethical_score,
        "Technical": dataset.technical_score,
        "Popularity": dataset.popularity_score,
    }
    for attribute in ATTRIBUTES:
        if attribute.name != "dataset_name":
            table_rows[attribute.label_en] = format_value(getattr(dataset, attribute.name))

    # Unlike other numbers, a year is written without a space between its thousands.
    table_rows["Year"] = format_value(digits_of(dataset.year))

    metadata_rows = _metadata_rows(dataset.metadata or {})
    return build_facts_table({**table_rows, **metadata_rows}, title=dataset.name)


def _declarer_name(dataset: Dataset) -> str | None:
    """Return the pseudonym of the creator of a record, the id without one, or None for a record of the service."""
    person = dataset.declared_by
    if person is None:
        return None
    return person.pseudo or str(person.id)


def _metadata_rows(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the licence, the source and the quotations in metadata, as a mapping of row titles to values."""
    table_rows = {
        "Licence": format_value(metadata.get("licence")),
        "Source": format_value(_source_name(metadata)),
    }

    evidence = metadata.get("evidence")
    if isinstance(evidence, dict):
        labels = {attribute.name: attribute.label_en for attribute in ATTRIBUTES}
        for attribute_name, quotation in evidence.items():
            label = labels.get(attribute_name, attribute_name)
            table_rows[f"Evidence: {label}"] = format_value(quotation)
    return table_rows


def _source_name(metadata: Mapping[str, Any]) -> Any:
    """Return the name of the source in metadata, its URL if it has no name, or the source itself if it is a string."""
    source = metadata.get("source")
    if isinstance(source, dict):
        return source.get("name") or source.get("url")
    return source


@server_command(catalog, "add", fields=NEW_DATASET_OPTIONS)
def add(
    name: Annotated[str, typer.Argument(help="Its name.")], *, context: CommandContext, fields: dict[str, Any]
) -> None:
    """Add a dataset to the catalog, with its table if you have one."""
    dataset_fields = dict(fields)
    path: Path | None = dataset_fields.pop("file", None)
    if path is not None:
        uploaded_file = _upload(path, context.client)
        dataset_fields["file_path"] = uploaded_file.file_path
        dataset_fields.setdefault("file_type", uploaded_file.file_type)

    dataset = context.client.create_dataset(name, **dataset_fields)
    context.show(dataset, _dataset_table(dataset))


def _upload(path: Path, client: Touchstone) -> File:
    """Upload a local file, or end the command with an error message if the file cannot be read."""
    try:
        with path.open("rb") as file:
            return client.upload_file(file, path.name)
    except OSError as error:
        exit_with_error(f"{path}: {error.strerror}", ExitStatus.USAGE)


@server_command(catalog, "delete")
def delete(dataset: DatasetId, *, context: CommandContext) -> None:
    """Delete a dataset that you have created."""
    context.client.delete_dataset(dataset)
    context.show(None, f"Dataset {dataset} is deleted.")


@server_command(catalog, "export", filters=FILTERS)
def export(
    file: Annotated[Path, typer.Argument(help="File to write, or - for the standard output.", allow_dash=True)],
    format_name: FormatName = None,
    *,
    context: CommandContext,
    filters: Filters,
) -> None:
    """Write the datasets that match to a CSV, JSON Lines or Parquet file; the suffix .gz compresses the first two."""
    file_format = _choose_format(file, format_name, EXPORT_FORMATS)
    if file_format == PARQUET:
        _export_parquet(file, context, filters)
    else:
        _export_text(file, file_format, context, filters)


def _export_text(file: Path, file_format: str, context: CommandContext, filters: Filters) -> None:
    """Write the datasets that match to a CSV or JSON Lines file, with a progress bar."""
    write_records = WRITERS[file_format]
    first_page = context.client.page_datasets(page_size=1, **filters)
    datasets = context.client.export_records(**filters)

    with progress_bar("Exporting", first_page.total_count) as (progress, task_id), _open_text_output(file) as output:
        tracked_datasets = progress.track(datasets, task_id=task_id, total=first_page.total_count)
        count = write_records(tracked_datasets, output)

    # On the standard output, a report would be mixed with the records.
    if file != STANDARD_STREAM:
        context.show({"exported": count, "file": str(file)}, f"{count} datasets written to {file}")


def _export_parquet(file: Path, context: CommandContext, filters: Filters) -> None:
    """Write the datasets that match to a Parquet file. The service creates its content."""
    with open_output(file) as output:
        byte_count = context.client.export_to_file(output, PARQUET, **filters)

    # On the standard output, a report would be mixed with the records.
    if file != STANDARD_STREAM:
        context.show({"bytes": byte_count, "file": str(file)}, f"{byte_count} bytes written to {file}")


@server_command(catalog, "import")
def import_records(
    file: Annotated[Path, typer.Argument(help="File to read, or - for the standard input.", allow_dash=True)],
    format_name: FormatName = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only check the form of the file, and change nothing.")
    ] = False,
    *,
    context: CommandContext,
) -> None:
    """Import all records of a CSV or JSON Lines file; importing it again changes nothing.

    The whole file is read before the first record is sent. A dataset with the same name and source key is updated, or
    left unchanged if nothing differs. A record that the service rejects is reported and skipped; the exit status is
    then 1.
    """
    records = _read_records(file, format_name)
    if check:
        context.show({"records": len(records), "results": []}, f"{len(records)} records are well-formed")
        return

    results = _import_with_progress(records, context.client)
    _show_import_results(context, results)

    if any(result.status is ImportStatus.REJECTED for result in results):
        raise typer.Exit(ExitStatus.REFUSED)


def _show_import_results(context: CommandContext, results: list[ImportResult]) -> None:
    """Show the number of created, updated, unchanged and rejected records, and the reasons for rejections."""
    status_counts = Counter(result.status for result in results)
    counts = {status.value: status_counts[status] for status in ImportStatus}

    count_lines = [f"{status}: {count}" for status, count in counts.items()]

    rejections = [result for result in results if result.status is ImportStatus.REJECTED]
    rejection_lines = [f"  {result.name}: {result.detail}" for result in rejections]

    context.show({"records": len(results), **counts, "results": results}, *count_lines, *rejection_lines)


def _import_with_progress(records: list[Record], client: Touchstone) -> list[ImportResult]:
    """Import records one after the other with a progress bar, and return the result of each."""
    catalog_import = CatalogImport(client)
    results = []
    with progress_bar("Importing", len(records)) as (progress, task_id):
        for record in records:
            results.append(catalog_import.put(record))
            progress.advance(task_id)
    return results


def _read_records(file: Path, format_name: str | None) -> list[Record]:
    """Return all records of a CSV or JSON Lines file, or of the standard input.

    The file may be compressed with gzip. If it cannot be read, the command ends with an error message.

    Raises:
        RecordError: the file does not contain records; the message names the line.
    """
    file_format = _choose_format(file, format_name, tuple(READERS))
    read_records = READERS[file_format]
    try:
        if file == STANDARD_STREAM:
            return list(read_records(sys.stdin))
        with open_text_input(file) as text_file:
            return list(read_records(text_file))
    except (EOFError, zlib.error):
        exit_with_error(f"{file}: not a complete gzip file", ExitStatus.USAGE)
    except OSError as error:
        # A file that is not in the format gzip has a message, but no error number.
        exit_with_error(f"{file}: {error.strerror or error}", ExitStatus.USAGE)
    except UnicodeDecodeError:
        exit_with_error(f"{file}: not UTF-8 text", ExitStatus.USAGE)


@contextmanager
def _open_text_output(file: Path) -> Iterator[TextIO]:
    """Open a text file for writing, or the standard output; a file with the suffix .gz is compressed.

    An existing file is replaced only if the block succeeds. If the file cannot be written, the command ends with an
    error message.
    """
    if file == STANDARD_STREAM:
        yield sys.stdout
        return

    with open_output(file) as output:
        is_compressed = file.suffix == GZIP_SUFFIX
        binary_file = gzip.GzipFile(file.name, "wb", fileobj=output) if is_compressed else output
        with io.TextIOWrapper(cast(BinaryIO, binary_file), encoding="utf-8", newline="") as text_file:
            yield text_file


def open_text_input(file: Path) -> TextIO:
    """Open a file of records as text; a file with the suffix .gz is decompressed.

    Raises:
        OSError: the file cannot be opened.
    """
    open_file = gzip.open if file.suffix == GZIP_SUFFIX else open
    # Spreadsheet programs write a byte order mark, which "utf-8-sig" removes.
    return cast(TextIO, open_file(file, "rt", encoding="utf-8-sig", newline=""))


def _choose_format(file: Path, format_option: str | None, formats: Sequence[str]) -> str:
    """Return the format given by `--format`, or otherwise the one indicated by the suffix of the file.

    A suffix .gz is ignored, so `records.csv.gz` is a CSV file.

    Raises:
        typer.BadParameter: the format is not in `formats`, or it is Parquet and the file has the suffix .gz.
    """
    is_compressed = file.suffix == GZIP_SUFFIX
    uncompressed_file = file.with_suffix("") if is_compressed else file
    suffix = uncompressed_file.suffix.removeprefix(".").lower()

    file_format = format_option or suffix
    if file_format not in formats:
        known_formats = ", ".join(formats)
        raise typer.BadParameter(
            f"the format is one of {known_formats}: use one of them as the suffix of the file, or give --format"
        )
    if file_format == PARQUET and is_compressed:
        raise typer.BadParameter(f"Parquet files are compressed already: leave out {GZIP_SUFFIX}")
    return file_format


def rank(
    *,
    context: CommandContext,
    options: dict[str, Any],
    filters: dict[str, Any],
    weights: dict[str, float] | str | None,
    gates: dict[str, Any],
) -> None:
    """Rank the datasets that match by your weights, best first.

    For example: touchstone rank --domain health --year-min 2015 --weight ethical_score=0.6 --weight year=0.4
    """
    # Only an explained ranking contains the unknown criteria, which tables always show.
    is_explained = bool(options.get("explain"))
    request_options = options | {"explain": is_explained or not context.as_json}
    ranking = context.client.score_datasets(filters, weights=weights, gates=gates, **request_options)  # type: ignore[arg-type]

    weights_as_text = ", ".join(f"{weight.criterion_name} {weight.weight:.0%}" for weight in ranking.effective_weights)
    title = f"Datasets: {ranking.total_count}, by {weights_as_text}"
    present_ranking = explain_ranking if is_explained else summarize_ranking
    context.show(ranking, *present_ranking(ranking, title))


def suggest(
    text: Annotated[str, typer.Argument(help="The beginning of a name, a domain or a task.")],
    limit: Annotated[int, typer.Option(help="How many suggestions.")] = 10,
    *,
    context: CommandContext,
) -> None:
    """Complete names, domains and tasks of the catalog, with the number of datasets that have each."""
    suggestions = context.client.suggest(text, limit=limit)
    context.show(suggestions, build_table(SUGGESTION_COLUMNS, suggestions.suggestions))


def register(app: typer.Typer) -> None:
    """Add `rank`, `suggest` and `catalog` to the application."""
    server_command(app, "rank", options=RANK_OPTIONS, filters=FILTERS, weights=WEIGHTS, gates=GATES)(rank)
    server_command(app, "suggest")(suggest)
    app.add_typer(catalog, name="catalog")
