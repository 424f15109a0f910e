"""The report as PDF, typeset by typst in a confined process.

Records contain untrusted text, which could exploit a defect of the compiler. The confined process limits the damage.
"""

import asyncio
from typing import Final

import msgspec

from touchstone.core.confined_process import ProcessLimits, kill_if_running, start_confined_module
from touchstone.core.errors import ReportUnavailable
from touchstone.core.text import replace_control_characters
from touchstone.services.selection.report.document import ReportDocument

MAX_CONCURRENT_RENDERS: Final = 2
LIMITS: Final = ProcessLimits(memory_bytes=2 * 2**30, cpu_seconds=30, wall_seconds=30.0)


class PdfRenderer:
    """Typesets reports as PDF, at most `MAX_CONCURRENT_RENDERS` at a time."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_RENDERS)

    async def render(self, document: ReportDocument) -> bytes:
        """Render a report as PDF, in which no text can reverse the direction of its line.

        The same document always gives the same bytes.

        Raises:
            ReportUnavailable: typesetting failed or exceeded the limits.
        """
        document_json = replace_control_characters(msgspec.json.encode(document).decode()).encode()
        limits_json = msgspec.json.encode(LIMITS).decode()
        async with self._slots:
            child = await start_confined_module(
                "touchstone.services.selection.report.pdf_child", limits_json, has_input=True
            )
            try:
                async with asyncio.timeout(LIMITS.wall_seconds):
                    pdf, _ = await child.communicate(document_json)
            except TimeoutError:
                raise ReportUnavailable from None
            finally:
                await kill_if_running(child)

        if child.returncode != 0:
            raise ReportUnavailable
        return pdf
