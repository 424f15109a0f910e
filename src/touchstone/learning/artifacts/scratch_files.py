"""Files that a task writes into its scratch folder, where its caller collects them."""

import hashlib
from pathlib import Path

from touchstone.learning.task_interface import MEDIA_TYPES, ArtifactFile


def write_artifact(scratch: Path, name: str, data: bytes) -> ArtifactFile:
    """Write a file into the scratch folder, with the media type given by its suffix."""
    path = scratch / name
    path.write_bytes(data)
    return ArtifactFile(
        name=name,
        path=path,
        media_type=MEDIA_TYPES[path.suffix],
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
    )
