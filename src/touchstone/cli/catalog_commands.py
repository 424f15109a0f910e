"""`touchstone catalog` and `touchstone rank`."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Final, TextIO

import typer

from touchstone.cli.command_context import Session, progress
from touchstone.cli.command_runner import Exit, command, fail
from touchstone.cli.filter_options import FILTERS, SORTING, WEIGHTS
from touchstone.cli.option_groups import PAGE, Flag, Group
from touchstone.cli.tables import Column, facts, shown, table
from touchstone.client import CatalogImport, Dataset, ImportResult, ImportStatus, Ranking, Record, ScoredDataset
from touchstone.client.record_files import READERS, WRITERS
from touchstone.core.attributes import ATTRIBUTES

catalog = typer.Typer(help="The datasets: list, show, add, export and import them.", no_args_is_help=True)

DATASETS: Final = (
    Column[Dataset]("Id", lambda one: str(one.id), is_number=True),
    Column[Dataset]("Name", lambda one: one.name),
    Column[Dataset]("Year", lambda one: one.year and str(one.year), is_number=True),
    Column[Dataset]("Instances", lambda one: one.instances_number, is_number=True),
    Column[Dataset]("Features", lambda one: one.features_number, is_number=True),
    Column[Dataset]("Ethical", lambda one: one.ethical_score, is_number=True),
    Column[Dataset]("Tech.", lambda one: one.technical_score, is_number=True),
    Column[Dataset]("Popul.", lambda one: one.popularity_score, is_number=True),
)
PLACES: Final = (
    Column[ScoredDataset]("Rank", lambda one: one.rank, is_number=True),
    Column[ScoredDataset]("Score", lambda one: f"{one.score:.4f}", is_number=True),
    Column[ScoredDataset]("Id", lambda one: str(one.id), is_number=True),
    Column[ScoredDataset]("Name", lambda one: one.dataset_name),
)
COMPOSITES: Final = (
    Column[ScoredDataset]("Ethical", lambda one: one.ethical_score, is_number=True),
    Column[ScoredDataset]("Tech.", lambda one: one.technical_score, is_number=True),
    Column[ScoredDataset]("Popul.", lambda one: one.popularity_score, is_number=True),
)
Format = Annotated[str | None, typer.Option("--format", help="csv or jsonl (default: by the ending of the file).")]
STDIO: Final = Path("-")


@command(catalog, "list", filters=FILTERS, sorting=SORTING, page=PAGE)
def list_datasets(*, session: Session, filters: dict[str, Any], sorting: dict[str, Any], page: dict[str, Any]) -> None:
    """List the datasets that match, page by page."""
    page_of_datasets = session.client.page_datasets(**{"page_size": 20, **page}, **sorting, **filters)
    title = f"Datasets: {page_of_datasets.total_count}, page {page_of_datasets.page} of {page_of_datasets.total_pages}"
    session.show(page_of_datasets, table(DATASETS, page_of_datasets.datasets, title))


@command(catalog, "show")
def show(dataset: Annotated[str, typer.Argument(help="Id or UUID.")], *, session: Session) -> None:
    """Show everything that is known of a dataset; `?` is what nobody has assessed."""
    record = session.client.get_dataset(dataset)
    session.show(record, _dataset_facts(record))


def _dataset_facts(record: Dataset) -> Any:
    head = {
        "Id": str(record.id),
        "UUID": record.dataset_id,
        "File": record.file_path,
        "Description": record.description,
    }
    scores = {
        "Ethical": record.ethical_score,
        "Technical": record.technical_score,
        "Popularity": record.popularity_score,
    }
    # An attribute left out would read as one that does not exist: what is unknown is shown as such.
    attributes = {a.label_en: shown(getattr(record, a.name)) for a in ATTRIBUTES if a.name != "dataset_name"}
    year = {"Year": shown(record.year and str(record.year))}
    return facts(
        {**head, "Visibility": record.visibility, **scores, **attributes, **year, **_metadata_facts(record)},
        record.name,
    )


def _metadata_facts(one: Dataset) -> dict[str, str]:
    """Return the licence, the source, and the evidence of each attribute as rows of a table."""
    metadata = one.metadata or {}
    source, evidence = metadata.get("source"), metadata.get("evidence")
    named = source.get("name") or source.get("url") if isinstance(source, dict) else source
    head = {"Licence": shown(metadata.get("licence")), "Source": shown(named)}
    quoted = evidence if isinstance(evidence, dict) else {}
    labels = {attribute.name: attribute.label_en for attribute in ATTRIBUTES}
    return head | {f"Evidence: {labels.get(name, name)}": shown(text) for name, text in quoted.items()}


@command(
    catalog,
    "add",
    fields=Group(
        (
            Flag("description", str, "What it is."),
            Flag("file", Path, "A table on this machine (CSV or Parquet), uploaded with the record."),
            Flag("file_path", str, "Path of a table that the server can open already."),
            Flag("file_type", str, "csv or parquet (default: by the ending of the file)."),
            Flag("visibility", str, "`public` (the default) or `private`: seen by you alone."),
        )
    ),
)
def add(name: Annotated[str, typer.Argument(help="Its name.")], *, session: Session, fields: dict[str, Any]) -> None:
    """Put a dataset into the catalog, with its table if you have one."""
    path: Path | None = fields.pop("file", None)
    if path is not None:
        with _opened_for_upload(path) as file:
            stored = session.client.upload_file(file, path.name)
        fields = {"file_type": stored.file_type, **fields, "file_path": stored.file_path}
    record = session.client.create_dataset(name, **fields)
    session.show(record, _dataset_facts(record))


@contextmanager
def _opened_for_upload(path: Path) -> Iterator[Any]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as problem:
        fail(f"{path}: {problem.strerror}", Exit.USAGE)


@command(catalog, "delete")
def delete(dataset: Annotated[str, typer.Argument(help="Id or UUID.")], *, session: Session) -> None:
    """Take a dataset that you have created out of the catalog."""
    session.client.delete_dataset(dataset)
    session.show(None, f"Dataset {dataset} is deleted.")


@command(catalog, "export", filters=FILTERS)
def export(
    file: Annotated[Path, typer.Argument(help="File to write, or - for the standard output.", allow_dash=True)],
    format_name: Format = None,
    *,
    session: Session,
    filters: dict[str, Any],
) -> None:
    """Write the datasets that match to a CSV or JSON Lines file."""
    write = WRITERS[_format(file, format_name)]
    total = session.client.page_datasets(page_size=1, **filters).total_count
    with progress("Exporting", total) as (bar, task), _written(file) as opened:
        datasets = session.client.iterate_datasets(page_size=500, **filters)
        count = write(bar.track(datasets, task_id=task, total=total), opened)
    if file != STDIO:
        session.show({"exported": count, "file": str(file)}, f"{count} datasets written to {file}")


@command(catalog, "import")
def import_(
    file: Annotated[Path, typer.Argument(help="File to read, or - for the standard input.", allow_dash=True)],
    format_name: Format = None,
    check: Annotated[bool, typer.Option("--check", help="Only check the file; change nothing.")] = False,
    *,
    session: Session,
) -> None:
    """Put every record of a CSV or JSON Lines file into the catalog; importing it again changes nothing.

    The whole file is read before the first record is sent. A record that the catalog has under the same name and
    source key is updated, or left alone when nothing differs. A record that the service rejects is reported and
    passed over; the exit status is then 1.
    """
    records = _read(file, format_name)
    if check:
        session.show({"records": len(records), "results": []}, f"{len(records)} records are well-formed")
        return

    results = _put_all(session, records)
    counts = {str(status): sum(result.status is status for result in results) for status in ImportStatus}
    lines = [f"{status}: {count}" for status, count in counts.items()]
    lines += [f"  {result.name}: {result.detail}" for result in results if result.status is ImportStatus.REJECTED]
    session.show({"records": len(records), **counts, "results": results}, *lines)
    if counts[ImportStatus.REJECTED]:
        raise typer.Exit(Exit.REFUSED)


def _put_all(session: Session, records: list[Record]) -> list[ImportResult]:
    catalog_import, results = CatalogImport(session.client), []
    with progress("Importing", len(records)) as (bar, task):
        for record in records:
            results.append(catalog_import.put(record))
            bar.advance(task)
    return results


def _read(file: Path, format_name: str | None) -> list[Record]:
    read = READERS[_format(file, format_name)]
    try:
        if file == STDIO:
            return list(read(sys.stdin))
        with file.open(encoding="utf-8-sig", newline="") as opened:
            return list(read(opened))
    except OSError as problem:
        fail(f"{file}: {problem.strerror}", Exit.USAGE)
    except UnicodeDecodeError:
        fail(f"{file}: not UTF-8 text", Exit.USAGE)
    raise AssertionError("fail never returns")


@contextmanager
def _written(file: Path) -> Iterator[TextIO]:
    if file == STDIO:
        yield sys.stdout
        return
    try:
        with file.open("w", encoding="utf-8", newline="") as opened:
            yield opened
    except OSError as problem:
        fail(f"{file}: {problem.strerror}", Exit.USAGE)


def _format(file: Path, format_name: str | None) -> str:
    name = format_name or file.suffix.removeprefix(".").lower()
    if name not in WRITERS:
        raise typer.BadParameter(f"the format is one of {', '.join(WRITERS)}: name the file so, or give --format")
    return name


def rank(
    limit: Annotated[int, typer.Option(help="How many places.")] = 20,
    explain: Annotated[bool, typer.Option("--explain", help="Show the points of each criterion.")] = False,
    *,
    session: Session,
    filters: dict[str, Any],
    weights: Any,
) -> None:
    """Rank the datasets that match by your weights, best first.

    For example: touchstone rank --domain health --year-min 2015 --weight ethical_score=0.6 --weight year=0.4
    """
    ranking = session.client.score_datasets(filters, weights=weights, limit=limit, explain=explain)  # type: ignore[arg-type]
    session.show(ranking, places(ranking, explain=explain))


def places(ranking: Ranking, *, explain: bool) -> Any:
    """Return a ranking as a table with composite scores or, with `explain`, the points of each weighted criterion."""
    weights = ", ".join(f"{weight.criterion_name} {weight.weight:.0%}" for weight in ranking.effective_weights)
    points = tuple(_points_column(weight.criterion_name) for weight in ranking.effective_weights)
    return table(
        (*PLACES, *(points if explain else COMPOSITES)),
        ranking.datasets,
        f"Datasets: {ranking.total_count}, by {weights}",
    )


def _points_column(criterion: str) -> Column[ScoredDataset]:
    return Column(f"+ {criterion}", lambda scored: (scored.points or {}).get(criterion, 0.0), is_number=True)


def register(app: typer.Typer) -> None:
    """Put `rank` and `catalog` into the main application."""
    command(app, "rank", filters=FILTERS, weights=WEIGHTS)(rank)
    app.add_typer(catalog, name="catalog")
