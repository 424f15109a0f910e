"""Receiving the documents of an import: one as the body of a request, or several as a form."""

from pathlib import PurePosixPath
from typing import Final

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from touchstone.core.errors import BadRequest, FieldError, InvalidValue, TooLarge
from touchstone.http.request_models import require_clean_text
from touchstone.metadata.reading_protocol import UploadedDocument
from touchstone.services.selection.files.uploads import FORM_OVERHEAD_BYTES, SizeLimit, enforce_limit

FORM_FIELD: Final = "files"
MAX_DOCUMENTS: Final = 200
# All documents of a request together; they are held in memory while they are read.
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_NAME_LENGTH: Final = 500
# The names of documents that come without one, by their media types. Readers recognise formats by these endings.
NAMES_BY_MEDIA_TYPE: Final = {
    "application/json": "document.json",
    "application/ld+json": "document.jsonld",
    "application/yaml": "document.yaml",
    "application/x-yaml": "document.yaml",
    "text/yaml": "document.yaml",
    "text/x-yaml": "document.yaml",
    "text/csv": "document.csv",
    "text/tab-separated-values": "document.tsv",
    "text/markdown": "README.md",
    "text/turtle": "document.ttl",
    "application/rdf+xml": "document.rdf",
}


async def receive_documents(request: Request, name: str | None, max_bytes: int) -> list[UploadedDocument]:
    """Return the documents in the body of a request; `name` is that of a document that is the body itself.

    Raises:
        BadRequest: the body is called a form and is none, or it contains too many files.
        InvalidValue: a form contains no file, or the name of a document is too long.
        TooLarge: the documents together are larger than `max_bytes` or `MAX_BYTES`.
    """
    max_bytes = min(max_bytes, MAX_BYTES)
    limit = SizeLimit(max_bytes, TooLarge(limit=max_bytes))
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "multipart/form-data":
        return await _receive_form(request, limit)

    content = b"".join([chunk async for chunk in enforce_limit(request.stream(), limit)])
    document_name = name or NAMES_BY_MEDIA_TYPE.get(media_type, "")
    return [UploadedDocument(name=_clean_name(document_name), content=content)]


async def _receive_form(request: Request, limit: SizeLimit) -> list[UploadedDocument]:
    """Return the files of a multipart form, which may be a little larger than the files together.

    Raises:
        BadRequest: the body is not a form, or it contains too many files.
        InvalidValue: there is no file, or one with a name that is too long or in another field than `files`.
        TooLarge: the form is too large.
    """
    form_limit = SizeLimit(limit.max_bytes + FORM_OVERHEAD_BYTES, limit.error)
    body = enforce_limit(request.stream(), form_limit)
    parser = MultiPartParser(request.headers, body, max_files=MAX_DOCUMENTS, max_fields=0)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise BadRequest from error

    try:
        files = [(field, upload) for field, upload in form.multi_items() if isinstance(upload, UploadFile)]
        if not files:
            raise InvalidValue(FieldError(("body", FORM_FIELD), "missing"))
        return [await _read_upload(field, upload) for field, upload in files]
    finally:
        await form.close()


async def _read_upload(field: str, upload: UploadFile) -> UploadedDocument:
    """Return one file of a form as a document.

    Raises:
        InvalidValue: the field has another name, or the name of the file is too long.
    """
    if field != FORM_FIELD:
        raise InvalidValue(FieldError(("body", field[:MAX_NAME_LENGTH]), "choice_expected", {"choices": FORM_FIELD}))
    return UploadedDocument(name=_clean_name(upload.filename or ""), content=await upload.read())


def _clean_name(name: str) -> str:
    """Return the path of a document without leading slashes and without steps to other folders.

    Raises:
        InvalidValue: the name is too long, or cannot be stored.
    """
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidValue(FieldError(("query", "name"), "string_too_long", {"max_length": MAX_NAME_LENGTH}))
    try:
        require_clean_text(name)
    except ValueError as error:
        raise InvalidValue(FieldError(("query", "name"), "unclean_text")) from error

    steps = [step for step in name.replace("\\", "/").split("/") if step not in ("", ".", "..")]
    return str(PurePosixPath(*steps)) if steps else ""
