"""Which data files a record may lead to: the data folders are for everyone, an upload only for who brought it."""

import asyncio
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final
from uuid import UUID

from touchstone.core.errors import DataFileUnreadable
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.datafiles import safe_open
from touchstone.demo import tables_folder
from touchstone.services.selection import store

DEMO: Final = "demo"
UPLOADS: Final = "uploads"


class DataFiles:
    """The data files of this installation."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._roots = settings.data_roots
        self._own_folder = settings.data_dir.resolve()
        self._prefixes = {DEMO: tables_folder(), UPLOADS: settings.uploads_dir}

    async def open(self, file_path: str, owner: UUID | None) -> BinaryIO:
        """The file that a record of `owner` names, opened for reading; the caller closes it.

        Raises:
            DataFileUnreadable: missing, forbidden or outside, which are one answer.
        """
        if not await self._allowed(file_path, owner):
            raise DataFileUnreadable
        try:
            return await asyncio.to_thread(safe_open.open_data_file, file_path, self._roots, prefixes=self._prefixes)
        except safe_open.DataFileUnreadable as problem:
            raise DataFileUnreadable from problem

    async def _allowed(self, file_path: str, owner: UUID | None) -> bool:
        parts = [part for part in file_path.split("/") if part not in ("", ".")]
        if not file_path.startswith("/") and parts[:1] == [UPLOADS]:
            async with self._database.reading() as rows:
                uploader = await store.file_owner(rows, "/".join(parts))
            return uploader is not None and uploader == owner
        return not self._is_own(file_path)

    def _is_own(self, file_path: str) -> bool:
        """Whether the path leads into the service's own folder (database, key, uploads) by way of a data root."""
        pure = PurePosixPath(file_path)
        reached = [Path(pure)] if pure.is_absolute() else [root / pure for root in self._roots]
        return any(self._own_folder in (path.absolute(), *path.absolute().parents) for path in reached) or any(
            self._own_folder in (found, *found.parents) for found in map(_resolved, reached)
        )


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # names that no file system can spell, loops of links
        return path.absolute()
