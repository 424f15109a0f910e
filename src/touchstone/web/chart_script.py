"""The script that draws charts in the browser: Vega-Lite, as the package vl-convert carries it."""

import os
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Final

import anyio.to_thread
import vl_convert
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_VERSION: Final = version("vl-convert-python")
PATH: Final = "/app/static/vega.js"
# Browsers cache the script for ever, so its address changes with the package.
ADDRESS: Final = f"{PATH}?v={_VERSION}"
# The entry point for charts.js; everything else in the bundle stays private.
_ENTRY_POINT: Final = "window.vegaEmbed = vegaEmbed;"


def load_bundle(folder: Path) -> bytes:
    """Return the script (about 0.9 MB), with the same library versions that draw charts on the server.

    Building it takes seconds, so it is cached in `folder`.
    """
    cached = folder / f"vega-{_VERSION}.js"
    if not cached.exists():
        script = str(vl_convert.javascript_bundle(_ENTRY_POINT)).encode()
        # The file is renamed when it is complete, because another process may be reading it.
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=cached.name)
        with os.fdopen(handle, "wb") as file:
            file.write(script)
        Path(temporary).replace(cached)
    return cached.read_bytes()


async def chart_script(request: Request) -> Response:
    """Return the script."""
    folder = request.app.state.pages.settings.data_dir
    return Response(await anyio.to_thread.run_sync(load_bundle, folder), media_type="text/javascript")


ROUTES: Final = (Route(PATH, chart_script),)
