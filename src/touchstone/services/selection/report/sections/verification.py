"""The report section about verifying digests."""

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
"""The commands of the section, by the key of the sentence that explains each of them."""


def verification_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with commands that verify the digests of the report and of the chosen dataset."""
    blocks: list[Block] = []
    for key, command in COMMANDS.items():
        blocks.append(paragraph(language.text(key)))
        blocks.append(paragraph(command.format(project=content.project.id), Style.CODE))
    return Section("verification", language.text("verification"), blocks)
