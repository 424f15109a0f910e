"""Rows of uploaded files."""

from datetime import datetime
from pathlib import PurePosixPath
from typing import Final
from uuid import UUID

import msgspec
import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import files
from touchstone.database.versions import increment_version

# The first component of the path of every upload; also the name of the counter that serialises them.
UPLOADS: Final = "uploads"


class FileRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An uploaded file; `file_path` is `uploads/<id>-<name>`."""

    id: UUID
    owner: UUID
    file_path: str
    bytes: int
    sha256: str
    created_at: datetime

    @property
    def stored_name(self) -> str:
        """The name of the file in the folder of the uploads."""
        return PurePosixPath(self.file_path).name

    @property
    def name(self) -> str:
        """The name under which the file was uploaded, reduced to safe characters."""
        return self.stored_name.removeprefix(f"{self.id}-")


async def lock_uploads(rows: Writer) -> None:
    """Make every other upload wait, in any process, until this transaction ends."""
    await increment_version(rows, UPLOADS)


async def insert_file(rows: Writer, file: FileRecord) -> None:
    """Insert the row of an uploaded file."""
    await rows.execute(sa.insert(files).values(**msgspec.structs.asdict(file)))


async def load_files(rows: Reader, owner: UUID) -> list[FileRecord]:
    """Return an owner's uploads, newest first."""
    query = sa.select(files).where(files.c.owner == owner).order_by(files.c.created_at.desc(), files.c.id)
    return [_to_record(row) for row in await rows.all(query)]


async def delete_file(rows: Writer, file_id: UUID, owner: UUID) -> FileRecord | None:
    """Delete the row of an owner's upload and return it, or None if the owner has no such upload."""
    condition = (files.c.id == file_id) & (files.c.owner == owner)
    row = await rows.returning(sa.delete(files).where(condition).returning(*files.c))
    return None if row is None else _to_record(row)


async def total_file_bytes(rows: Reader, owner: UUID) -> int:
    """Return the size in bytes of all uploads of an owner together."""
    return int(await rows.scalar(sa.select(sa.func.sum(files.c.bytes)).where(files.c.owner == owner)) or 0)


async def file_owner(rows: Reader, file_path: str) -> UUID | None:
    """Return the owner of the upload with this path, or None if there is no such upload."""
    owner: UUID | None = await rows.scalar(sa.select(files.c.owner).where(files.c.file_path == file_path))
    return owner


def _to_record(row: sa.RowMapping) -> FileRecord:
    return FileRecord(**{str(name): value for name, value in row.items()})
