"""TensorFlow Datasets (TFDS): each dataset has a folder with a `README.md`, a `TAGS.txt` and a `CITATIONS.bib`.

The README is the main document, and the other two files are its companions. The name of the folder is the only name of
the dataset.
"""

import re
from collections.abc import Iterator
from typing import Final

from touchstone.core.vocabulary import fold_domains, fold_tasks
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.prose import MARKDOWN_ADDRESS, find_citation_year
from touchstone.metadata.readers.builder import LOADER_NAMES, DocumentBuilder
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "tfds"
TAGS_FILE: Final = "TAGS.txt"
CITATIONS_FILE: Final = "CITATIONS.bib"
# Matches the two tags in "ml.task.text-summarizationcontent.data-type.text", because some files lack the line end
# between them. It does not match "license.mit", because only tags about the content and the tasks are of use.
_TAG: Final = re.compile(
    r"""
    (?:content|ml)\.[a-z.-]+?\.[A-Za-z0-9_-]+?
    (?=(?:content|ml)\.[a-z]|\s|\#|$)  # before the next tag, a space, a comment or the end of the line
    |content\.[a-z]+
    """,
    re.VERBOSE,
)
MAX_TAG_LINE: Final = 500


def detect(source: SourceDocument) -> bool:
    """Return whether a document is a README with companion files for tags or citations."""
    is_readme = source.path.name.lower() == "readme.md"
    return is_readme and not {TAGS_FILE, CITATIONS_FILE}.isdisjoint(source.companions)


def read(source: SourceDocument) -> Iterator[DatasetDocument]:
    """Yield the single dataset that a README, its tags and its citations describe."""
    key = source.folder
    if not key:
        raise DocumentError("no_identifier")
    if key in LOADER_NAMES:
        raise DocumentError("loader_name", name=key)

    builder = DocumentBuilder(STANDARD, key=key)
    builder.rejected.extend(source.markdown.rejected)
    builder.sections.extend(source.markdown.sections)
    builder.set_name(key)
    builder.set_description(source.text)
    builder.set_metadata("url", f"https://www.tensorflow.org/datasets/catalog/{key}")

    add_tags(builder, companion_text(builder, source, TAGS_FILE))
    add_year(builder, companion_text(builder, source, CITATIONS_FILE))
    add_access_and_documentation(builder, source.text)
    yield builder.build()


def companion_text(builder: DocumentBuilder, source: SourceDocument, name: str) -> str:
    """Return the text of a companion file, or an empty string if it is missing or cannot be decoded."""
    companion = source.companion(name)
    if companion is None:
        return ""
    try:
        return companion.text
    except DocumentError as error:
        builder.reject(name, error.code, **error.facts)
        return ""


def add_tags(builder: DocumentBuilder, text: str) -> None:
    """Add tasks, subjects and languages from a list of tags, which may have comments after a `#`."""
    tags: list[str] = []
    for line in text.splitlines():
        line_without_comment = line.split("#")[0].strip()
        tags += _TAG.findall(line_without_comment[:MAX_TAG_LINE])

    builder.set_terms("task", fold_tasks(tags_with_prefix(tags, "ml.task.")))
    builder.set_terms("domain", fold_domains(tags_with_prefix(tags, "content.subject.")))
    builder.set_metadata("language", tags_with_prefix(tags, "content.language."))
    if text:
        builder.unmapped[f"/{TAGS_FILE}"] = text


def tags_with_prefix(tags: list[str], prefix: str) -> list[str]:
    """Return the distinct tags with a prefix, without the prefix."""
    return list(dict.fromkeys(tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)))


def add_year(builder: DocumentBuilder, citations: str) -> None:
    """Add the year of the first citation."""
    year_and_quote = find_citation_year(citations)
    if year_and_quote is not None:
        year, quote = year_and_quote
        builder.add_claim(Claim("year", year, quote, CITATIONS_FILE, note="the first citation"))
    if citations:
        builder.unmapped[f"/{CITATIONS_FILE}"] = citations


def add_access_and_documentation(builder: DocumentBuilder, readme: str) -> None:
    """Claim a restriction of access and external documentation if the README states them."""
    restriction = find_access_restriction(readme, builder.names)
    if restriction is not None:
        builder.add_claim(Claim("is_public", False, restriction, "README.md"))
    address = MARKDOWN_ADDRESS.search(readme)
    if address is not None:
        quote = address.group(0).rstrip(".,;")
        builder.add_claim(Claim("external_documentation_available", True, quote, "README.md"))
