"""The route that imports metadata documents."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.error_responses import request_locale
from touchstone.http.responses import BINARY_CONTENT, OCTET_STREAM, JsonResponse
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import RequestContext
from touchstone.services.selection.imports.import_report import encode_report, find_refusal
from touchstone.services.selection.imports.received_documents import FORM_FIELD, MAX_DOCUMENTS, receive_documents
from touchstone.services.selection.imports.schemas import (
    IMPORT_PARAMETERS,
    ImportOrder,
    ImportReportView,
    ImportStatus,
)
from touchstone.services.selection.openapi import describe_operation

router = strict_router(prefix="/datasets", tags=["datasets"])

_FORM_SCHEMA: Final = {
    "type": "object",
    "properties": {
        FORM_FIELD: {
            "type": "array",
            "items": BINARY_CONTENT[OCTET_STREAM]["schema"],
            "minItems": 1,
            "maxItems": MAX_DOCUMENTS,
        }
    },
    "required": [FORM_FIELD],
}
_IMPORT_BODY: Final[dict[str, Any]] = {
    "required": True,
    "content": {"multipart/form-data": {"schema": _FORM_SCHEMA}, **BINARY_CONTENT},
}


@router.post(
    "/import",
    summary="Import metadata documents",
    response_model=ImportReportView,
    responses={201: {"model": ImportReportView, "description": "At least one record was created."}},
    openapi_extra=describe_operation(IMPORT_PARAMETERS) | {"requestBody": _IMPORT_BODY},
)
async def import_documents(request: Request) -> Response:
    """Import one document as the body, or several as a form. Importing the same documents again changes nothing.

    The documents of a form complete each other if they are in the same folder. Addresses in documents are never
    fetched.
    """
    ctx = RequestContext(request)
    ctx.require_owner()
    order = ImportOrder.parse(ctx.query_string)
    imports = ctx.services.imports

    documents = await receive_documents(request, order.name, imports.max_bytes)
    results = await imports.run(documents, ctx.caller, order)
    refusal = find_refusal(results, quota_bytes=imports.limits.record_bytes)
    if refusal is not None:
        raise refusal

    has_created = not order.dry_run and any(result.outcome.status is ImportStatus.CREATED for result in results)
    pseudos = await imports.read_names(results)
    report = await encode_report(results, pseudos, request_locale(request.scope))
    return JsonResponse(report, status_code=201 if has_created else 200)
