"""Reception of the documents to import: either one as the request body, or several in a form."""

from pathlib import PurePosixPath
from typing import Final

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from touchstone.core.errors import BadRequest, FieldError, InvalidValue, TooLarge
from touchstone.database.failures import translate_failures
from touchstone.http.request_models import require_clean_text
from touchstone.metadata.reading_protocol import UploadedDocument
from touchstone.services.selection.files.uploads import FORM_OVERHEAD_BYTES, SizeLimit, enforce_limit

FORM_FIELD: Final = "files"
MAX_DOCUMENTS: Final = 200
# The total size of the documents in a request, which are held in memory while they are read.
MAX_BYTES: Final = 64 * 1024 * 1024
MAX_NAME_LENGTH: Final = 500
# The names for unnamed documents by media type. Readers recognize the format of a document by its extension.
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
    """Return the documents in the body of a request, whose total size is at most `max_bytes`.

    `name` is the name of the document if the body is not a form.

    Raises:
        BadRequest: the body is a malformed form, or it contains too many files.
        InvalidValue: a form contains no file, or the name of a document is too long.
        TooLarge: the documents together are larger than `max_bytes` or `MAX_BYTES`.
        StorageFull: there is no space for the files of a form.
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
    """Return the files of a multipart form, which may be slightly larger than the limit on the files.

    Raises:
        BadRequest: the form is malformed, or it contains too many files.
        InvalidValue: there is no file, a file is not in the field `files`, or its name is too long.
        TooLarge: the form is too large.
        StorageFull: there is no space for the files of the form.
    """
    form_limit = SizeLimit(limit.max_bytes + FORM_OVERHEAD_BYTES, limit.error)
    body = enforce_limit(request.stream(), form_limit)
    parser = MultiPartParser(request.headers, body, max_files=MAX_DOCUMENTS, max_fields=0)
    try:
        with translate_failures():  # The parser stores large files on the disk.
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
        InvalidValue: the field is not `files`, or the file name is too long.
    """
    if field != FORM_FIELD:
        raise InvalidValue(FieldError(("body", field[:MAX_NAME_LENGTH]), "choice_expected", {"choices": FORM_FIELD}))
    return UploadedDocument(name=_clean_name(upload.filename or ""), content=await upload.read())


def _clean_name(name: str) -> str:
    """Return the path of a document as a relative path without `.` and `..`.

    Raises:
        InvalidValue: the name is too long, or contains characters that cannot be stored.
    """
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidValue(FieldError(("query", "name"), "string_too_long", {"max_length": MAX_NAME_LENGTH}))
    try:
        require_clean_text(name)
    except ValueError as error:
        raise InvalidValue(FieldError(("query", "name"), "unclean_text")) from error

    components = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return str(PurePosixPath(*components)) if components else ""
