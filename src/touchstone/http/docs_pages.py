"""The interactive API documentation at `/docs` (Swagger UI)."""

from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response
from swagger_ui_bundle import swagger_ui_path

from touchstone.http.packaged_files import PackagedFiles

_PAGE: Final = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="stylesheet" href="docs/static/swagger-ui.css"></head><body><div id="swagger-ui"></div>
<script src="docs/static/swagger-ui-bundle.js"></script><script src="docs/start.js"></script></body></html>"""
_SCRIPT: Final = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#swagger-ui", deepLinking: true});'


def add_docs_pages(app: FastAPI) -> None:
    """Add a page with interactive API documentation at `/docs`.

    Unlike FastAPI's own page, it loads nothing from other servers, so it works without internet access.
    """
    app.mount("/docs/static", PackagedFiles(Path(swagger_ui_path)), name="docs-static")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(_PAGE.format(title=app.title))

    @app.get("/docs/start.js", include_in_schema=False)
    async def start() -> Response:
        return Response(_SCRIPT, media_type="text/javascript")
