"""Conversion of SVG to PNG in a confined process, so that a picture can harm nothing else."""

import asyncio
import resource
from typing import Final

import msgspec

from touchstone.core.confined_process import ProcessLimits, kill_if_running, start_confined_module

MAX_RUNNING: Final = 2
# The renderer reserves far more address space than it uses.
LIMITS: Final = ProcessLimits(memory_bytes=resource.RLIM_INFINITY, cpu_seconds=20, wall_seconds=20.0)


class ConversionError(Exception):
    """An SVG picture could not be converted, or not within the limits."""


class SvgConverter:
    """Converts pictures for one service, at most two at a time."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_RUNNING)

    async def to_png(self, svg: str) -> bytes:
        """Return an SVG picture as PNG, with two pixels per unit.

        Raises:
            ConversionError: The picture is malformed, or the conversion takes too much time.
        """
        async with self._slots:
            limits = msgspec.json.encode(LIMITS).decode()
            child = await start_confined_module(
                "touchstone.learning.charts.svg_converter_child", limits, has_input=True
            )
            try:
                async with asyncio.timeout(LIMITS.wall_seconds):
                    png, _errors = await child.communicate(svg.encode())
            except TimeoutError:
                raise ConversionError("out of time") from None
            finally:
                await kill_if_running(child)

        if child.returncode != 0:
            raise ConversionError(f"the child process ended with status {child.returncode}")
        return png
