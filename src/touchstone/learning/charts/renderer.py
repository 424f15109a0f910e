"""Rendering of Vega-Lite specifications as pictures, without a browser and without the network."""

import vl_convert

from touchstone.learning.task_interface import Json

_VERSION = "v6.4"


def render_svg(spec: Json) -> str:
    """Return the chart as SVG text; a specification cannot make the renderer load anything."""
    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VERSION, allowed_base_urls=[]))


def render_png(spec: Json, *, scale: float = 2.0) -> bytes:
    """Return the chart as PNG bytes, with `scale` pixels per unit."""
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=_VERSION, allowed_base_urls=[], scale=scale))
