"""The marker of an upload that is being received, or that was abandoned."""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from uuid import UUID

from touchstone.core.identity import parse_uuid

_SUFFIX: Final = ".part"
# Much longer than any pause between two writes of an upload, which has to keep a minimum rate.
_ABANDONED_SECONDS: Final = 24 * 3600


@dataclass(frozen=True, slots=True)
class UploadMarker:
    """A hidden file beside an upload, which exists until the database has recorded the upload."""

    path: Path

    @classmethod
    def of_upload(cls, folder: Path, file_id: UUID) -> Self:
        """Return the marker of the upload with this id. The marker need not exist."""
        return cls(folder / f".{file_id}{_SUFFIX}")

    @property
    def file_id(self) -> UUID:
        """The id of the upload."""
        return UUID(self.path.stem.removeprefix("."))

    def create(self) -> None:
        """Create the marker."""
        self.path.touch()

    def remove(self) -> None:
        """Remove the marker if it exists."""
        self.path.unlink(missing_ok=True)

    def delete_upload(self) -> None:
        """Delete the file of the upload if it exists."""
        for path in self._upload_paths():
            path.unlink(missing_ok=True)

    def last_write(self) -> float:
        """Return the time of the last write to the upload or its marker, or infinity if they are just being deleted."""
        try:
            return max(path.stat().st_mtime for path in (self.path, *self._upload_paths()))
        except FileNotFoundError:
            return math.inf

    def _upload_paths(self) -> list[Path]:
        """Return the file of the upload, or nothing if none has been created."""
        return list(self.path.parent.glob(f"{self.file_id}-*"))


def find_abandoned_uploads(folder: Path) -> list[UploadMarker]:
    """Return the markers of uploads in a folder to which nothing has been written for a day.

    Uploads with newer markers may still be received by this process, or by another one with the same folder.
    """
    latest_write = time.time() - _ABANDONED_SECONDS
    paths = [path for path in folder.glob(f".*{_SUFFIX}") if parse_uuid(path.stem.removeprefix("."))]
    return [marker for marker in map(UploadMarker, paths) if marker.last_write() < latest_write]
