"""The route that imports records in bulk."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from touchstone.core.errors import FieldError, InvalidValue, UnsupportedMedia
from touchstone.http.responses import BINARY_CONTENT, OCTET_STREAM
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import RequestContext
from touchstone.services.selection.datasets.catalog_export_routes import JSON_LINES, PARQUET
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.parameters import MAX_REPORTED_NAME_LENGTH

router = strict_router(prefix="/datasets", tags=["datasets"])

MEDIA_TYPES: Final = (JSON_LINES, "application/jsonl", "application/json-lines", OCTET_STREAM)
PARQUET_MEDIA_TYPES: Final = (PARQUET, "application/x-parquet")
# Client generators support neither media type, so the OpenAPI document describes the body as bytes.
_BODY: Final[dict[str, Any]] = {
    "required": True,
    "description": (
        f"JSON Lines, one record per line, as `{JSON_LINES}` or as bytes, or a Parquet file, one record per row, as "
        f"`{PARQUET}`. The size of a Parquet file is limited like that of an upload."
    ),
    "content": BINARY_CONTENT,
}
_CONTENT: Final[dict[str, Any]] = BINARY_CONTENT | {JSON_LINES: BINARY_CONTENT[OCTET_STREAM]}


class ReportResponse(StreamingResponse):
    """A response whose headers are sent before the request body has been read.

    The streaming response of Starlette listens for disconnects, and would consume parts of the request body.
    """

    def __init__(self, lines: AsyncIterator[bytes], close: Callable[[], Awaitable[None]] | None = None) -> None:
        """Create a response with the lines of a report.

        Args:
            lines: the lines.
            close: called after the response has been sent, or sending has failed.
        """
        super().__init__(lines, media_type=JSON_LINES)
        self._close = close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response."""
        try:
            await self.stream_response(send)
        finally:
            if self._close is not None:
                await self._close()


@router.post(
    "/bulk",
    summary="Import records in bulk",
    response_class=Response,
    responses={200: {"description": "The outcome of each transaction, one per line.", "content": _CONTENT}},
    openapi_extra=describe_operation() | {"requestBody": _BODY},
)
async def import_records(request: Request) -> Response:
    """Create records from JSON Lines of any length or from a Parquet file, or update those with the same key."""
    ctx = RequestContext(request)
    _check_no_parameters(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in PARQUET_MEDIA_TYPES:
        parquet_body = await ctx.services.parquet_bodies.receive(request, ctx.require_caller().id)
        return ReportResponse(_report_lines(ctx, parquet_body.lines()), parquet_body.close)
    if media_type not in MEDIA_TYPES:
        raise UnsupportedMedia(expected=f"{JSON_LINES}, {PARQUET}")

    return ReportResponse(_report_lines(ctx, request.stream()))


def _check_no_parameters(request: Request) -> None:
    """Refuse query parameters, because a client may rely on a parameter of other imports, such as `dry_run`.

    Raises:
        InvalidValue: there is a parameter.
    """
    names = [name[:MAX_REPORTED_NAME_LENGTH] for name in request.query_params]
    if names:
        raise InvalidValue(*(FieldError(("query", name), "no_parameters") for name in names))


async def _report_lines(ctx: RequestContext, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Import the lines of a body, and yield the lines of the report unless the client disconnects."""
    try:
        lines = await ctx.services.bulk.run(chunks, ctx.viewer, ctx.locale)
    except ClientDisconnect:
        return

    for line in lines:
        yield line
