"""Access to data files: those in the data folders are for everyone, uploads only for their owner."""

import asyncio
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final
from uuid import UUID

from touchstone.core.errors import DataFileUnreadable
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.datafiles import safe_open
from touchstone.demo.packaged_records import tables_folder
from touchstone.services.selection.files import store

DEMO: Final = "demo"


class DataFiles:
    """The data files of this installation."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._roots = settings.data_roots
        self._private_folder = settings.data_dir.resolve()
        self._named_folders = {DEMO: tables_folder(), store.UPLOADS: settings.uploads_dir}

    async def open(self, file_path: str, owner: UUID | None) -> BinaryIO:
        """Open the data file that a dataset record names, for reading; the caller closes it.

        `owner` is the owner of the record, who may name the uploads of nobody else.

        Raises:
            DataFileUnreadable: the file is missing, forbidden or outside the data folders.
        """
        if not await self._is_allowed(file_path, owner):
            raise DataFileUnreadable

        try:
            return await asyncio.to_thread(
                safe_open.open_data_file, file_path, self._roots, named_folders=self._named_folders
            )
        except safe_open.UnreadablePath as error:
            raise DataFileUnreadable from error

    async def _is_allowed(self, file_path: str, owner: UUID | None) -> bool:
        """Return whether a record of `owner` may name the file at this path.

        An uploaded file may be named only by records of the user who has uploaded it. Any other file may be named,
        unless it is one of the service's own, such as its database or its keys.
        """
        components = [component for component in file_path.split("/") if component not in ("", ".")]
        is_upload = not file_path.startswith("/") and components[:1] == [store.UPLOADS]
        if not is_upload:
            return not self._is_in_private_folder(file_path)

        async with self._database.reading() as connection:
            uploader = await store.file_owner(connection, "/".join(components))
        return uploader is not None and uploader == owner

    def _is_in_private_folder(self, file_path: str) -> bool:
        """Return whether the path leads to the folder of the service's own database, keys and uploads.

        A path that passes through a symbolic link is checked both as it is written and with the link followed.
        """
        # A relative path may be in any data folder.
        path = PurePosixPath(file_path)
        candidates = [Path(path)] if path.is_absolute() else [root / path for root in self._roots]

        for candidate in candidates:
            for location in (candidate.absolute(), _resolve(candidate)):
                if self._private_folder in (location, *location.parents):
                    return True

        return False


def _resolve(path: Path) -> Path:
    """Return the absolute path with all symbolic links followed.

    If they cannot be followed, because they form a loop or the path is not valid, the path keeps them.
    """
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()
