"""Rdatasets: the index of the tables that come with R packages, with counts of rows, columns and missing cells."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.readers.builder import DocumentBuilder, parse_number, pointer, read_or_reject
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "rdatasets"
# The index itself has capitalized names. An extended copy also has the counts that the files have shown.
ORIGINAL_COLUMNS: Final = frozenset({"Package", "Item", "Title", "Rows", "Cols"})
EXTENDED_COLUMNS: Final = frozenset({"package", "item", "title"})
# The columns with the number of rows and of columns, the most reliable one first.
ROW_COUNTS: Final = ("rows_counted", "rows_index", "Rows")
COLUMN_COUNTS: Final = ("cols_counted", "cols_index", "Cols")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is the Rdatasets index."""
    columns = set(source.columns)
    return columns >= ORIGINAL_COLUMNS or columns >= EXTENDED_COLUMNS


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the tables of the index."""
    for index, row in enumerate(source.rows()):
        yield read_or_reject(pointer(index), partial(read_row, row))


def read_row(row: Mapping[str, str]) -> DatasetDocument:
    """Read one table of the index."""
    package = row.get("package") or row.get("Package") or ""
    item = row.get("item") or row.get("Item") or ""
    title = row.get("title") or row.get("Title")
    builder = DocumentBuilder(STANDARD, key=f"{package}/{item}")
    builder.set_name(title, item)
    builder.set_description(title)
    builder.set_metadata("url", f"https://vincentarelbundock.github.io/Rdatasets/doc/{package}/{item}.html")

    add_count(builder, "instances_number", row, ROW_COUNTS)
    add_count(builder, "features_number", row, COLUMN_COUNTS)
    add_missing_values(builder, row)
    builder.keep_unmapped(row)
    return builder.build()


def add_count(builder: DocumentBuilder, attribute: str, row: Mapping[str, str], names: tuple[str, ...]) -> None:
    """Add a count from the first of several columns that contains a positive integer."""
    for name in names:
        count = parse_number(row.get(name))
        if isinstance(count, int) and count > 0:
            builder.add_claim(Claim(attribute, count, row[name], name, field=name))
            return


def add_missing_values(builder: DocumentBuilder, row: Mapping[str, str]) -> None:
    """Add the percentage of missing values, and whether there are any."""
    name = "missing_pct"
    percentage = parse_number(row.get(name))
    if percentage is None:
        return
    builder.add_claim(Claim("missing_values_percentage", float(percentage), row[name], name, field=name))
    builder.add_claim(Claim("has_missing_values", percentage > 0, row[name], name, field=name))
