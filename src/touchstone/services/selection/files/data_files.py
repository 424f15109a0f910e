"""Access to data files.

Records of any user may refer to files in the data folders, but only their owner's records may refer to uploads.
"""

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

# The first component of the paths of the demo tables, which are part of the package.
DEMO: Final = "demo"


class DataFiles:
    """The data files of this installation."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._database = database
        self._roots = settings.data_roots
        self._private_folder = settings.data_dir.resolve()
        self._named_folders = {DEMO: tables_folder(), store.UPLOADS: settings.uploads_dir}

    async def open(self, file_path: str, owner: UUID | None) -> BinaryIO:
        """Open the data file of a dataset record for reading. The caller must close it.

        Args:
            file_path: the path in the record.
            owner: the owner of the record, who cannot use the uploads of other users.

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
        """Return whether a record of `owner` may refer to the file at this path.

        Only records of the uploader may refer to an upload. Any record may refer to other files, except the private
        files of the service, such as its database and its keys.
        """
        components = [component for component in file_path.split("/") if component not in ("", ".")]
        is_upload = not file_path.startswith("/") and components[:1] == [store.UPLOADS]
        if not is_upload:
            return not self._is_in_private_folder(file_path)

        async with self._database.reading() as connection:
            uploader = await store.file_owner(connection, "/".join(components))
        return uploader is not None and uploader == owner

    def _is_in_private_folder(self, file_path: str) -> bool:
        """Return whether the path leads to the folder that contains the database, the keys and the uploads.

        The path is checked both as given and with all symbolic links resolved.
        """
        # A relative path may refer to any of the data folders.
        path = PurePosixPath(file_path)
        candidates = [Path(path)] if path.is_absolute() else [root / path for root in self._roots]

        for candidate in candidates:
            for location in (candidate.absolute(), _resolve(candidate)):
                if self._private_folder in (location, *location.parents):
                    return True

        return False


def _resolve(path: Path) -> Path:
    """Return the absolute path with all symbolic links resolved.

    The links are kept if they cannot be resolved, because they form a loop or the path is invalid.
    """
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):
        return path.absolute()
