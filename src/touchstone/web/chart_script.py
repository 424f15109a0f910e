"""The script that draws charts in the browser: Vega-Lite, from the package vl-convert."""

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
# Browsers cache the script for ever, so its address contains the version of the package.
ADDRESS: Final = f"{PATH}?v={_VERSION}"
# This line exposes only the function that charts.js calls; everything else in the bundle stays private.
_ENTRY_POINT: Final = "window.vegaEmbed = vegaEmbed;"


def load_bundle(folder: Path) -> bytes:
    """Return the script that draws charts in browsers, about 0.9 MB of JavaScript.

    It contains the same library versions that draw charts on the server. Building it takes seconds, so it is built only
    once and cached as a file in `folder`.
    """
    bundle_path = folder / f"vega-{_VERSION}.js"
    if not bundle_path.exists():
        script = str(vl_convert.javascript_bundle(_ENTRY_POINT))
        _write_atomically(bundle_path, script.encode())
    return bundle_path.read_bytes()


def _write_atomically(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, and rename it when it is complete.

    A process that opens the file at the same time finds either no file or the complete one.
    """
    file_descriptor, temporary_name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    with os.fdopen(file_descriptor, "wb") as file:
        file.write(content)
    Path(temporary_name).replace(path)


async def chart_script(request: Request) -> Response:
    """Return the script that draws charts in browsers."""
    folder = request.app.state.pages.settings.data_dir
    script = await anyio.to_thread.run_sync(load_bundle, folder)
    return Response(script, media_type="text/javascript")


ROUTES: Final = (Route(PATH, chart_script),)
