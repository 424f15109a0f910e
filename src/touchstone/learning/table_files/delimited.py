"""Reading of CSV and TSV files."""

import csv
import warnings
from functools import partial
from itertools import pairwise
from typing import Any, BinaryIO, Final

import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv

from touchstone.core.column_names import unique_names
from touchstone.core.delimited_text import TableLayout, detect_layout
from touchstone.core.text_encoding import TextEncoding
from touchstone.learning.column_types import from_arrow_strings
from touchstone.learning.fitting_pool import usable_core_count
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_files.limits import MAX_LINE_BYTES, check_size
from touchstone.learning.table_files.table_content import TableContent, type_columns
from touchstone.learning.table_files.text_file import CHUNK, detect_encoding

BLOCK_BYTES: Final = 2 * MAX_LINE_BYTES  # Arrow reads files in blocks, which must not be shorter than a row.
QUOTE: Final = b'"'  # also occurs in the UTF-16 encoding of a quotation mark


def read_csv(stream: BinaryIO, delimiter: str | None = None) -> TableContent:
    """Read a table of delimited text, and infer the types of its columns.

    The encoding, the presence of a header and, unless given, the delimiter are detected.
    """
    encoding = detect_encoding(stream, max_line_bytes=MAX_LINE_BYTES)
    layout = _detect_layout(stream, encoding, delimiter)
    check_size(columns=layout.width, rows=1)

    cells = _read_cells(stream, layout, encoding)
    names = layout.names
    if layout.has_extra_field:
        names, cells = _resolve_extra_field(names, cells)
    check_size(columns=len(names), rows=len(cells[0]))

    infer_type = partial(from_arrow_strings, delimiter=layout.delimiter)
    typed_columns = type_columns(infer_type, unique_names(names), cells)
    return TableContent(names, typed_columns, encoding, layout.has_header)


def read_tsv(stream: BinaryIO) -> TableContent:
    """Read a table of tab-separated cells."""
    return read_csv(stream, delimiter="\t")


def _detect_layout(stream: BinaryIO, encoding: TextEncoding, delimiter: str | None) -> TableLayout:
    """Detect the layout of delimited text from its beginning."""
    stream.seek(0)
    beginning = stream.read(MAX_LINE_BYTES + CHUNK).decode(encoding.name, errors="replace").lstrip("\ufeff")
    layout = detect_layout(beginning, delimiter)
    if layout is None:
        raise LearningError("file_empty")
    return layout


def _resolve_extra_field(names: list[str], cells: list[pa.ChunkedArray]) -> tuple[list[str], list[pa.ChunkedArray]]:
    """Match names and columns of a file whose rows have one field more than the header.

    Some programs end each row with a delimiter, so that the last field is always empty. It is dropped. Other programs
    begin each row with a row name that has no name in the header. An empty column name is added for it.
    """
    rows_end_with_delimiter = not any(cell.strip() for cell in cells[-1].unique().to_pylist())
    if rows_end_with_delimiter:
        return names, cells[:-1]
    return ["", *names], cells


def _read_cells(stream: BinaryIO, layout: TableLayout, encoding: TextEncoding) -> list[pa.ChunkedArray]:
    """Return the cells below the header as columns of strings.

    Raises:
        LearningError: a row has too many fields, or the file cannot be parsed for another reason.
    """
    if layout.has_spaces_before_quotes:
        # Arrow would take the spaces and the quotes for a part of the cells.
        return _read_irregular_cells(stream, layout, encoding)

    stream.seek(0)
    try:
        return _read_regular_cells(stream, layout, encoding)
    except (pa.ArrowInvalid, UnicodeDecodeError):
        # The rows have different lengths or invalid characters, which pandas tolerates.
        return _read_irregular_cells(stream, layout, encoding)


def _read_regular_cells(stream: BinaryIO, layout: TableLayout, encoding: TextEncoding) -> list[pa.ChunkedArray]:
    """Return the cells of a file whose rows all have the same number of fields.

    Raises:
        pa.ArrowInvalid: the number of fields varies, or there are invalid characters.
    """
    positions = [str(position) for position in range(layout.width)]
    may_break_lines = _contains_quotes(stream)
    table = arrow_csv.read_csv(
        pa.PythonFile(stream, mode="r"),
        read_options=arrow_csv.ReadOptions(
            column_names=positions,
            skip_rows=layout.skipped_lines,
            skip_rows_after_names=1 if layout.has_header else 0,
            encoding=encoding.name,
            block_size=BLOCK_BYTES,
            use_threads=usable_core_count() > 1,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=may_break_lines),
        convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(positions, pa.large_string())),
    )
    return list(table.columns)


def _contains_quotes(stream: BinaryIO) -> bool:
    """Return whether a file contains a quotation mark, and rewind the file.

    Only quoted cells contain line breaks. Without quotes, Arrow need not search for the ends of rows sequentially,
    which would take as long as reading the cells.
    """
    contains_quotes = any(QUOTE in chunk for chunk in iter(lambda: stream.read(CHUNK), b""))
    stream.seek(0)
    return contains_quotes


def _read_irregular_cells(stream: BinaryIO, layout: TableLayout, encoding: TextEncoding) -> list[pa.ChunkedArray]:
    """Read the columns of a file with incomplete rows or with spaces before quoted cells.

    The missing cells of incomplete rows become empty.

    Raises:
        LearningError: a row has too many fields, or the file cannot be parsed for another reason.
    """
    codec = "utf-8-sig" if encoding.name == "utf-8" else encoding.name  # Skip a byte order mark.
    stream.seek(0)

    try:
        with warnings.catch_warnings():
            # pandas only warns when it drops surplus fields of a row.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            cells = pd.read_csv(
                stream,
                sep=layout.delimiter,
                header=None,  # pandas requires that a header has as many fields as the first row.
                names=range(layout.width),
                dtype=str,
                na_filter=False,
                encoding=codec,
                encoding_errors="replace",
                low_memory=False,
                index_col=False,
                skipinitialspace=layout.has_spaces_before_quotes,
            )
    except pd.errors.EmptyDataError as error:
        raise LearningError("file_empty") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning, csv.Error) as error:
        line = _line_number(str(error))
        if line is None:
            raise LearningError("file_unreadable") from error
        raise LearningError("file_malformed", line=line) from error
    # pandas skips empty lines, but no line that states the delimiter.
    rows = cells.iloc[int(layout.states_delimiter) + int(layout.has_header) :]
    return [_to_arrow(rows[position]) for position in rows]


def _to_arrow(cells: "pd.Series[Any]") -> pa.ChunkedArray:
    """Convert a pandas column of strings to Arrow, with empty strings for missing cells."""
    return pa.chunked_array([pa.array(cells.fillna("").astype(object), type=pa.large_string())])


def _line_number(message: str) -> int | None:
    """Return the line number in a pandas error message, such as "Expected 3 fields in line 5, saw 4"."""
    words = message.replace(",", " ").split()
    for word, next_word in pairwise(words):
        if word == "line" and next_word.isdigit():
            return int(next_word)
    return None
