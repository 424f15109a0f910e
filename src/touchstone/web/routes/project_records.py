"""The pages and files that document a project: its snapshots and its report."""

from typing import Any, Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import Snapshot
from touchstone.core.canonical_json import canonical_json
from touchstone.core.errors import NotFound
from touchstone.messages.locales import LOCALES
from touchstone.web.api_queries import load_change_describer
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.security_headers import CONTENT_SECURITY_POLICY
from touchstone.web.views.snapshot_replay import replay_rows

_REPORT_FORMATS: Final = ("html", "pdf", "json")
_PREVIEW_SECURITY_POLICY: Final = f"{CONTENT_SECURITY_POLICY}; frame-src 'self'"
# A report contains its style, and its preview shows it in a frame. It never needs scripts, forms or other files.
_REPORT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"
)


async def snapshot_page(ctx: PageContext) -> Response:
    """Show a snapshot of the recommendations for a project, with the changes since then."""
    project = await ctx.api.get_project(ctx.path_params["project_id"])
    snapshot_id = ctx.path_params["snapshot_id"]
    snapshot = await ctx.api.get_snapshot(project.id, snapshot_id)
    replay = await ctx.api.replay_snapshot(project.id, snapshot_id)

    describer = await load_change_describer(ctx)
    return await ctx.render(
        "snapshot.html",
        project=project,
        snapshot=snapshot,
        replay=replay,
        rows=replay_rows(replay, describer),
        project_changes=describer.describe(replay.project_changes),
    )


async def snapshot_file(ctx: PageContext) -> Response:
    """Return the content of a snapshot as a file.

    The digest of the snapshot was computed from this canonical JSON, so that readers can verify it.
    """
    snapshot = await ctx.api.get_snapshot(ctx.path_params["project_id"], ctx.path_params["snapshot_id"])
    headers = {"content-disposition": f'attachment; filename="{_file_name(snapshot)}"'}
    return Response(canonical_json(snapshot.content), media_type="application/json", headers=headers)


def _file_name(snapshot: Snapshot) -> str:
    """Return a file name with the day of a snapshot and the beginning of its digest."""
    return f"snapshot-{snapshot.at:%Y-%m-%d}-{snapshot.sha256[:8]}.json"


async def report_page(ctx: PageContext) -> Response:
    """Show the report of a project in a frame, with download links for every format and language."""
    language = _report_language(ctx)
    project = await ctx.api.get_project(ctx.path_params["project_id"])
    response = await ctx.render("report.html", project=project, language=language, languages=LOCALES)
    response.headers["content-security-policy"] = _PREVIEW_SECURITY_POLICY
    return response


async def report_file(ctx: PageContext) -> Response:
    """Return the report of a project as a download, or in HTML as a page for the frame of the preview."""
    report_format: Any = ctx.path_params["format"]
    if report_format not in _REPORT_FORMATS:
        raise NotFound

    language: Any = _report_language(ctx)
    file = await ctx.api.get_report(ctx.path_params["project_id"], report_format, lang=language)

    response = Response(file.content, media_type=file.media_type)
    if report_format == "html":
        response.headers["content-security-policy"] = _REPORT_SECURITY_POLICY
    else:
        response.headers["content-disposition"] = f'attachment; filename="{file.name}"'
    return response


def _report_language(ctx: PageContext) -> str:
    """Return the language of the report in the address, or the language of the page by default."""
    language = ctx.request.query_params.get("lang", "")
    return language if language in LOCALES else ctx.locale


ROUTES: Final = (
    Route("/app/projects/{project_id:str}/snapshots/{snapshot_id:str}.json", page_endpoint(snapshot_file)),
    Route("/app/projects/{project_id:str}/snapshots/{snapshot_id:str}", page_endpoint(snapshot_page)),
    Route("/app/projects/{project_id:str}/report.{format:str}", page_endpoint(report_file)),
    Route("/app/projects/{project_id:str}/report", page_endpoint(report_page)),
)
