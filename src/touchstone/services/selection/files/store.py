"""Queries on the table of uploaded files."""

from datetime import datetime
from pathlib import PurePosixPath
from typing import Final
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.database.change_counters import increment_version
from touchstone.database.engine import Reader, Row, Writer
from touchstone.database.tables import files

# The first component of the path of every upload, and the name of the counter that serializes uploads.
UPLOADS: Final = "uploads"


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An uploaded file, whose `file_path` is `uploads/<id>-<name>`."""

    id: UUID
    owner: UUID
    file_path: str
    bytes: int
    sha256: str
    created_at: datetime

    @property
    def stored_name(self) -> str:
        """The name of the file in the uploads folder."""
        return PurePosixPath(self.file_path).name

    @property
    def name(self) -> str:
        """The name under which the file was uploaded, reduced to safe characters."""
        return self.stored_name.removeprefix(f"{self.id}-")


async def lock_uploads(transaction: Writer) -> None:
    """Block all other uploads, including those of other processes, until this transaction ends."""
    await increment_version(transaction, UPLOADS)


async def insert_file(transaction: Writer, file: FileRecord) -> None:
    """Insert the row of an uploaded file."""
    await transaction.execute(sa.insert(files).values(**msgspec.structs.asdict(file)))


async def load_files(connection: Reader, owner: UUID) -> list[FileRecord]:
    """Return an owner's uploads, newest first."""
    query = sa.select(files).where(files.c.owner == owner).order_by(files.c.created_at.desc(), files.c.id)
    return [_to_record(row) for row in await connection.all(query)]


async def find_file(connection: Reader, file_id: UUID, owner: UUID) -> FileRecord | None:
    """Return an owner's upload, or None if the owner has no such upload."""
    row = await connection.first(sa.select(files).where(files.c.id == file_id, files.c.owner == owner))
    return None if row is None else _to_record(row)


async def is_recorded(connection: Reader, file_id: UUID) -> bool:
    """Return whether there is an upload with this id."""
    return await connection.scalar(sa.select(files.c.id).where(files.c.id == file_id)) is not None


async def delete_file(transaction: Writer, file_id: UUID, owner: UUID) -> FileRecord | None:
    """Delete the row of an owner's upload and return it, or None if the owner has no such upload."""
    condition = (files.c.id == file_id) & (files.c.owner == owner)
    row = await transaction.fetch_returned_row(sa.delete(files).where(condition).returning(*files.c))
    return None if row is None else _to_record(row)


async def total_file_bytes(connection: Reader, owner: UUID) -> int:
    """Return the total size of an owner's uploads in bytes."""
    total = await connection.scalar(sa.select(sa.func.sum(files.c.bytes)).where(files.c.owner == owner))
    return int(total or 0)  # the sum over no rows is NULL


async def file_owner(connection: Reader, file_path: str) -> UUID | None:
    """Return the owner of the upload with this path, or None if there is no such upload."""
    owner: UUID | None = await connection.scalar(sa.select(files.c.owner).where(files.c.file_path == file_path))
    return owner


def _to_record(row: Row) -> FileRecord:
    """Convert a row of the table to a record, whose fields have the names of the columns."""
    return FileRecord(**row)
