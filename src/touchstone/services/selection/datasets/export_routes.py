"""The route that exports one record as a document in a metadata standard."""

import asyncio
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.conditional import is_not_modified
from touchstone.http.responses import BINARY_CONTENT, ETAG, FILE_NAME, NOT_MODIFIED
from touchstone.http.routing import strict_router
from touchstone.metadata.writers.formats import FORMATS, export_dataset
from touchstone.services.selection.context import DatasetKey, RequestContext
from touchstone.services.selection.datasets.export import EXPORT_PARAMETERS, FORMAT, entity_tag, exported_dataset
from touchstone.services.selection.openapi import describe_operation

router = strict_router(prefix="/datasets", tags=["datasets"])

_CONTENT: Final[dict[str, Any]] = BINARY_CONTENT | {
    export_format.media_type: {"schema": {"type": "string" if export_format.key == "card" else "object"}}
    for export_format in FORMATS.values()
}


@router.get(
    "/{dataset_id}/export",
    summary="Export a dataset in a metadata standard",
    response_class=Response,
    responses={
        200: {"description": "The document.", "headers": ETAG | FILE_NAME, "content": _CONTENT},
        304: NOT_MODIFIED,
    },
    openapi_extra=describe_operation(EXPORT_PARAMETERS, conditional_header="If-None-Match"),
)
async def export_record(request: Request, dataset_id: DatasetKey) -> Response:
    """Return one record with its claims as a document, with everything that was imported in the same standard."""
    ctx = RequestContext(request)
    values = EXPORT_PARAMETERS.parse_query(ctx.query_string)
    record = await ctx.load_record(dataset_id)
    evidence = await ctx.services.evidence.read(record.id, ctx.viewer)

    # Writing a large document takes long, so run it in a thread to keep other requests going.
    format_key = FORMAT.text_in(values)
    file = await asyncio.to_thread(export_dataset, exported_dataset(evidence), format_key)

    etag = entity_tag(file)
    if is_not_modified(request, etag):
        return Response(status_code=304, headers={"ETag": etag})
    headers = {"ETag": etag, "Content-Disposition": f'attachment; filename="{file.name}"'}
    return Response(file.content, media_type=file.media_type, headers=headers)
