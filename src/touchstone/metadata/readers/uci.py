"""The UCI Machine Learning Repository: replies of its API for one dataset, and its listing of all datasets as CSV."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, fold_tasks, vocabulary_key
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.builder import (
    MIN_INSTANCES,
    DocumentBuilder,
    list_of_strings,
    parse_number,
    parse_year,
    pointer,
    read_or_reject,
)
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "uci"
LISTING_COLUMNS: Final = frozenset({"Dataset Name", "Donated Date", "Subject Area", "Associated Tasks", "Instances"})
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("name", "abstract")
# The vocabulary keys of the spellings of "Time-Series" among the characteristics of a dataset.
TEMPORAL: Final = ("time-series", "timeseries")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is UCI's listing or a reply of its API."""
    return set(source.columns) >= LISTING_COLUMNS or "uci_id" in api_members(source)


def api_members(source: SourceDocument) -> Mapping[str, Any]:
    """Return the members of an API reply, which may be wrapped in `data` or `metadata`.

    The service wraps them in `data`. The Python package `ucimlrepo` stores them as `metadata`.
    """
    for name in ("data", "metadata"):
        wrapped = source.members.get(name)
        if isinstance(wrapped, Mapping) and "uci_id" in wrapped:
            return wrapped
    return source.members


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the datasets of the listing, or the single dataset of a reply."""
    if source.columns:
        for index, row in enumerate(source.rows()):
            yield read_or_reject(pointer(index), partial(read_row, row))
    else:
        yield read_reply(source, api_members(source))


def read_row(row: Mapping[str, str]) -> DatasetDocument:
    """Read the dataset in one row of the listing. `N/A` marks an empty cell.

    The listing has no identifiers, and some datasets share a name. The name and the date of donation together identify
    a dataset.
    """
    values = {name: value.strip() for name, value in row.items() if value.strip() not in ("", "N/A")}
    name = values.get("Dataset Name", "")
    if not name:
        raise DocumentError("no_identifier")

    donation_date = values.get("Donated Date", "")
    key = f"{vocabulary_key(name)}/{donation_date.replace('/', '-')}"
    builder = DocumentBuilder(STANDARD, key=key)
    builder.set_name(name)
    builder.set_description(values.get("Description"))
    builder.add_prose(("Description",), values.get("Description"))
    builder.set_terms("domain", fold_domains([values.get("Subject Area", "")]))
    builder.set_terms("task", fold_tasks(values.get("Associated Tasks", "").split(",")))

    year = parse_year(donation_date)
    if year is not None:
        builder.add_claim(Claim("year", year, donation_date, "Donated Date", field="Donated Date"))
    add_size(builder, "instances_number", values, "Instances")
    add_size(builder, "features_number", values, "Features")
    if "Time-Series" in values.get("Dataset Characteristics", ""):
        builder.add_claim(Claim("has_temporal_factors", True, "Time-Series", "Dataset Characteristics"))
    builder.keep_unmapped(row, ("Dataset Name",))
    return builder.build()


def add_size(builder: DocumentBuilder, attribute: str, values: Mapping[str, Any], name: str) -> None:
    """Add the number of rows or columns, or reject it if it is implausible."""
    size = parse_number(values.get(name))
    if size is None:
        return

    # A single column is possible, but a single row is not.
    minimum = MIN_INSTANCES if attribute == "instances_number" else 1
    if not isinstance(size, int) or size < minimum:
        builder.reject(name, "implausible_value", attribute=attribute, value=size)
        return
    builder.add_claim(Claim(attribute, size, str(values[name]), name, field=name))


def read_reply(source: SourceDocument, members: Mapping[str, Any]) -> DatasetDocument:
    """Read the dataset of an API reply."""
    key = str(members.get("uci_id") or "")
    if not key:
        raise DocumentError("no_identifier")

    builder = DocumentBuilder(STANDARD, key=key, rejected=list(source.rejected))
    builder.set_name(members.get("name"), key)
    builder.set_description(members.get("abstract"))
    builder.add_prose(("abstract",), members.get("abstract"))
    builder.set_metadata("url", members.get("repository_url"))
    builder.set_terms("domain", fold_domains(list_of_strings(members.get("area"))))
    builder.set_terms("task", fold_tasks(list_of_strings(members.get("tasks"))))
    builder.set_licence(list_of_strings(members.get("license")))

    add_size(builder, "instances_number", members, "num_instances")
    add_size(builder, "features_number", members, "num_features")
    add_reply_values(builder, members)

    additional_info = members.get("additional_info")
    if isinstance(additional_info, Mapping):
        for name, text in additional_info.items():
            builder.add_prose(("additional_info", name), text)
    builder.keep_unmapped(members, REPRESENTED_FIELDS)
    return builder.build()


def add_reply_values(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the year, missing values, temporal factors and documentation from an API reply."""
    year_field = "year_of_dataset_creation"
    year = parse_number(members.get(year_field))
    if isinstance(year, int):
        builder.add_field_claim("year", year, str(members[year_field]), year_field)

    answer = members.get("has_missing_values")
    if answer in ("yes", "no", True, False):
        has_missing_values = answer in ("yes", True)
        builder.add_field_claim("has_missing_values", has_missing_values, str(answer).lower(), "has_missing_values")

    for text in list_of_strings(members.get("characteristics")):
        if vocabulary_key(text) in TEMPORAL:
            builder.add_field_claim("has_temporal_factors", True, text, "characteristics")
            break

    variables = members.get("variables")
    if isinstance(variables, list) and variables and isinstance(variables[0], Mapping):
        first_name = str(variables[0].get("name"))
        builder.add_field_claim("metadata_provided_with_dataset", True, first_name, "variables")

    address = members.get("repository_url")
    if isinstance(address, str) and address.startswith("http"):
        builder.add_field_claim("external_documentation_available", True, address, "repository_url")
