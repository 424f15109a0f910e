"""The Penn Machine Learning Benchmarks (PMLB): a `metadata.yaml` for each table, and one list of counts for all tables.

The licence of the repository does not apply to the tables, so only a licence in the file of a table counts.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, fold_tasks
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import is_placeholder
from touchstone.metadata.prose import on_one_line
from touchstone.metadata.readers.builder import (
    DocumentBuilder,
    list_of_strings,
    objects_of,
    parse_number,
    pointer,
    read_or_reject,
)
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "pmlb"
COUNT_COLUMNS: Final = frozenset({"dataset", "n_instances", "n_features", "task"})
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("dataset", "description")
# The names of tables that PMLB no longer recommends begin with this.
DEPRECATED: Final = "_deprecated_"
_ADDRESS: Final = re.compile(r"https?://[^\s,;)>\]]+")
# Matches the year in "Fisher (1936)." but not the numbers in "pp. 1936-1940" or "doi:10.1936/x".
_YEAR: Final = re.compile(r"(?:[(\s,;]|^)(?P<year>(?:19|20)\d{2})(?=[).,;:\s]|$)")
_TEMPORAL_NAMES: Final = frozenset({"date", "datetime", "time", "timestamp", "year", "month", "day", "hour"})


def detect(source: SourceDocument) -> bool:
    """Return whether a document is the description of a PMLB table or their table of counts."""
    if set(source.columns) >= COUNT_COLUMNS:
        return True
    return "dataset" in source.members and not {"target", "features"}.isdisjoint(source.members)


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the dataset of a description, or all datasets of the table of counts."""
    if source.columns:
        for index, row in enumerate(source.rows()):
            yield read_or_reject(pointer(index), partial(read_counts, row))
    else:
        yield read_description(source)


def read_counts(row: Mapping[str, str]) -> DatasetDocument:
    """Read a dataset from the table of counts."""
    builder = start_document(row["dataset"])
    builder.set_terms("task", fold_tasks([row["task"]]))
    for attribute, name in (("instances_number", "n_instances"), ("features_number", "n_features")):
        count = parse_number(row[name])
        if isinstance(count, int):
            note = "without the target" if attribute == "features_number" else ""
            builder.add_claim(Claim(attribute, count, row[name], name, field=name, note=note))
    builder.keep_unmapped(row, ("dataset",))
    return builder.build()


def start_document(key: str) -> DocumentBuilder:
    """Return a builder for a table, with a warning if PMLB has deprecated it."""
    builder = DocumentBuilder(STANDARD, key=key)
    builder.set_name(key.removeprefix(DEPRECATED))
    builder.set_metadata("url", f"https://github.com/EpistasisLab/pmlb/tree/master/datasets/{key}")
    if key.startswith(DEPRECATED):
        builder.add_warning("Deprecated by PMLB")
    return builder


def read_description(source: SourceDocument) -> DatasetDocument:
    """Return the dataset that the YAML file of a table describes.

    Raises:
        DocumentError: neither the file nor its folder identifies the dataset.
    """
    members = source.members
    key = str(members.get("dataset") or "")
    # Only the folder says that a table is deprecated. The file still has its former name.
    if source.folder.startswith(DEPRECATED):
        key = source.folder
    if not key:
        raise DocumentError("no_identifier")

    builder = start_document(key)
    builder.rejected.extend(source.rejected)
    builder.set_description(members.get("description"))
    builder.add_prose(("description",), members.get("description"))
    builder.set_terms("task", fold_tasks(list_of_strings(members.get("task"))))
    keywords = list_of_strings(members.get("keywords"))
    builder.set_metadata("tags", [keyword.strip() for keyword in keywords])
    builder.set_terms("domain", fold_domains(keywords))
    builder.set_licence(list_of_strings(members.get("license")))
    add_features(builder, members)
    add_references(builder, members)
    builder.keep_unmapped(members, REPRESENTED_FIELDS)
    return builder.build()


def add_features(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the number of features, provided metadata from the first description, and the first temporal feature.

    PMLB does not list the target among the features.
    """
    features = objects_of(members.get("features"))
    if not features:
        return

    first_name = str(features[0].get("name"))
    builder.add_field_claim("features_number", len(features), first_name, "features", note="without the target")

    place = pointer("features")
    field = "features.description"
    for feature in features:
        description = feature.get("description")
        if isinstance(description, str) and not is_placeholder(description):
            quote = description.strip().splitlines()[0]
            builder.add_claim(Claim("metadata_provided_with_dataset", True, quote, place, field=field))
            break

    for feature in features:
        name = str(feature.get("name"))
        if name.lower() in _TEMPORAL_NAMES:
            builder.add_claim(Claim("has_temporal_factors", True, name, place, field="features.name"))
            break


def add_references(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the prose about source and publication, the first web address in it, and the year of the publication."""
    for name in ("source", "publication"):
        for text in list_of_strings(members.get(name)):
            if is_placeholder(text):
                builder.reject(pointer(name), "placeholder", text=text.strip()[:200])
                continue

            builder.add_prose((name,), text)
            add_address(builder, name, text)
            if name == "publication":
                add_year(builder, text)


def add_address(builder: DocumentBuilder, name: str, text: str) -> None:
    """Claim external documentation from a web address in a field, unless an earlier one has been found."""
    address = _ADDRESS.search(text)
    if address is not None and "external_documentation_available" not in builder.record:
        builder.add_field_claim("external_documentation_available", True, address.group(0), name)


def add_year(builder: DocumentBuilder, publication: str) -> None:
    """Add the year of a publication, unless an earlier one has been found.

    Many tables cite the UCI repository as a whole, whose year says nothing about the table.
    """
    is_about_repository = "UCI Machine Learning Repository" in on_one_line(publication)
    match = _YEAR.search(publication)
    if match is None or is_about_repository or "year" in builder.record:
        return

    quote = match["year"]
    builder.add_field_claim("year", int(quote), quote, "publication", note="year of the publication")
