"""Reading tables from open files of all supported formats, within limits."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO, Final

import pandas as pd

from touchstone.core.column_names import one_line_name
from touchstone.core.text_encoding import TextEncoding
from touchstone.learning.column_types import ColumnSchema
from touchstone.learning.learning_errors import LearningError
from touchstone.learning.table_files.delimited import read_csv, read_tsv
from touchstone.learning.table_files.json_rows import read_json, read_json_lines
from touchstone.learning.table_files.limits import MAX_BYTES
from touchstone.learning.table_files.parquet import read_parquet
from touchstone.learning.table_files.table_content import UNICODE, TableContent
from touchstone.learning.task_interface import DataFile, Json

CHUNK_BYTES: Final = 2**20

READERS: Final[dict[str, Callable[[BinaryIO], TableContent]]] = {
    "csv": read_csv,
    "tsv": read_tsv,
    "parquet": read_parquet,
    "json": read_json,
    "jsonl": read_json_lines,
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table with typed columns.

    Attributes:
        frame: the cells, with the rows in the order of the file and numbered from 0.
        columns: the schema of each column of the frame by name.
        sha256: the digest of the file in hexadecimal digits.
        renamed: the original name for each renamed column; the original name was empty or occurred twice.
        encoding: the text encoding of the file.
        has_header: whether the file names its columns; otherwise they are named by number.
    """

    frame: pd.DataFrame = field(repr=False)
    columns: dict[str, ColumnSchema]
    sha256: str
    renamed: dict[str, str]
    encoding: TextEncoding = UNICODE
    has_header: bool = True

    @property
    def summary(self) -> Json:
        """The numbers of rows and columns and the digest, as shown in the `inputs` of a job."""
        return {"rows": len(self.frame), "columns": len(self.columns), "sha256": self.sha256}


def read_table(file: DataFile) -> Table:
    """Read a CSV, TSV, Parquet, JSON or JSON Lines file as a typed table.

    Columns without a name, or with the name of another column, are renamed. White space around a name is removed, and
    line breaks within a name become spaces.

    Raises:
        LearningError: the file has another type, cannot be read, contains no rows, or is too large.
    """
    reader = READERS.get(file.file_type.lower().lstrip("."))
    if reader is None:
        raise LearningError("file_type_unknown", file_type=file.file_type, known=list(READERS))

    digest = _digest(file.stream)
    content = reader(file.stream)

    frame = pd.DataFrame({typed.column.name: typed.values for typed in content.columns})
    if frame.empty:
        raise LearningError("file_empty")

    schemas = {typed.column.name: typed.column for typed in content.columns}
    original_names = dict(zip(schemas, content.names_in_file, strict=True))
    renamed = {name: original for name, original in original_names.items() if name != one_line_name(original)}
    return Table(frame, schemas, digest, renamed, content.encoding, content.has_header)


def _digest(stream: BinaryIO) -> str:
    """Return the SHA-256 digest of a file in hexadecimal digits, and rewind the file.

    Raises:
        LearningError: as soon as more than `MAX_BYTES` have been read.
    """
    digest = hashlib.sha256()
    size = 0

    stream.seek(0)
    while chunk := stream.read(CHUNK_BYTES):
        digest.update(chunk)
        size += len(chunk)
        if size > MAX_BYTES:
            raise LearningError("file_too_large", maximum=MAX_BYTES)

    stream.seek(0)
    return digest.hexdigest()
