"""Opening the files that a job reads: its data file, and the model that it explains."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final

from touchstone.core.errors import DataFileUnreadable, FieldError, ModelGone
from touchstone.core.settings import Settings
from touchstone.datafiles import safe_open
from touchstone.demo.packaged_records import tables_folder
from touchstone.jobs.artifact_files import ArtifactStore
from touchstone.jobs.job_records import JobSource

# The roles of the files of a task.
DATA: Final = "data"
MODEL: Final = "model"


class InputFiles:
    """Opens the files named in the source of a job.

    Worker processes receive open files instead of paths. Each attempt opens them again.
    """

    def __init__(self, settings: Settings, artifact_store: ArtifactStore) -> None:
        self._data_roots = settings.data_roots
        self._named_folders: Mapping[str, Path] = {"demo": tables_folder(), "uploads": settings.uploads_dir}
        self._artifact_store = artifact_store

    @contextlib.contextmanager
    def open(self, source: JobSource) -> Iterator[dict[str, BinaryIO]]:
        """Open all files of a source, yield them by role, and close them at the end of the block.

        Raises:
            DataFileUnreadable: the data file cannot be opened.
            ModelGone: the model no longer exists.
        """
        with contextlib.ExitStack() as opened_files:
            files_by_role: dict[str, BinaryIO] = {}
            if source.file_path:
                files_by_role[DATA] = opened_files.enter_context(self.open_data(source.file_path))
            if source.model_path:
                files_by_role[MODEL] = opened_files.enter_context(self._open_model(source.model_path))
            yield files_by_role

    @contextlib.asynccontextmanager
    async def open_in_thread(self, source: JobSource) -> AsyncIterator[dict[str, BinaryIO]]:
        """Open the files like `open`, but in a thread, so that a slow disk does not delay other requests."""
        with contextlib.ExitStack() as opened_files:
            yield await asyncio.to_thread(opened_files.enter_context, self.open(source))

    def open_data(self, path: str) -> BinaryIO:
        """Open the data file at the path from the record of a dataset.

        Raises:
            DataFileUnreadable: the file is missing, forbidden, or outside the data folders.
        """
        try:
            return safe_open.open_data_file(path, self._data_roots, named_folders=self._named_folders)
        except safe_open.UnreadablePath as error:
            raise DataFileUnreadable(FieldError(("body", "dataset_id"), "no_table")) from error

    def _open_model(self, path: str) -> BinaryIO:
        """Open the model file of a training at the path from its artifact record.

        Raises:
            ModelGone: the training and its model were deleted.
        """
        try:
            return self._artifact_store.open(path)
        except FileNotFoundError as error:
            raise ModelGone from error
