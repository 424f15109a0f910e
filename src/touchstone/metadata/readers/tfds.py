"""TensorFlow Datasets: a folder with a README, a list of tags and a file of citations for each dataset."""

import re
from collections.abc import Iterator
from typing import Final

from touchstone.core.vocabulary import fold_domains, fold_tasks
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.prose import find_citation_year
from touchstone.metadata.readers.builder import LOADER_NAMES, DocumentBuilder
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "tfds"
TAGS_FILE: Final = "TAGS.txt"
CITATIONS_FILE: Final = "CITATIONS.bib"
# Some files lack a line end between two tags (`ml.task.text-summarizationcontent.data-type.text`).
_TAG: Final = re.compile(r"(?:content|ml)\.[a-z.-]+?\.[A-Za-z0-9_-]+?(?=(?:content|ml)\.[a-z]|\s|#|$)|content\.[a-z]+")
MAX_TAG_LINE: Final = 500
_ADDRESS: Final = re.compile(r"https?://[^\s)>\]]+")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is the README of a TensorFlow dataset: it has tags or citations beside it."""
    return source.path.name.lower() == "readme.md" and {TAGS_FILE, CITATIONS_FILE} & set(source.companions) != set()


def read(source: SourceDocument) -> Iterator[DatasetDocument]:
    """Yield the dataset that a README with its tags and citations describes."""
    key = source.folder
    if not key:
        raise DocumentError("no_identifier")
    if key in LOADER_NAMES:
        raise DocumentError("loader_name", name=key)

    builder = DocumentBuilder(STANDARD, key=key)
    builder.rejected.extend(source.markdown.rejected)
    builder.sections.extend(source.markdown.sections)
    builder.name(key)
    builder.describe(source.text)
    builder.remember("url", f"https://www.tensorflow.org/datasets/catalog/{key}")

    add_tags(builder, companion_text(builder, source, TAGS_FILE))
    citations = companion_text(builder, source, CITATIONS_FILE)
    dated = find_citation_year(citations)
    if dated is not None:
        builder.claim(Claim("year", dated[0], dated[1], CITATIONS_FILE, note="the first citation"))
    if citations:
        builder.unmapped[f"/{CITATIONS_FILE}"] = citations

    add_access_and_documentation(builder, source.text)
    yield builder.build()


def companion_text(builder: DocumentBuilder, source: SourceDocument, name: str) -> str:
    """Return the text of a file beside the README, or an empty text if it is missing or cannot be read."""
    companion = source.companion(name)
    if companion is None:
        return ""
    try:
        return companion.text
    except DocumentError as error:
        builder.reject(name, error.code, **error.facts)
        return ""


def add_tags(builder: DocumentBuilder, text: str) -> None:
    """Add tasks, subjects and languages from the tags."""
    tags = [tag for line in text.splitlines() for tag in _TAG.findall(line.split("#")[0].strip()[:MAX_TAG_LINE])]
    builder.words("task", fold_tasks(select(tags, "ml.task.")))
    builder.words("domain", fold_domains(select(tags, "content.subject.")))
    builder.remember("language", select(tags, "content.language."))
    if text:
        builder.unmapped[f"/{TAGS_FILE}"] = text


def select(tags: list[str], prefix: str) -> list[str]:
    """Return the rest of the tags that begin with a prefix, each once."""
    return list(dict.fromkeys(tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)))


def add_access_and_documentation(builder: DocumentBuilder, readme: str) -> None:
    """Claim that access is restricted, if the README says so, and documentation from an address in it."""
    restriction = find_access_restriction(readme)
    if restriction is not None:
        builder.claim(Claim("is_public", False, restriction, "README.md"))
    address = _ADDRESS.search(readme)
    if address is not None:
        quote = address.group(0).rstrip(".,;")
        builder.claim(Claim("external_documentation_available", True, quote, "README.md"))
