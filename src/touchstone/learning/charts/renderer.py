"""Rendering of Vega-Lite specifications without a browser and without network access."""

import vl_convert

from touchstone.learning.task_interface import Json

_VERSION = "v6.4"


def render_svg(spec: Json) -> str:
    """Render a chart as SVG. The specification cannot make the renderer load external resources."""
    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VERSION, allowed_base_urls=[]))


def render_png(spec: Json, *, scale: float = 2.0) -> bytes:
    """Render a chart as PNG, with `scale` pixels per unit."""
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=_VERSION, allowed_base_urls=[], scale=scale))
