"""The interactive API documentation at `/docs` (Swagger UI)."""

from pathlib import Path
from typing import Final

from fastapi import FastAPI
from starlette.responses import HTMLResponse
from swagger_ui_bundle import swagger_ui_path

from touchstone.http.packaged_files import PackagedFiles

_PAGE: Final = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<script>{script}</script></head><body><div id="swagger-ui"></div></body></html>"""
# The browser builds the addresses, because relative links depend on a trailing slash, and the server does not know the
# address in the browser: the gateway and reverse proxies change it. Swagger UI 4 refuses the version number of OpenAPI
# 3.1, but displays its documents.
_SCRIPT: Final = """
const folder = location.pathname.replace(/[/]$/, "");
const style = Object.assign(document.createElement("link"),
  {rel: "stylesheet", href: `${folder}/static/swagger-ui.css`});
const bundle = Object.assign(document.createElement("script"), {src: `${folder}/static/swagger-ui-bundle.js`});
bundle.onload = async () => {
  const response = await fetch(`${folder}/../openapi.json`);
  const spec = {...await response.json(), openapi: "3.0.3"};
  SwaggerUIBundle({spec, dom_id: "#swagger-ui", deepLinking: true});
};
document.head.append(style, bundle);
"""


def add_docs_pages(app: FastAPI) -> None:
    """Add a page with interactive API documentation at `/docs`.

    Unlike FastAPI's own page, it loads nothing from other servers, so it works without internet access.
    """
    app.mount("/docs/static", PackagedFiles(Path(swagger_ui_path)), name="docs-static")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(_PAGE.format(title=app.title, script=_SCRIPT))
