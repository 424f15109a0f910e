"""The Penn Machine Learning Benchmarks: a YAML file for each table, and one table of counts for all of them.

The repository has a licence of its own, which is not that of the tables: only a licence in the file counts.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains, fold_tasks
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.placeholders import is_placeholder
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
REPRESENTED: Final = ("dataset", "description")
DEPRECATED: Final = "_deprecated_"
_ADDRESS: Final = re.compile(r"https?://[^\s,;)>\]]+")
_YEAR: Final = re.compile(r"(?:[(\s,;]|^)((?:19|20)\d{2})(?=[).,;:\s]|$)")
_TEMPORAL_NAMES: Final = frozenset({"date", "datetime", "time", "timestamp", "year", "month", "day", "hour"})


def detect(source: SourceDocument) -> bool:
    """Return whether a document is the description of a PMLB table or their table of counts."""
    if set(source.columns) >= COUNT_COLUMNS:
        return True
    return "dataset" in source.members and {"target", "features"} & set(source.members) != set()


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
    """Read the dataset of a YAML file."""
    members = source.members
    key = str(members.get("dataset") or "")
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
    builder.keep_unmapped(members, REPRESENTED)
    return builder.build()


def add_features(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the number of features, the first description and the first temporal feature.

    PMLB does not list the target among the features.
    """
    features = objects_of(members.get("features"))
    if not features:
        return

    location = pointer("features")
    quote = str(features[0].get("name"))
    builder.add_claim(
        Claim("features_number", len(features), quote, location, field="features", note="without the target")
    )
    for feature in features:
        description = feature.get("description")
        if isinstance(description, str) and not is_placeholder(description):
            quote = description.strip().splitlines()[0]
            builder.add_claim(
                Claim("metadata_provided_with_dataset", True, quote, location, field="features.description")
            )
            break
    for feature in features:
        if str(feature.get("name")).lower() in _TEMPORAL_NAMES:
            builder.add_claim(
                Claim("has_temporal_factors", True, str(feature["name"]), location, field="features.name")
            )
            break


def add_references(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add external documentation from the first web address, and the year from the publication.

    The year of a publication about the UCI repository as a whole does not count.
    """
    for name in ("source", "publication"):
        for text in list_of_strings(members.get(name)):
            if is_placeholder(text):
                builder.reject(pointer(name), "placeholder", text=text.strip()[:200])
                continue

            builder.add_prose((name,), text)
            address = _ADDRESS.search(text)
            if address is not None and "external_documentation_available" not in builder.record:
                quote = address.group(0)
                builder.add_claim(Claim("external_documentation_available", True, quote, pointer(name), field=name))

            names_repository = "UCI Machine Learning Repository" in " ".join(text.split())
            year = _YEAR.search(text) if name == "publication" and not names_repository else None
            if year is not None and "year" not in builder.record:
                note = "year of the publication"
                builder.add_claim(
                    Claim("year", int(year.group(1)), year.group(1), pointer(name), field=name, note=note)
                )
