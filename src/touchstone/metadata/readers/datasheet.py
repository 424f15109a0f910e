"""Datasheets for Datasets (Gebru et al., 2021) in Markdown: questions or topics as headings, answers as prose."""

import re
from collections.abc import Container, Iterator
from typing import Final

from touchstone.core.vocabulary import vocabulary_key
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, Section
from touchstone.metadata.parsing import DocumentError, parse_yaml
from touchstone.metadata.prose import plain_text
from touchstone.metadata.readers.builder import DocumentBuilder, parse_number
from touchstone.metadata.readers.hf_card import BODY, UNPARSED_HEAD
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
# Matches the beginning of "Datasheet for the Street Signs" and of "Data sheet: Street Signs", but not of "Datasheets".
TITLE_PREFIX: Final = re.compile(r"^data ?sheet(?:\s+(?:for|of)\b|\s*[:\u2013-])\s*(?:the\b\s*)?", re.IGNORECASE)
# Matches "contains 12,500 recordings", but not "contains 12 speakers", because speakers are not instances.
INSTANCE_COUNT: Final = re.compile(
    r"contains `?(?P<count>\d[\d,]*)`? (?:clips|recordings|instances|records|rows|images|samples)\b"
)
_TRAIN: Final = re.compile(r"\btrain\b", re.IGNORECASE)
_TEST: Final = re.compile(r"\btest\b", re.IGNORECASE)
LICENCE_HEADINGS: Final = frozenset({"licence", "license", "licensing", "licensing-information"})
SPLIT_HEADINGS: Final = frozenset({"data-splits-for-modelling", "data-splits", "splits"})
# A longer section is a whole agreement instead of the name of a licence.
MAX_LICENCE_NAME_LENGTH: Final = 60
_LINK_LABEL: Final = re.compile(r"\[([^\]]{1,80})\]\(")
_LINK_ADDRESS: Final = re.compile(r"\]\((https?://[^)\s]{1,200})\)")
# How the labels and addresses of links to licences begin, unlike "LICENSE.md" or "see below".
_LICENCE_LINK: Final = re.compile(r"cc|creative|apache|mit\b|http", re.IGNORECASE)


def detect(source: SourceDocument) -> bool:
    """Return whether a Markdown document is a datasheet.

    A datasheet has two of the usual headings, or one of them and the word "datasheet" near the beginning.
    """
    if source.suffix not in (".md", ".markdown"):
        return False
    headings = {vocabulary_key(section.path[-1]) for section in source.markdown.sections if section.path}
    topics = headings & TOPICS
    is_called_datasheet = TITLE.search(source.text[:1000]) is not None
    required_topics = 1 if is_called_datasheet else 2
    return len(topics) >= required_topics


def read(source: SourceDocument) -> Iterator[DatasetDocument]:
    """Yield the dataset that a datasheet describes."""
    key = key_of(source)
    builder = DocumentBuilder(STANDARD, key=key)
    builder.sections.extend(source.markdown.sections)
    builder.rejected.extend(source.markdown.rejected)
    keep_front_matter(builder, source)

    title = plain_text(source.markdown.title or "").replace("*", "").strip()
    builder.set_name(TITLE_PREFIX.sub("", title), key)
    if not builder.key:
        builder.key = builder.record.get("dataset_name", "")
    if not builder.key:
        raise DocumentError("no_identifier")

    sections = source.markdown.sections
    if sections:
        builder.set_description(sections[0].text)
    add_counts_and_splits(builder, sections)
    add_licence_and_access(builder, source)
    builder.unmapped[BODY] = source.markdown.body
    yield builder.build()


def key_of(source: SourceDocument) -> str:
    """Return the identifier of a datasheet: its folder, and its file name unless it is a generic one."""
    file_name = source.path.stem
    if file_name.lower() in ("readme", "datasheet", "index"):
        return source.folder
    return f"{source.folder}/{file_name}" if source.folder else file_name


def keep_front_matter(builder: DocumentBuilder, source: SourceDocument) -> None:
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
        builder.unmapped[UNPARSED_HEAD] = front_matter
    else:
        builder.rejected.extend(head.rejected)
        if isinstance(head.data, dict):
            builder.keep_unmapped(head.data)


def add_counts_and_splits(builder: DocumentBuilder, sections: tuple[Section, ...]) -> None:
    """Add the number of instances and whether the data are split, each from the first section that states it."""
    for section in sections:
        _add_instance_count(builder, section)
        _add_split_claim(builder, section)


def _add_instance_count(builder: DocumentBuilder, section: Section) -> None:
    """Add the number of instances in a section, unless an earlier section contained one."""
    match = INSTANCE_COUNT.search(section.text)
    if match is None or "instances_number" in builder.record:
        return

    count = parse_number(match["count"].replace(",", ""))
    if isinstance(count, int):
        builder.add_claim(Claim("instances_number", count, match.group(0), _location(section)))


def _add_split_claim(builder: DocumentBuilder, section: Section) -> None:
    """Claim that the data are split if a section about splits mentions training and test data."""
    if "is_split" in builder.record or not _has_heading(section, SPLIT_HEADINGS):
        return

    test_match = _TEST.search(section.text)
    if _TRAIN.search(section.text) and test_match:
        quote = test_match.group(0)
        builder.add_claim(Claim("is_split", True, quote, _location(section)))


def _has_heading(section: Section, vocabulary_keys: Container[str]) -> bool:
    """Return whether the last heading above a section has one of these vocabulary keys."""
    return bool(section.path) and vocabulary_key(section.path[-1]) in vocabulary_keys


def _location(section: Section) -> str:
    """Return the headings above a section as the location of a quote."""
    return " > ".join(section.path)


def add_licence_and_access(builder: DocumentBuilder, source: SourceDocument) -> None:
    """Add the licence from its section, and whether the data are public.

    An access restriction anywhere in the datasheet takes precedence over an open licence.
    """
    access_claim: Claim | None = None
    licence_section = next(
        (section for section in source.markdown.sections if _has_heading(section, LICENCE_HEADINGS)), None
    )
    if licence_section is not None:
        licence_name = find_licence_name(licence_section.text)
        licence = builder.set_licence([licence_name or plain_text(licence_section.text)])
        if licence_name is not None and licence is not None and licence.is_open:
            note = "an open licence, and no condition for access"
            access_claim = Claim("is_public", True, licence_name, _location(licence_section), note=note)

    restriction = find_access_restriction(source.markdown.body, builder.names)
    if restriction is not None:
        access_claim = Claim("is_public", False, restriction, note="a condition for access is stated")
    if access_claim is not None:
        builder.add_claim(access_claim)


def find_licence_name(text: str) -> str | None:
    """Return the name of a licence in a section: a link in it, or the section itself if it is short, or None."""
    for candidate in (*_LINK_LABEL.findall(text), *_LINK_ADDRESS.findall(text)):
        if _LICENCE_LINK.match(candidate):
            return str(candidate)

    licence_name = text.strip()
    return licence_name if len(licence_name) <= MAX_LICENCE_NAME_LENGTH else None
