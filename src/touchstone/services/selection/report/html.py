"""The report as one self-contained HTML file, without scripts and external resources."""

from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from touchstone.core.text import replace_control_characters
from touchstone.services.selection.report.document import ReportDocument

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
}
"""The headers of a response with a report. They allow its inline style sheet and nothing else."""

_TEMPLATES: Final = Environment(
    loader=PackageLoader("touchstone.services.selection.report"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render_html(document: ReportDocument) -> bytes:
    """Return a report as an HTML file in UTF-8, in which no text can reverse the direction of its line."""
    html = _TEMPLATES.get_template("report.html").render(report=document)
    return replace_control_characters(html).encode()
