"""The route that returns the report on a project."""

import asyncio
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from touchstone.http.conditional import is_not_modified
from touchstone.http.error_responses import request_locale
from touchstone.http.responses import BINARY_CONTENT, ETAG, FILE_NAME, NOT_MODIFIED, OCTET_STREAM
from touchstone.http.routing import strict_router
from touchstone.services.selection.context import ProjectKey, RequestContext
from touchstone.services.selection.openapi import describe_operation
from touchstone.services.selection.report.document_builder import build_document
from touchstone.services.selection.report.fact_types import ReportContent
from touchstone.services.selection.report.formats import (
    FORMAT,
    FORMATS,
    LANG,
    REPORT_PARAMETERS,
    content_disposition,
    entity_tag,
    report_json,
)
from touchstone.services.selection.report.html import SECURITY_HEADERS, render_html
from touchstone.services.selection.report.pdf import PdfRenderer
from touchstone.services.selection.report.schemas import ReportView

router = strict_router(prefix="/projects", tags=["projects"])

_CONTENT: Final[dict[str, Any]] = BINARY_CONTENT | {
    "text/html": {"schema": {"type": "string"}},
    "application/pdf": BINARY_CONTENT[OCTET_STREAM],
}


@router.get(
    "/{project_id}/report",
    summary="Report on a project",
    response_class=Response,
    responses={
        200: {"description": "The report.", "model": ReportView, "headers": ETAG | FILE_NAME, "content": _CONTENT},
        304: NOT_MODIFIED,
    },
    openapi_extra=describe_operation(REPORT_PARAMETERS, conditional_header="If-None-Match"),
)
async def get_report(request: Request, project_id: ProjectKey) -> Response:
    """Return the choice of the project with its reasons and its evidence, the unknown facts, and the effect of changes.

    The same state of the project and of the catalog always gives the same bytes. The report contains a digest of its
    facts, which is the same in every format and language.
    """
    ctx = RequestContext(request)
    project = await ctx.load_project(project_id)
    values = REPORT_PARAMETERS.parse_query(ctx.query_string)

    content = await ctx.services.reports.read(project)
    report_format = FORMATS[FORMAT.text_in(values)]
    locale = LANG.text_in(values, default=request_locale(request.scope))
    file = await _render(content, report_format.key, locale, ctx.services.pdf_renderer)

    etag = entity_tag(file)
    if is_not_modified(request, etag):
        return Response(status_code=304, headers={"ETag": etag})
    headers = {"ETag": etag, "Content-Disposition": content_disposition(report_format, project.name)}
    return Response(file, media_type=report_format.media_type, headers=headers | SECURITY_HEADERS)


async def _render(content: ReportContent, format_key: str, locale: str, pdf_renderer: PdfRenderer) -> bytes:
    """Render a report as JSON, or as a PDF or an HTML document in the language of `locale`.

    Raises:
        ReportUnavailable: the PDF could not be typeset within the limits.
    """
    # Rendering takes milliseconds, so it runs in a thread and does not delay other requests.
    if format_key == "json":
        return await asyncio.to_thread(report_json, content)

    document = await asyncio.to_thread(build_document, content, locale)
    if format_key == "pdf":
        return await pdf_renderer.render(document)
    return await asyncio.to_thread(render_html, document)
