"""The program of the confined process that typesets one report, started by `pdf`."""

import sys
from importlib.resources import files
from typing import Final

import msgspec
import typst

from touchstone.core.confined_process import ProcessLimits, end_successfully, limit_this_process

_TEMPLATE: Final = "templates/report.typ"


def typeset(document_json: str) -> bytes:
    """Return a document as PDF, with tags for screen readers.

    Only the fonts embedded in the compiler are used, so that the same document gives the same bytes on every machine.
    Characters that these fonts lack appear as empty boxes.

    Args:
        document_json: a `ReportDocument` as JSON.
    """
    template = files("touchstone.services.selection.report").joinpath(_TEMPLATE).read_bytes()
    return typst.compile(template, ignore_system_fonts=True, sys_inputs={"report": document_json})


def main() -> None:
    """Limit this process, read a document as JSON from standard input, and write it to standard output as PDF."""
    limit_this_process(msgspec.json.decode(sys.argv[1], type=ProcessLimits))

    document_json = sys.stdin.buffer.read().decode()
    sys.stdout.buffer.write(typeset(document_json))
    end_successfully()


if __name__ == "__main__":
    main()
