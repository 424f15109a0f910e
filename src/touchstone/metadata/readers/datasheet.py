"""Markdown datasheets: questions or topics as headings, answers as prose."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from touchstone.core.vocabulary import vocabulary_key
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, Section
from touchstone.metadata.parsing import DocumentError, parse_yaml
from touchstone.metadata.prose import plain_text
from touchstone.metadata.readers.builder import DocumentBuilder, parse_number
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "datasheet"
# Vocabulary keys of the usual headings of datasheets. Two of them identify a datasheet.
TOPICS: Final = frozenset(
    {"motivation", "composition", "collection-process", "collection", "preprocessing",
     "preprocessing-cleaning-labeling", "uses", "distribution", "maintenance",
     "data-splits-for-modelling", "demographic-information", "text-corpus",
     "recommended-post-processing", "funding", "licence", "license", "datasheet-authors", "citation-guidelines"}
)  # fmt: skip
TITLE: Final = re.compile(r"\bdata ?sheet\b", re.IGNORECASE)
TITLE_PREFIX: Final = re.compile(r"^data ?sheet(?:\s+(?:for|of)\b|\s*[:\u2013-])\s*(?:the\b\s*)?", re.IGNORECASE)
CLIPS: Final = re.compile(r"contains `?(\d[\d,]*)`? (?:clips|recordings|instances|records|rows|images|samples)\b")
LICENCE_HEADINGS: Final = frozenset({"licence", "license", "licensing", "licensing-information"})
SPLIT_HEADINGS: Final = frozenset({"data-splits-for-modelling", "data-splits", "splits"})


def detect(source: SourceDocument) -> bool:
    """Return whether a Markdown document is a datasheet: it has two of the usual headings, or one and a title."""
    if source.suffix not in (".md", ".markdown"):
        return False
    headings = {vocabulary_key(section.path[-1]) for section in source.markdown.sections if section.path}
    has_title = TITLE.search(source.text[:1000]) is not None
    topics = headings & TOPICS
    return len(topics) >= 2 or (has_title and bool(topics))


def read(source: SourceDocument) -> Iterator[DatasetDocument]:
    """Yield the dataset that a datasheet describes."""
    key = key_of(source)
    builder = DocumentBuilder(STANDARD, key=key)
    builder.sections.extend(source.markdown.sections)
    builder.rejected.extend(source.markdown.rejected)
    keep_head(builder, source)

    title = plain_text(source.markdown.title or "").replace("*", "").strip()
    builder.set_name(TITLE_PREFIX.sub("", title), key)
    if not builder.key:
        builder.key = builder.record.get("dataset_name", "")
    if not builder.key:
        raise DocumentError("no_identifier")

    sections = source.markdown.sections
    if sections:
        builder.set_description(sections[0].text)
    add_counts(builder, sections)
    add_licence_and_access(builder, source)
    builder.unmapped["#body"] = source.markdown.body
    yield builder.build()


def key_of(source: SourceDocument) -> str:
    """Return the identifier of a datasheet: its folder, and its file name unless it is a generic one."""
    path = PurePosixPath(source.path)
    if path.stem.lower() in ("readme", "datasheet", "index"):
        return path.parent.name
    return f"{path.parent.name}/{path.stem}" if path.parent.name else path.stem


def keep_head(builder: DocumentBuilder, source: SourceDocument) -> None:
    """Store the optional YAML front matter of a datasheet for a later export.

    Front matter that cannot be parsed is rejected and stored as a string.
    """
    front_matter = source.markdown.front_matter
    if front_matter is None:
        return

    try:
        head = parse_yaml(front_matter)
    except DocumentError as error:
        builder.reject("YAML head", error.code, **error.facts)
        builder.unmapped["#head"] = front_matter
    else:
        builder.rejected.extend(head.rejected)
        if isinstance(head.data, dict):
            builder.keep_unmapped(head.data)


def add_counts(builder: DocumentBuilder, sections: tuple[Section, ...]) -> None:
    """Add the number of instances and the split from the first section that states them."""
    for section in sections:
        place = " > ".join(section.path)

        count_match = CLIPS.search(section.text)
        if count_match is not None and "instances_number" not in builder.record:
            count = parse_number(count_match.group(1).replace(",", ""))
            if isinstance(count, int):
                builder.add_claim(Claim("instances_number", count, count_match.group(0), place))

        is_split_table = bool(section.path) and vocabulary_key(section.path[-1]) in SPLIT_HEADINGS
        if is_split_table and re.search(r"\btrain\b", section.text, re.IGNORECASE):
            test = re.search(r"\btest\b", section.text, re.IGNORECASE)
            if test is not None and "is_split" not in builder.record:
                builder.add_claim(Claim("is_split", True, test.group(0), place))


def add_licence_and_access(builder: DocumentBuilder, source: SourceDocument) -> None:
    """Add the licence from its section, and whether the data are public.

    An access restriction anywhere in the datasheet takes precedence over an open licence.
    """
    access: Claim | None = None
    for section in source.markdown.sections:
        is_about_licence = bool(section.path) and vocabulary_key(section.path[-1]) in LICENCE_HEADINGS
        if not is_about_licence:
            continue

        quote = find_licence(section.text)
        licence = builder.set_licence([quote or plain_text(section.text)])
        if quote is not None and licence is not None and licence.is_open:
            note = "an open licence, and no condition for access"
            access = Claim("is_public", True, quote, " > ".join(section.path), note=note)
        break

    restriction = find_access_restriction(source.markdown.body, builder.names)
    if restriction is not None:
        access = Claim("is_public", False, restriction, note="a condition for access is stated")
    if access is not None:
        builder.add_claim(access)


def find_licence(text: str) -> str | None:
    """Return the name of a licence in a section: a link in it, or the section itself if it is short, or None."""
    for candidate in re.findall(r"\[([^\]]{1,80})\]\(", text) + re.findall(r"\]\((https?://[^)\s]{1,200})\)", text):
        if re.match(r"(?i)cc|creative|apache|mit\b|http", candidate):
            return str(candidate)
    return text.strip() if len(text.strip()) <= 60 else None
