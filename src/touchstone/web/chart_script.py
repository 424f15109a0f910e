"""The charts' own script: Vega-Lite as a package of this environment carries it, made once and kept."""

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

PATH: Final = "/app/static/vega.js"
# The address changes with the package: below /app/static/ browsers keep files for ever.
ADDRESS: Final = f"{PATH}?v={version('vl-convert-python')}"
# The page's own module gets one entry point; the rest of the bundle stays to itself.
_SNIPPET: Final = "window.vegaEmbed = vegaEmbed;"


def bundle(folder: Path) -> bytes:
    """The script that draws charts in a browser (about 0.9 MB), with the versions that render them on the server.

    Putting it together takes seconds, so it is kept in `folder`.
    """
    kept = folder / f"vega-{version('vl-convert-python')}.js"
    if not kept.exists():
        made = str(vl_convert.javascript_bundle(_SNIPPET)).encode()
        # Written aside and renamed: whoever looks sees nothing or the whole.
        handle, aside = tempfile.mkstemp(dir=folder, prefix=kept.name)
        with os.fdopen(handle, "wb") as file:
            file.write(made)
        Path(aside).replace(kept)
    return kept.read_bytes()


async def _vega(request: Request) -> Response:
    folder = request.app.state.desk.settings.data_dir
    return Response(await anyio.to_thread.run_sync(bundle, folder), media_type="text/javascript")


ROUTES: Final = (Route(PATH, _vega),)
