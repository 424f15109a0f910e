"""Conversion of SVG to PNG in a confined process, which protects the service from malicious images."""

import asyncio
import resource
from typing import Final

import msgspec

from touchstone.core.confined_process import ProcessLimits, kill_if_running, start_confined_module

CHILD_MODULE: Final = "touchstone.learning.charts.svg_converter_child"
MAX_CONVERSIONS: Final = 2
# The renderer reserves far more address space than it uses.
LIMITS: Final = ProcessLimits(memory_bytes=resource.RLIM_INFINITY, cpu_seconds=20, wall_seconds=20.0)


class ConversionError(Exception):
    """An SVG image that cannot be converted within the limits."""


class SvgConverter:
    """A converter for SVG images that runs at most `MAX_CONVERSIONS` conversions at a time."""

    def __init__(self) -> None:
        self._conversion_slots = asyncio.Semaphore(MAX_CONVERSIONS)

    async def to_png(self, svg: str) -> bytes:
        """Convert an SVG image to PNG, with two pixels per unit.

        The image may come from anybody, so it is converted in a sandboxed child process with a time limit.

        Raises:
            ConversionError: the image is malformed, or the conversion takes too long.
        """
        async with self._conversion_slots:
            child = await start_confined_module(CHILD_MODULE, msgspec.json.encode(LIMITS).decode(), has_input=True)
            try:
                async with asyncio.timeout(LIMITS.wall_seconds):
                    # A confined process has no standard error.
                    png, _no_errors = await child.communicate(svg.encode())
            except TimeoutError:
                raise ConversionError("out of time") from None
            finally:
                await kill_if_running(child)

        if child.returncode != 0:
            raise ConversionError(f"the child process ended with status {child.returncode}")
        return png
