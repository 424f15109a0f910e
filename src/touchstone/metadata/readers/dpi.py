"""The Data Provenance Initiative: summaries of datasets for text, speech and video, one or several in a file.

A summary is an audit by others. It knows citations, licences and creators, but a named creator does not answer for a
dataset, and an audit of licences does not make it transparent.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, fold_tasks, known_domains
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.prose import find_citation_year
from touchstone.metadata.readers.builder import (
    DocumentBuilder,
    attempt,
    list_of_texts,
    number_of,
    objects_of,
    pointer,
    year_of,
)
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "dpi"
IDENTIFIER: Final = "Unique Dataset Identifier"
SUMMARY_FIELDS: Final = frozenset({IDENTIFIER, "Dataset Name", "Collection", "Licenses"})
ADDRESSES: Final = ("Dataset URL", "Hugging Face URL", "Website URL", "GitHub URL", "Collection URL")
PAPERS: Final = ("Paper URL", "ArXiv URL", "Papers with Code URL", "Website URL", "Dataset URL", "GitHub URL")
REPRESENTED: Final = ("Dataset Name",)
CITATIONS: Final = "S2 Citation Count"
DATES: Final = ("S2 Date", "PwC Date", "HF Date", "Github Date")
# Words of the initiative for data that one gets only on request or under an agreement.
RESTRICTED_LICENCES: Final = ("request form", "ldc user agreement", "cslu agreement")
# Summaries with one or two dialogs count files or turns instead: one states 9756 turns in its only dialog.
MIN_DIALOGS: Final = 3


def detect(source: SourceDocument) -> bool:
    """Return whether a document holds summaries."""
    return bool(find_summaries(source)) or is_constants_file(source)


def is_constants_file(source: SourceDocument) -> bool:
    """Return whether a document is one of the initiative's lists of terms."""
    return source.folder == "constants" and source.data is not None


def find_summaries(source: SourceDocument) -> dict[str, Mapping[str, Any]]:
    """Return the summaries of a document by their names there; a document with a single one has no name for it."""
    if set(source.members) >= SUMMARY_FIELDS:
        return {source.path.stem: source.members}
    return {
        name: summary
        for name, summary in source.members.items()
        if isinstance(summary, Mapping) and set(summary) >= SUMMARY_FIELDS
    }


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets that a document summarises."""
    if is_constants_file(source):
        raise DocumentError("companion_document", of=STANDARD)
    if source.path.name == "_template.json":
        raise DocumentError("template")

    for name, summary in find_summaries(source).items():
        yield attempt(pointer(name), partial(read_summary, source, summary, name))


def read_summary(source: SourceDocument, summary: Mapping[str, Any], name: str) -> DatasetDocument:
    """Return the dataset of one summary."""
    builder = DocumentBuilder(STANDARD, key=str(summary.get(IDENTIFIER) or name))
    builder.rejected.extend(source.rejected)
    add_names(builder, summary)
    add_licence_and_access(builder, summary)
    add_numbers(builder, summary)
    add_documentation(builder, summary)
    builder.keep_rest(summary, REPRESENTED)
    return builder.build()


def add_names(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Add name, tasks, domains, languages and addresses.

    The topics of a text summary were guessed by a model, so only those of speech and video count as domains.
    """
    builder.name(summary.get("Dataset Name"), builder.key)
    title = summary.get("Paper Title")
    if isinstance(title, str) and title.strip():
        builder.record["objective"] = title.strip()

    tasks = list_of_texts(summary.get("Task Categories")) or list_of_texts(summary.get("Tasks"))
    builder.words("task", fold_tasks(tasks))

    topics = list_of_texts(summary.get("Topics"))
    source_categories = list_of_texts(summary.get("Source Category"))
    builder.words("domain", fold_domains(topics) or known_domains(source_categories))

    languages = list_of_texts(summary.get("Languages (ISO)")) or list_of_texts(summary.get("Languages"))
    builder.remember("language", languages)

    for name in ADDRESSES:
        addresses = [text for text in list_of_texts(summary.get(name)) if text.startswith("http")]
        if addresses:
            builder.remember("url", addresses[0])
            break
    builder.prose(("Process Description",), summary.get("Process Description"))


def add_licence_and_access(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Add the licence, and whether everybody gets the data."""
    names = [entry.get("License") for entry in objects_of(summary.get("Licenses"))]
    texts = [name for name in names if isinstance(name, str)]
    licence = builder.licence(texts)
    builder.prose(("License Notes",), summary.get("License Notes"))

    restricted = [text for text in texts if text.strip().lower() in RESTRICTED_LICENCES]
    place = pointer("Licenses")
    if summary.get("Taken Down") in ("True", True):
        builder.warn("Taken down by its publisher")
        builder.claim(Claim("is_public", False, str(summary["Taken Down"]), pointer("Taken Down"), field="Taken Down"))
    elif restricted:
        builder.claim(Claim("is_public", False, restricted[0], place, field="Licenses"))
    elif licence is not None and licence.is_open:
        builder.claim(Claim("is_public", True, texts[0], place, field="Licenses", note="an open licence"))


def add_numbers(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Add the number of rows, the year, and how often the dataset was cited.

    The number of rows is that of the dialogs, and only known for text. A summary may hold several counts of citations;
    the last one is used.
    """
    metrics = summary.get("Text Metrics")
    dialogs = number_of(metrics.get("Num Dialogs")) if isinstance(metrics, Mapping) else None
    if isinstance(dialogs, int) and dialogs > 0:
        place = pointer("Text Metrics", "Num Dialogs")
        if dialogs < MIN_DIALOGS:
            builder.reject(place, "implausible_value", attribute="instances_number", value=dialogs)
        else:
            builder.claim(Claim("instances_number", dialogs, str(dialogs), place, field="Text Metrics.Num Dialogs"))

    inferred = summary.get("Inferred Metadata")
    if not isinstance(inferred, Mapping):
        inferred = {}
    add_year(builder, summary, inferred)

    citation_counts = {name: count for name, count in inferred.items() if str(name).startswith(CITATIONS)}
    for name, stated_count in reversed(citation_counts.items()):
        citations = number_of(stated_count)
        if isinstance(citations, int):
            place = pointer("Inferred Metadata", name)
            quote = str(stated_count)
            builder.claim(Claim("citations", citations, quote, place, field=name, note="Semantic Scholar"))
            return


def add_year(builder: DocumentBuilder, summary: Mapping[str, Any], inferred: Mapping[str, Any]) -> None:
    """Add the year of release or, if it is not stated, of the first known date, or else of the citation."""
    released = number_of(summary.get("Year Released"))
    if isinstance(released, int):
        builder.claim(Claim("year", released, str(released), pointer("Year Released"), field="Year Released"))
        return

    for name in DATES:
        date = inferred.get(name)
        year = year_of(date) if isinstance(date, str) and date else None
        if year is not None:
            builder.claim(Claim("year", year, str(date), pointer("Inferred Metadata", name), field=name))
            return

    year_and_quote = find_citation_year(str(summary.get("Bibtex") or ""))
    if year_and_quote is not None:
        cited_year, quote = year_and_quote
        builder.claim(Claim("year", cited_year, quote, pointer("Bibtex"), field="Bibtex"))


def add_documentation(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Claim external documentation from the address of a paper or a page."""
    for name in PAPERS:
        for text in list_of_texts(summary.get(name)):
            if text.startswith("http"):
                builder.claim(Claim("external_documentation_available", True, text, pointer(name), field=name))
                return
