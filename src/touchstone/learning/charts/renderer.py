"""Turning a Vega-Lite spec into a picture, without a browser and without the network."""

import vl_convert

from touchstone.learning.interfaces import Json

_VERSION = "v6.4"


def render_svg(spec: Json) -> str:
    """The chart as SVG text; a spec can't make it load anything."""
    return str(vl_convert.vegalite_to_svg(spec, vl_version=_VERSION, allowed_base_urls=[]))


def render_png(spec: Json, *, scale: float = 2.0) -> bytes:
    """The chart as PNG bytes, `scale` pixels a unit."""
    return bytes(vl_convert.vegalite_to_png(spec, vl_version=_VERSION, allowed_base_urls=[], scale=scale))
