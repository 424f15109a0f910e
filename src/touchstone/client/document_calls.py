"""API calls for documents in the metadata standards that describe datasets."""

import re
from typing import Final, Literal
from uuid import UUID

import httpx2

from touchstone.client.call import Call, build_path
from touchstone.client.models import ExportedFile

ExportFormat = Literal["croissant", "dcat", "datapackage", "card", "jsonld"]
_FILE_NAME: Final = re.compile(r'filename="([^"/\\]+)"')


def export_dataset(dataset_id: int | str | UUID, format: ExportFormat = "croissant") -> Call[ExportedFile]:  # noqa: A002
    """Return a record with its claims as a document in a metadata standard.

    The document has everything that was imported in the same standard, and the exact values of the record, so that
    importing it again loses nothing.
    """
    return Call("GET", build_path("datasets", dataset_id, "export"), _read_file, query={"format": format})


def _read_file(response: httpx2.Response) -> ExportedFile:
    """Return the document in a response, under the name that the service suggests."""
    match = _FILE_NAME.search(response.headers.get("content-disposition", ""))
    media_type = response.headers.get("content-type", "").partition(";")[0]
    return ExportedFile(content=response.content, media_type=media_type, name=match.group(1) if match else "dataset")
