"""OpenML: JSON replies for one dataset, and listings of datasets as JSON or CSV.

OpenML counts the target as a feature, which this reader does not. It states the share of missing values from 0 to 1 in
some replies and from 0 to 100 in others, so the share is computed from counts, or used only if it is unambiguous.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
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

STANDARD: Final = "openml"
LISTING_COLUMNS: Final = frozenset({"did", "name", "version", "NumberOfInstances", "NumberOfFeatures"})
IDENTIFIERS: Final = ("row_id_attribute", "ignore_attribute")
REPRESENTED: Final = ("name", "description", "language")
# Prefixes of tags that assign datasets to studies. They do not describe the dataset.
_STUDY_TAGS: Final = ("study_", "mythbusting", "openml")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is an OpenML reply or listing."""
    if set(source.columns) >= LISTING_COLUMNS:
        return True
    return "data_set_description" in source.members or _is_part(source) or bool(listed_datasets(source))


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the dataset of a description, or all datasets of a listing.

    Raises:
        DocumentError: the document contains only the features or qualities of an unnamed dataset.
    """
    if _is_part(source):
        raise DocumentError("companion_document", of=STANDARD)

    is_csv_listing = bool(source.columns)
    if is_csv_listing:
        for index, row in enumerate(source.rows()):
            yield read_or_reject(pointer(index), partial(read_listed, row["did"], row, row, source.rejected))
        return

    if "data_set_description" in source.members:
        yield read_description(source)
        return

    for index, dataset in enumerate(listed_datasets(source)):
        key = str(dataset["did"])
        qualities = named_values(dataset.get("quality"))
        yield read_or_reject(pointer(index), partial(read_listed, key, dataset, qualities, source.rejected))


def _is_part(source: SourceDocument) -> bool:
    """Return whether a reply contains only the features or qualities of an unnamed dataset."""
    return "data_features" in source.members or "data_qualities" in source.members


def listed_datasets(source: SourceDocument) -> list[dict[str, Any]]:
    """Return the datasets of a listing."""
    data = source.members.get("data")
    datasets = data.get("dataset") if isinstance(data, Mapping) else None
    if not isinstance(datasets, list):
        return []
    return [dataset for dataset in datasets if isinstance(dataset, dict) and "did" in dataset]


def named_values(qualities: Any) -> dict[str, Any]:
    """Convert a list of objects with `name` and `value` to a dictionary."""
    return {str(quality.get("name")): quality.get("value") for quality in objects_of(qualities)}


def read_listed(
    key: str, members: Mapping[str, Any], qualities: Mapping[str, Any], rejected: tuple[RejectedPart, ...]
) -> DatasetDocument:
    """Read a dataset of a listing, which states counts as qualities."""
    builder = DocumentBuilder(STANDARD, key=key, rejected=list(rejected))
    builder.set_name(members.get("name"), key)
    builder.set_metadata("url", f"https://www.openml.org/d/{key}")
    builder.set_metadata("version", members.get("version"))
    warn_of_status(builder, members)
    add_qualities(builder, qualities, has_target=has_known_target(qualities))
    builder.keep_unmapped(members, ("name",))
    return builder.build()


def has_known_target(qualities: Mapping[str, Any]) -> bool:
    """Return whether a target is known because the qualities count its classes."""
    classes = parse_number(qualities.get("NumberOfClasses"))
    return classes is not None and classes > 0


def read_description(source: SourceDocument) -> DatasetDocument:
    """Read the dataset of a description, with counts from companion replies."""
    members = source.members["data_set_description"]
    if not isinstance(members, dict) or not members.get("id"):
        raise DocumentError("no_identifier")

    key = str(members["id"])
    builder = DocumentBuilder(STANDARD, key=key, rejected=list(source.rejected))
    builder.set_name(members.get("name"), key)
    builder.set_description(members.get("description"))
    builder.add_prose(("data_set_description", "description"), members.get("description"))
    builder.set_metadata("url", f"https://www.openml.org/d/{key}")
    builder.set_metadata("language", list_of_strings(members.get("language")))
    builder.set_metadata("version", members.get("version"))

    tags = [tag for tag in list_of_strings(members.get("tag")) if not tag.lower().startswith(_STUDY_TAGS)]
    builder.set_metadata("tags", tags)
    builder.set_terms("domain", known_domains(tags))
    warn_of_status(builder, members)
    add_access(builder, members)
    add_dates_and_addresses(builder, members)

    features = companion_member(source, "data_features", "feature")
    if features:
        add_features(builder, members, features)
    qualities = named_values(companion_member(source, "data_qualities", "quality"))
    add_qualities(builder, qualities, has_target=bool(members.get("default_target_attribute")))
    builder.keep_unmapped(members, REPRESENTED, place="/data_set_description")
    return builder.build()


def warn_of_status(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the warnings of a dataset, and one about its status if it is not active."""
    for warning in list_of_strings(members.get("warning")):
        builder.add_warning(warning)
    status = members.get("status")
    if isinstance(status, str) and status not in ("active", ""):
        builder.add_warning(f"OpenML status: {status}")


