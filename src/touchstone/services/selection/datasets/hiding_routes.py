"""Routes for administrators to hide records and to show them again."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from touchstone.core.errors import DatasetNotFound
from touchstone.core.identity import parse_uuid
from touchstone.http.responses import JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import DatasetKey, RequestContext, parse_row_id
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.schemas import HiddenDatasetPageView, HiddenDatasetView, HidingChange
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.paging import PAGE_FORM_PARAMETERS, parse_page
from touchstone.services.selection.user_name_store import person_json

router = strict_router(prefix="/admin/datasets", tags=["admin"])


@router.get(
    "/hidden",
    summary="Hidden datasets",
    response_model=HiddenDatasetPageView,
    openapi_extra=describe_operation(PAGE_FORM_PARAMETERS),
)
async def list_hidden_datasets(request: Request) -> Response:
    """Return a page of the records that administrators have hidden, ordered by id.

    Only administrators may call this operation.
    """
    ctx = RequestContext(request)
    ctx.require_administrator()
    window = parse_page(PAGE_FORM_PARAMETERS.parse_query(ctx.query_string))

    records, total_count = await ctx.services.hiding.list_hidden(skip=window.skip, limit=window.limit)

    page_info = window.page_info(total_count)
    assert page_info is not None, "`parse_page` always sets the page"
    datasets = [_hidden_dataset_json(record) for record in records]
    return JsonResponse({"datasets": datasets, **msgspec.structs.asdict(page_info)})


@router.put(
    "/{dataset_id}/hidden",
    summary="Hide a dataset, or show it again",
    response_model=HiddenDatasetView,
    openapi_extra=describe_operation(body="HidingChange"),
)
async def set_dataset_hidden(request: Request, dataset_id: DatasetKey) -> Response:
    """Hide a record from everyone except its owner, or show it again. The owner can read the reason for hiding.

    Only administrators may call this operation.
    """
    ctx = RequestContext(request)
    administrator = ctx.require_administrator()
    row_id = await _find_row_id(ctx, dataset_id)
    change = await ctx.body(HidingChange)

    record = await ctx.services.hiding.set_hidden(row_id, administrator, is_hidden=change.hidden, reason=change.reason)
    return JsonResponse(_hidden_dataset_json(record))


async def _find_row_id(ctx: RequestContext, key: str) -> int:
    """Return the integer id of a record, given its integer id or its UUID.

    Raises:
        DatasetNotFound: no record has this UUID. Integer ids are not checked.
    """
    row_id = parse_row_id(key)
    if row_id is not None:
        return row_id

    uuid = parse_uuid(key)
    row_id = None if uuid is None else await ctx.services.hiding.find_id(uuid)
    if row_id is None:
        raise DatasetNotFound
    return row_id


def _hidden_dataset_json(record: DatasetRecord) -> dict[str, Any]:
    """Convert a record to the JSON that administrators receive."""
    pseudos = {} if record.owner is None else {record.owner: record.owner_pseudo}
    return {
        "id": record.id,
        "dataset_id": record.dataset_id,
        "name": record.attributes["dataset_name"],
        "declared_by": person_json(record.owner, pseudos),
        "hidden": record.is_hidden,
        "hidden_reason": record.hidden_reason,
    }
