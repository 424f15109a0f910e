"""API calls that export datasets as documents in metadata standards."""

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

    The document contains the exact values of the record, and everything that was imported in the same standard, so that
    importing it again loses nothing.
    """
    path = build_path("datasets", dataset_id, "export")
    return Call("GET", path, read_file("dataset"), query={"format": export_format})


def read_file(default_name: str) -> Callable[[httpx2.Response], ExportedFile]:
    """Return a function that reads a response as a file.

    The name of the file comes from the header `Content-Disposition`, or else is `default_name`. The function raises
    `TouchstoneError` if the response is a web page, although the name is not the name of one.
    """

    def read(response: httpx2.Response) -> ExportedFile:
        match = _FILE_NAME.search(response.headers.get("content-disposition", ""))
        name = match.group(1) if match else default_name
        refuse_web_page(response, file_name=name)
        return ExportedFile(content=response.content, media_type=media_type_of(response), name=name)

    return read
