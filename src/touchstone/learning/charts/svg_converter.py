"""Conversion of SVG to PNG in a child process, as confined as the one that draws the charts of jobs."""

import asyncio
import os
import sys
from typing import Final

CONVERSION_SECONDS: Final = 20.0
MAX_RUNNING: Final = 2
# The child inherits no other variable, because those of the service may contain keys and passwords.
_CHILD_ENVIRONMENT: Final = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "2"}


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
            child = await _start_child()
            try:
                png, _errors = await asyncio.wait_for(child.communicate(svg.encode()), CONVERSION_SECONDS)
            except TimeoutError:
                raise ConversionError("out of time") from None
            finally:
                await _kill_if_running(child)

        if child.returncode != 0:
            raise ConversionError(f"the child process ended with status {child.returncode}")
        return png


async def _start_child() -> asyncio.subprocess.Process:
    """Start a Python process that reads SVG from its standard input and writes PNG to its standard output."""
    # In isolated mode, neither PYTHONPATH nor the current folder can supply modules.
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "touchstone.learning.charts.svg_converter_child"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env=_CHILD_ENVIRONMENT,
    )


async def _kill_if_running(child: asyncio.subprocess.Process) -> None:
    """Kill the child if it has not ended by itself, and wait until it is gone."""
    if child.returncode is None:
        child.kill()
        await child.wait()
