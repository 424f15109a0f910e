"""What a job reads: its data file, and the model of the job that it explains, opened anew for every attempt."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Final

from touchstone import demo
from touchstone.core.errors import DataFileUnreadable, FieldError, ModelGone
from touchstone.core.settings import Settings
from touchstone.datafiles import safe_open
from touchstone.jobs.artifact_store import Shelf

DATA: Final = "data"
MODEL: Final = "model"


class Inputs:
    """Opens files by what a job's row says of them: `file_path` of the data, `model_path` of an artefact."""

    def __init__(self, settings: Settings, shelf: Shelf) -> None:
        self._roots = settings.data_roots
        self._prefixes: Mapping[str, Path] = {"demo": demo.tables_folder(), "uploads": settings.uploads_dir}
        self._shelf = shelf

    def open_data(self, path: str) -> BinaryIO:
        """The data file at a path that a dataset's record names.

        Raises:
            DataFileUnreadable: it is missing, forbidden or outside.
        """
        try:
            return safe_open.open_data_file(path, self._roots, prefixes=self._prefixes)
        except safe_open.DataFileUnreadable as problem:
            raise DataFileUnreadable(FieldError(("body", "dataset_id"), "no_table")) from problem

    @contextlib.contextmanager
    def opened(self, source: Mapping[str, Any]) -> Iterator[dict[str, BinaryIO]]:
        """Every file that a job's row names, by its role; closed afterwards.

        Raises:
            DataFileUnreadable: the data file cannot be opened.
            ModelGone: the model is not there any more.
        """
        with contextlib.ExitStack() as stack:
            files: dict[str, BinaryIO] = {}
            if path := source.get("file_path"):
                files[DATA] = stack.enter_context(self.open_data(path))
            if path := source.get("model_path"):
                files[MODEL] = stack.enter_context(self._open_model(path))
            yield files

    def _open_model(self, path: str) -> BinaryIO:
        try:
            return self._shelf.open(path)
        except FileNotFoundError as problem:
            raise ModelGone from problem
