"""API calls for documents in the metadata standards that describe datasets."""

import re
from collections.abc import Callable
from typing import Final, Literal
from uuid import UUID

import httpx2

from touchstone.client.call import Call, build_path, media_type_of, refuse_web_page
from touchstone.client.models import ExportedFile

ExportFormat = Literal["croissant", "dcat", "datapackage", "card", "jsonld"]
ReportFormat = Literal["html", "pdf", "json"]
_FILE_NAME: Final = re.compile(r'filename="([^"/\\]+)"')


def export_dataset(dataset_id: int | str | UUID, export_format: ExportFormat = "croissant") -> Call[ExportedFile]:
    """Return a record with its claims as a document in a metadata standard.

    The document has everything that was imported in the same standard, and the exact values of the record, so that
    importing it again loses nothing.
    """
    path = build_path("datasets", dataset_id, "export")
    return Call("GET", path, read_file("dataset"), query={"format": export_format})


def read_file(default_name: str) -> Callable[[httpx2.Response], ExportedFile]:
    """Return a function that reads a response as a file.

    The file has the name that the service suggests in the header `Content-Disposition`, or else `default_name`. The
    function raises `TouchstoneError` if the response is a web page, but the file is not.
    """

    def read(response: httpx2.Response) -> ExportedFile:
        match = _FILE_NAME.search(response.headers.get("content-disposition", ""))
        name = match.group(1) if match else default_name
        refuse_web_page(response, file_name=name)
        return ExportedFile(content=response.content, media_type=media_type_of(response), name=name)

    return read
