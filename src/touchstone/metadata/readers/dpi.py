"""The Data Provenance Initiative (DPI): JSON files with summaries of datasets for text, speech and video.

A summary is a third-party audit of citations, licences and creators. It shows neither accountability, which needs more
than a named creator, nor transparency, which needs more than an audit of licences.
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
    list_of_strings,
    objects_of,
    parse_number,
    parse_year,
    pointer,
    read_or_reject,
)
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "dpi"
IDENTIFIER: Final = "Unique Dataset Identifier"
SUMMARY_FIELDS: Final = frozenset({IDENTIFIER, "Dataset Name", "Collection", "Licenses"})
ADDRESSES: Final = ("Dataset URL", "Hugging Face URL", "Website URL", "GitHub URL", "Collection URL")
PAPERS: Final = ("Paper URL", "ArXiv URL", "Papers with Code URL", "Website URL", "Dataset URL", "GitHub URL")
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("Dataset Name",)
# The names of citation counts from Semantic Scholar begin with this, and end with the date: "S2 Citation Count (June
# 2024)".
CITATIONS: Final = "S2 Citation Count"
YEAR_OF_RELEASE: Final = "Year Released"
DATES: Final = ("S2 Date", "PwC Date", "HF Date", "Github Date")
# The initiative's terms for data available only on request or under an agreement.
RESTRICTED_LICENCES: Final = ("request form", "ldc user agreement", "cslu agreement")
# Summaries with one or two dialogs count files or turns instead: one of them has 9756 turns in its only dialog.
MIN_DIALOGS: Final = 3


def detect(source: SourceDocument) -> bool:
    """Return whether a document contains summaries or one of the initiative's lists of terms."""
    return bool(find_summaries(source)) or is_constants_file(source)


def is_constants_file(source: SourceDocument) -> bool:
    """Return whether a document is one of the initiative's lists of terms, such as the names of all licences."""
    return source.folder == "constants" and source.data is not None


def find_summaries(source: SourceDocument) -> dict[str, Mapping[str, Any]]:
    """Return the summaries in a document by their names. A single unnamed summary gets the name of the file."""
    if set(source.members) >= SUMMARY_FIELDS:
        return {source.path.stem: source.members}
    return {
        name: summary
        for name, summary in source.members.items()
        if isinstance(summary, Mapping) and set(summary) >= SUMMARY_FIELDS
    }


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of the summaries in a document."""
    if is_constants_file(source):
        raise DocumentError("companion_document", of=STANDARD)
    if source.path.name == "_template.json":
        raise DocumentError("template")

    for name, summary in find_summaries(source).items():
        yield read_or_reject(pointer(name), partial(read_summary, source, summary, name))


def read_summary(source: SourceDocument, summary: Mapping[str, Any], name: str) -> DatasetDocument:
    """Read the dataset of one summary."""
    builder = DocumentBuilder(STANDARD, key=str(summary.get(IDENTIFIER) or name))
    builder.rejected.extend(source.rejected)
    add_names(builder, summary)
    add_licence_and_access(builder, summary)
    add_numbers(builder, summary)
    add_documentation(builder, summary)
    builder.keep_unmapped(summary, REPRESENTED_FIELDS)
    return builder.build()


def add_names(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Add name, tasks, domains, languages and addresses.

    The topics of text datasets were predicted by a model, so only the topics of speech and video count as domains.
    """
    builder.set_name(summary.get("Dataset Name"), builder.key)
    title = summary.get("Paper Title")
    if isinstance(title, str) and title.strip():
        builder.record["objective"] = title.strip()

    tasks = list_of_strings(summary.get("Task Categories")) or list_of_strings(summary.get("Tasks"))
    builder.set_terms("task", fold_tasks(tasks))

    topics = list_of_strings(summary.get("Topics"))
    source_categories = list_of_strings(summary.get("Source Category"))
    builder.set_terms("domain", fold_domains(topics) or known_domains(source_categories))

    languages = list_of_strings(summary.get("Languages (ISO)")) or list_of_strings(summary.get("Languages"))
    builder.set_metadata("language", languages)

    for name in ADDRESSES:
        addresses = [text for text in list_of_strings(summary.get(name)) if text.startswith("http")]
        if addresses:
            builder.set_metadata("url", addresses[0])
            break
    builder.add_prose(("Process Description",), summary.get("Process Description"))


