"""The table of report formats, and the request parameters for the format and the language."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import msgspec

from touchstone.messages.locales import LOCALES
from touchstone.metadata.writers.names import file_stem
from touchstone.services.selection.parameters import Parameter, ParameterTable, ParameterType
from touchstone.services.selection.report.fact_types import ReportContent


@dataclass(frozen=True, slots=True)
class ReportFormat:
    """A format of reports.

    Attributes:
        key: the name of the format in requests.
        media_type: the Content-Type of the file.
        title: the description of the format in the documentation.
        disposition: whether browsers show the file (`inline`) or save it (`attachment`).
    """

    key: str
    media_type: str
    title: str
    disposition: str


FORMATS: Final = {
    report_format.key: report_format
    for report_format in (
        ReportFormat("html", "text/html", "a page without scripts, in one file", "inline"),
        ReportFormat("pdf", "application/pdf", "for printing and filing", "attachment"),
        ReportFormat(
            "json", "application/json", "the facts and their digest, the same in every language", "attachment"
        ),
    )
}
FORMAT: Final = Parameter(
    name="format",
    type=ParameterType.CHOICE,
    choices=tuple(FORMATS),
    default="html",
    description="; ".join(f"`{report_format.key}`: {report_format.title}" for report_format in FORMATS.values()) + ".",
)
LANG: Final = Parameter(
    name="lang",
    type=ParameterType.CHOICE,
    choices=LOCALES,
    description="The language of HTML and PDF; by default what `Accept-Language` prefers.",
)
REPORT_PARAMETERS: Final = ParameterTable(FORMAT, LANG)


def report_json(content: ReportContent) -> bytes:
    """Return the facts of a report as JSON, with their digest."""
    return msgspec.json.encode({"sha256": content.digest(), "report": content})


def entity_tag(file: bytes) -> str:
    """Return the strong entity tag of a report, which is a digest of its bytes."""
    return f'"{blake2b(file, digest_size=16).hexdigest()}"'


def content_disposition(report_format: ReportFormat, project_name: str) -> str:
    """Return the Content-Disposition header of a report."""
    stem = file_stem(project_name, default="project")
    return f'{report_format.disposition}; filename="report-{stem}.{report_format.key}"'