def add_access(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the licence, and whether the data are public. OpenML's value `Public` is not a licence."""
    licence = members.get("licence")
    is_only_public = isinstance(licence, str) and licence.strip().lower() == "public"
    builder.set_licence([] if is_only_public else [licence])
    restriction = find_access_restriction(str(members.get("description") or ""), builder.names)
    if restriction is not None:
        builder.add_claim(Claim("is_public", False, restriction, "/data_set_description/description"))
    elif members.get("visibility") in ("public", "private"):
        is_public = members["visibility"] == "public"
        place = "/data_set_description/visibility"
        builder.add_claim(Claim("is_public", is_public, members["visibility"], place, field="visibility"))


def add_dates_and_addresses(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the year of collection, because the upload date is only the date of a copy, and external documentation."""
    date = members.get("collection_date")
    year = parse_year(date) if isinstance(date, str) else None
    if isinstance(date, str) and year is not None:
        place = "/data_set_description/collection_date"
        builder.add_claim(Claim("year", year, date, place, field="collection_date"))

    for name in ("paper_url", "original_data_url"):
        address = members.get(name)
        if isinstance(address, str) and address.startswith("http"):
            place = f"/data_set_description/{name}"
            builder.add_claim(Claim("external_documentation_available", True, address, place, field=name))
            return


def companion_member(source: SourceDocument, name: str, member: str) -> list[Any]:
    """Return the features or qualities of a dataset from a companion file, or an empty list.

    The file name ends in the identifier of the dataset, as in `api-v1-jdf-61.json`, because its content does not name
    the dataset.

    Args:
        source: the description of the dataset.
        name: the outermost member of the companion, `data_features` or `data_qualities`.
        member: the list in it, `feature` or `quality`.
    """
    ending = f"-{source.members['data_set_description'].get('id')}.json"
    for file_name in source.companions:
        if not file_name.endswith(ending):
            continue

        companion, _rejected = source.readable_companion(file_name)
        reply = companion.members.get(name) if companion is not None else None
        entries = reply.get(member) if isinstance(reply, Mapping) else None
        if isinstance(entries, list):
            return entries
    return []


def add_features(builder: DocumentBuilder, members: Mapping[str, Any], features: list[Any]) -> None:
    """Add the number of features without target, identifiers and ignored columns."""
    columns = objects_of(features)
    ignored = {name for field in IDENTIFIERS for name in list_of_strings(members.get(field))}
    inputs = [column for column in columns if is_input(column) and column.get("name") not in ignored]
    if not inputs:
        return

    quote = str(inputs[0].get("name"))
    note = f"{len(columns)} columns without target, identifiers and ignored ones"
    place = pointer("data_features", "feature")
    builder.add_claim(Claim("features_number", len(inputs), quote, place, field="data_features.feature", note=note))
    builder.add_claim(Claim("metadata_provided_with_dataset", True, quote, place, field="data_features.feature"))
    builder.unmapped["/data_features"] = {"feature": features}


def is_input(column: Mapping[str, Any]) -> bool:
    """Return whether a column is neither the target, nor a row identifier, nor ignored."""
    return not any(str(column.get(name)) == "true" for name in ("is_target", "is_ignore", "is_row_identifier"))


def add_qualities(builder: DocumentBuilder, qualities: Mapping[str, Any], *, has_target: bool) -> None:
    """Add the number of rows and features and the missing values from counts, which OpenML calls qualities.

    Args:
        builder: the builder of the document.
        qualities: the counts by their names.
        has_target: whether one of the counted features is the target, which is subtracted.
    """
    rows = parse_number(qualities.get("NumberOfInstances"))
    columns = parse_number(qualities.get("NumberOfFeatures"))
    missing = parse_number(qualities.get("NumberOfMissingValues"))

    if isinstance(rows, int) and rows > 0:
        builder.add_claim(quality_claim("instances_number", rows, qualities, "NumberOfInstances"))
    if isinstance(columns, int) and columns > 0 and "features_number" not in builder.record:
        note = "without the target, which OpenML counts" if has_target else "no target is named"
        feature_count = columns - 1 if has_target else columns
        builder.add_claim(quality_claim("features_number", feature_count, qualities, "NumberOfFeatures", note))

    if isinstance(missing, int) and missing >= 0:
        builder.add_claim(quality_claim("has_missing_values", missing > 0, qualities, "NumberOfMissingValues"))
        if isinstance(rows, int) and isinstance(columns, int) and rows > 0 and columns > 0:
            share = round(100 * missing / (rows * columns), 6)
            note = f"{missing} of {rows} * {columns} cells"
            builder.add_claim(
                quality_claim("missing_values_percentage", share, qualities, "NumberOfMissingValues", note)
            )
    else:
        add_stated_share(builder, qualities)
    if qualities:
        builder.unmapped["/data_qualities"] = dict(qualities)


def add_stated_share(builder: DocumentBuilder, qualities: Mapping[str, Any]) -> None:
    """Add the stated share of missing values if there are no counts.

    The share may be a fraction or a percentage. A value above 1 is certainly a percentage. A smaller value is ambiguous
    and only shows whether any value is missing.
    """
    share = parse_number(qualities.get("PercentageOfMissingValues"))
    if share is None:
        return

    if share > 1:
        claim = quality_claim("missing_values_percentage", float(share), qualities, "PercentageOfMissingValues")
        builder.add_claim(claim)
    elif share > 0:
        builder.reject(
            "data_qualities/PercentageOfMissingValues", "ambiguous_unit", value=share, units=["0-1", "0-100"]
        )
    builder.add_claim(quality_claim("has_missing_values", share > 0, qualities, "PercentageOfMissingValues"))


def quality_claim(
    attribute: str, value: bool | int | float, qualities: Mapping[str, Any], name: str, note: str = ""
) -> Claim:
    """Return a claim that quotes one of the qualities."""
    return Claim(attribute, value, str(qualities[name]), pointer("data_qualities", name), field=name, note=note)
