"""The section of a report that explains how to verify its digest."""

from typing import Final

from touchstone.services.selection.report.document import Block, Section, Style, paragraph
from touchstone.services.selection.report.fact_types import ReportContent
from touchstone.services.selection.report.language import ReportLanguage

COMMANDS: Final = {
    "verification_json": "touchstone project report {project} --format json -o report.json",
    "verification_command": "touchstone project verify-report report.json",
    "verification_bytes": "python3 -c 'import hashlib, json, rfc8785; "
    'report = json.load(open("report.json"))["report"]; '
    "print(hashlib.sha256(rfc8785.dumps(report)).hexdigest())'",
    "verification_dataset": "touchstone project choices {project} --json",
}
"""The sentences of the section, each with the command that it explains."""


def verification_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section on verifying the digests: the bytes that they cover, and the commands."""
    blocks: list[Block] = []
    for key, command in COMMANDS.items():
        blocks.append(paragraph(language.text(key)))
        blocks.append(paragraph(command.format(project=content.project.id), Style.CODE))
    return Section("verification", language.text("verification"), blocks)
