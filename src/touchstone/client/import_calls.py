"""API calls for importing metadata documents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict, Unpack

from touchstone.client.call import Call, build_path, read_json
from touchstone.client.import_models import ImportReport

BINARY_MEDIA_TYPE = "application/octet-stream"
DocumentSource: TypeAlias = Path | tuple[str, bytes]


class ImportOptions(TypedDict, total=False):
    """The options of an import of documents.

    Attributes:
        format: the key of the metadata standard; the service detects it by default.
        source_name, source_url: the source of the documents.
        visibility: who can see the records; by default, new records are public, except for exports of private records,
            and others stay as they are.
        accept: whether claims that are found in prose take effect immediately, instead of being proposed.
        dry_run: whether the service only reports what it would do.
    """

    format: str | None
    source_name: str | None
    source_url: str | None
    visibility: Literal["public", "private"] | None
    accept: bool
    dry_run: bool


def import_documents(documents: Sequence[DocumentSource], **options: Unpack[ImportOptions]) -> Call[ImportReport]:
    """Import metadata documents, given as files or as names with contents.

    Importing the same documents again changes nothing. Documents in the same folder complete each other, such as a card
    and its `dataset_infos.json`. Some standards identify a dataset by its folder, so names should contain the folder,
    as in `squad/README.md`.

    If nothing can be used, the raised `TouchstoneError` has the code `unusable_documents`, and its `errors` say why. Of
    more than 200 documents and datasets, only 200 are listed, and a last entry with the type `more_rejections` says how
    many more there are.
    """
    files = [("files", (*_read_source(source), BINARY_MEDIA_TYPE)) for source in documents]
    return Call("POST", build_path("datasets", "import"), read_json(ImportReport), query=options, files=files)


def _read_source(source: DocumentSource) -> tuple[str, bytes]:
    """Return the name of a document, which begins with its folder, and its content."""
    if not isinstance(source, Path):
        return source
    path = source.resolve()
    return f"{path.parent.name}/{path.name}", path.read_bytes()