def add_licence_and_access(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Add the licence, and whether the data are public."""
    stated_names = [licence.get("License") for licence in objects_of(summary.get("Licenses"))]
    licence_names = [name for name in stated_names if isinstance(name, str)]
    combined_licence = builder.set_licence(licence_names)
    builder.add_prose(("License Notes",), summary.get("License Notes"))

    restricted_names = [name for name in licence_names if name.strip().lower() in RESTRICTED_LICENCES]
    if summary.get("Taken Down") in ("True", True):
        builder.add_warning("Taken down by its publisher")
        builder.add_field_claim("is_public", False, str(summary["Taken Down"]), "Taken Down")
    elif restricted_names:
        builder.add_field_claim("is_public", False, restricted_names[0], "Licenses")
    elif combined_licence is not None and combined_licence.is_open:
        builder.add_field_claim("is_public", True, licence_names[0], "Licenses", note="an open licence")


def add_numbers(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Add the number of rows, the year and the number of citations."""
    add_dialog_count(builder, summary)
    inferred = summary.get("Inferred Metadata")
    if not isinstance(inferred, Mapping):
        inferred = {}
    add_year(builder, summary, inferred)
    add_citations(builder, inferred)


def add_dialog_count(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Add the number of rows, which is the number of dialogs. Only text datasets have it."""
    metrics = summary.get("Text Metrics")
    dialogs = parse_number(metrics.get("Num Dialogs")) if isinstance(metrics, Mapping) else None
    if not isinstance(dialogs, int) or dialogs <= 0:
        return

    location = pointer("Text Metrics", "Num Dialogs")
    if dialogs < MIN_DIALOGS:
        builder.reject(location, "implausible_value", attribute="instances_number", value=dialogs)
        return
    field = "Text Metrics.Num Dialogs"
    builder.add_claim(Claim("instances_number", dialogs, str(dialogs), location, field=field))


def add_citations(builder: DocumentBuilder, inferred: Mapping[str, Any]) -> None:
    """Add the number of citations, from the last of several counts in a summary."""
    citation_counts = {name: count for name, count in inferred.items() if str(name).startswith(CITATIONS)}
    for name, count in reversed(citation_counts.items()):
        citations = parse_number(count)
        if isinstance(citations, int):
            location = pointer("Inferred Metadata", name)
            note = "Semantic Scholar"
            builder.add_claim(Claim("citations", citations, str(count), location, field=name, note=note))
            return


def add_year(builder: DocumentBuilder, summary: Mapping[str, Any], inferred: Mapping[str, Any]) -> None:
    """Add the year of release or, if it is unknown, the year of the first known date or of the citation."""
    year_of_release = parse_number(summary.get(YEAR_OF_RELEASE))
    if isinstance(year_of_release, int):
        builder.add_field_claim("year", year_of_release, str(year_of_release), YEAR_OF_RELEASE)
        return

    for date_name in DATES:
        date = inferred.get(date_name)
        if isinstance(date, str) and (year := parse_year(date)) is not None:
            place = pointer("Inferred Metadata", date_name)
            builder.add_claim(Claim("year", year, quote=date, place=place, field=date_name))
            return

    year_and_quote = find_citation_year(str(summary.get("Bibtex") or ""))
    if year_and_quote is not None:
        cited_year, quote = year_and_quote
        builder.add_field_claim("year", cited_year, quote, "Bibtex")


def add_documentation(builder: DocumentBuilder, summary: Mapping[str, Any]) -> None:
    """Claim external documentation from the first address of a paper or page."""
    for name in PAPERS:
        for text in list_of_strings(summary.get(name)):
            if text.startswith("http"):
                builder.add_field_claim("external_documentation_available", True, text, name)
                return
