"""The report as PDF, typeset by typst in a confined process, so that no text of a record can harm anything else."""

import asyncio
from typing import Final

import msgspec

from touchstone.core.confined_process import ProcessLimits, kill_if_running, start_confined_module
from touchstone.core.errors import ReportUnavailable
from touchstone.services.selection.report.document import ReportDocument

MAX_RUNNING: Final = 2
LIMITS: Final = ProcessLimits(memory_bytes=2 * 2**30, cpu_seconds=30, wall_seconds=30.0)


class PdfRenderer:
    """Typesets reports for one service, at most two at a time."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_RUNNING)

    async def render(self, document: ReportDocument) -> bytes:
        """Render a report as PDF. The same document always gives the same bytes.

        Raises:
            ReportUnavailable: the report could not be typeset, or not within the limits.
        """
        document_json = msgspec.json.encode(document)
        limits = msgspec.json.encode(LIMITS).decode()
        async with self._slots:
            child = await start_confined_module(
                "touchstone.services.selection.report.pdf_child", limits, has_input=True
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
