"""Routes of uploaded files."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.responses import BINARY_CONTENT, OCTET_STREAM, JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import RequestContext
from touchstone.services.selection.files.schemas import FilesView, FileView
from touchstone.services.selection.files.store import FileRecord
from touchstone.services.selection.files.uploads import UPLOAD_PARAMETERS, parse_file_type
from touchstone.services.selection.openapi import describe_operation

router = strict_router(prefix="/files", tags=["files"])

_FORM_SCHEMA: Final = {
    "type": "object",
    "properties": {"file": BINARY_CONTENT[OCTET_STREAM]["schema"]},
    "required": ["file"],
}
_UPLOAD_BODY: Final[dict[str, Any]] = {
    "required": True,
    "content": {"multipart/form-data": {"schema": _FORM_SCHEMA}, **BINARY_CONTENT},
}


@router.get("", summary="List your uploads", response_model=FilesView)
async def list_files(request: Request) -> Response:
    """Return the caller's uploads, the newest first, with their total size and the quota."""
    ctx = RequestContext(request)
    owner = ctx.require_owner()
    uploads = ctx.services.uploads

    files = await uploads.list_files(owner)

    content = FilesView(
        files=[_to_view(file) for file in files],
        used_bytes=sum(file.bytes for file in files),
        quota_bytes=uploads.quota_bytes,
    )
    return JsonResponse(content.model_dump())


@router.post(
    "",
    status_code=201,
    summary="Upload a table",
    response_model=FileView,
    openapi_extra=describe_operation(UPLOAD_PARAMETERS) | {"requestBody": _UPLOAD_BODY},
)
async def upload_file(request: Request) -> Response:
    """Upload one file in a form, or as the body with `?name=`. Records refer to it by its `file_path`."""
    ctx = RequestContext(request)
    owner = ctx.require_owner()

    file = await ctx.services.uploads.receive(request, owner)

    return JsonResponse(_to_view(file).model_dump(), status_code=201)


@router.delete("/{file_id}", status_code=204, summary="Delete an upload")
async def delete_file(request: Request, file_id: str) -> Response:
    """Delete an upload. Records that refer to it remain, but lose the measurements of the file."""
    ctx = RequestContext(request)
    owner = ctx.require_owner()

    # Clear the measurements first, so that the request can simply be repeated if a later step fails.
    file = await ctx.services.uploads.get(file_id, owner)
    await ctx.services.background_measurer.clear_measurements(file.stored_name, owner)
    await ctx.services.uploads.delete(file.id, owner)

    return Response(status_code=204)


def _to_view(file: FileRecord) -> FileView:
    """Convert a file record to the form that its owner receives."""
    return FileView(
        id=file.id,
        file_path=file.file_path,
        file_type=parse_file_type(file.name),
        name=file.name,
        bytes=file.bytes,
        sha256=file.sha256,
        created_at=file.created_at,
    )
