"""Routes that export all records that match the filters of a request."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.evidence import Assurance
from touchstone.http.responses import BINARY_CONTENT, FILE_NAME, OCTET_STREAM, ContentStream
from touchstone.http.routing import strict_router
from touchstone.services.selection.assurance import parse_assurance
from touchstone.services.selection.catalog_query import build_query
from touchstone.services.selection.context import RequestContext
from touchstone.services.selection.datasets.catalog_export import ExportSelection
from touchstone.services.selection.datasets.listing import CATALOG_EXPORT_PARAMETERS, parse_sort_order
from touchstone.services.selection.openapi import TOTAL_COUNT, describe_operation

JSON_LINES: Final = "application/x-ndjson"
PARQUET: Final = "application/vnd.apache.parquet"
_HEADERS: Final = TOTAL_COUNT | FILE_NAME

router = strict_router(prefix="/datasets", tags=["datasets"])


def _content_of(media_type: str) -> dict[str, Any]:
    """Describe the content of a response for OpenAPI, so that generated clients read it as binary."""
    return BINARY_CONTENT | {media_type: BINARY_CONTENT[OCTET_STREAM]}


@router.get(
    "/export.jsonl",
    summary="Export datasets as JSON Lines",
    response_class=Response,
    responses={200: {"description": "One record per line.", "headers": _HEADERS, "content": _content_of(JSON_LINES)}},
    openapi_extra=describe_operation(CATALOG_EXPORT_PARAMETERS),
)
async def export_json_lines(request: Request) -> Response:
    """Stream all records that match the filters, one JSON object per line, as a bulk import accepts them."""
    ctx = RequestContext(request)
    selection = await _select_records(ctx)
    chunks = ctx.services.catalog_export.json_lines(selection)
    return ContentStream(chunks, media_type=JSON_LINES, headers=_file_headers("datasets.jsonl", selection))


@router.get(
    "/export.parquet",
    summary="Export datasets as Parquet",
    response_class=Response,
    responses={200: {"description": "A Parquet file.", "headers": _HEADERS, "content": _content_of(PARQUET)}},
    openapi_extra=describe_operation(CATALOG_EXPORT_PARAMETERS),
)
async def export_parquet(request: Request) -> Response:
    """Stream all records that match the filters, with typed columns, and `metadata` as a JSON text."""
    ctx = RequestContext(request)
    selection = await _select_records(ctx)
    chunks = ctx.services.catalog_export.parquet(selection)
    return ContentStream(chunks, media_type=PARQUET, headers=_file_headers("datasets.parquet", selection))


async def _select_records(ctx: RequestContext) -> ExportSelection:
    """Select the records that match the query parameters of a request and are visible to the caller."""
    values = CATALOG_EXPORT_PARAMETERS.parse_query(ctx.query_string)
    query = build_query(values, ctx.viewer)
    order = parse_sort_order(values)
    assurance = parse_assurance(values) or Assurance.DECLARED
    return await ctx.services.catalog_export.select(query, order, ctx.viewer, assurance=assurance)


def _file_headers(name: str, selection: ExportSelection) -> dict[str, str]:
    """Return headers with the file name of the export and the number of records in it."""
    return {
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Total-Count": str(selection.total_count),
    }
