"""Turn dataset cards and Croissant files into sections, just well enough to measure the extractor.

The readers of the product know the metadata standards; this module only knows headings and strings.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from touchstone.metadata.comments import blank_comments
from touchstone.metadata.documents import Section

FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\r?\n.*?\r?\n---[ \t]*\r?\n", re.DOTALL)
HEADING = re.compile(r"^(#{1,6})[ \t]+(.*?)[ \t#]*$")
# Members that describe the structure or the identity of the data, and state nothing about it.
SILENT_KEYS = frozenset({"@context", "@type", "@id", "recordSet", "distribution", "citeAs", "license", "keywords"})


def read_sections(path: Path) -> list[Section]:
    """Return the prose of a Markdown or JSON document in sections."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".json":
        return list(_json_sections(json.loads(text), ()))
    return list(_markdown_sections(text))


def _markdown_sections(text: str) -> Iterator[Section]:
    """Yield the text under each heading, with the headings above it."""
    front_matter = FRONT_MATTER.match(text)
    body = text[front_matter.end() :] if front_matter else text
    visible_lines = blank_comments(body).splitlines(keepends=True)

    headings: list[tuple[int, str]] = []
    lines: list[str] = []
    in_code = False
    for line, visible_line in zip(body.splitlines(keepends=True), visible_lines, strict=True):
        in_code ^= visible_line.lstrip().startswith("```")
        heading = None if in_code else HEADING.match(visible_line.rstrip())
        if heading is None:
            lines.append(line)
            continue
        if lines:
            yield Section(tuple(title for _, title in headings), "".join(lines))
        lines = []
        level = len(heading[1])
        headings = [(depth, title) for depth, title in headings if depth < level] + [(level, heading[2])]
    if lines:
        yield Section(tuple(title for _, title in headings), "".join(lines))


def _json_sections(value: Any, path: tuple[str, ...]) -> Iterator[Section]:
    """Yield every string of a JSON document under the path of its field."""
    if isinstance(value, str):
        yield Section(path, value, is_structured=True)
    elif isinstance(value, dict):
        for key, member in value.items():
            if key not in SILENT_KEYS:
                yield from _json_sections(member, (*path, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _json_sections(member, (*path, str(index)))
