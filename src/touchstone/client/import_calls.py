"""API calls for importing metadata documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict, Unpack

from touchstone.client.call import Call, build_path, read_json
from touchstone.client.import_models import ImportReport

BINARY_MEDIA_TYPE = "application/octet-stream"
DocumentSource: TypeAlias = Path | tuple[str, bytes]


class ImportOptions(TypedDict, total=False):
    """How documents are imported.

    Attributes:
        format: The key of their metadata standard; detected if left out.
        source_name, source_url: The source of the documents.
        visibility: Who sees the records; by default new ones are public, and others stay as they are.
        accept: Whether claims that are found in prose count at once, instead of being proposed.
        dry_run: Whether the service only says what it would do.
    """

    format: str | None
    source_name: str | None
    source_url: str | None
    visibility: Literal["public", "private"] | None
    accept: bool
    dry_run: bool


def import_documents(documents: Sequence[DocumentSource], **options: Unpack[ImportOptions]) -> Call[ImportReport]:
    """Import metadata documents: files, or names with contents. Importing the same again changes nothing.

    Documents in the same folder complete each other, such as a card and its `dataset_infos.json`. Some standards take
    the identifier of a dataset from the folder, so a name should contain it: `squad/README.md`.
    """
    files = [("files", (*_read_source(source), BINARY_MEDIA_TYPE)) for source in documents]
    return Call("POST", build_path("datasets", "import"), read_json(ImportReport), query=options, files=files)


def _read_source(source: DocumentSource) -> tuple[str, bytes]:
    """Return the name of a document, with that of its folder, and its content."""
    if not isinstance(source, Path):
        return source
    path = source.resolve()
    return f"{path.parent.name}/{path.name}", path.read_bytes()
