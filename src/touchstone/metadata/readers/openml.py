"""Replies of the OpenML API, version 1: the description of one dataset, or a listing of several as JSON or CSV.

The counts of a dataset, which OpenML calls qualities, come from the listing or from a companion of the description.
OpenML counts the target as a feature, which this reader does not. The share of missing values is from 0 to 1 in some
replies and from 0 to 100 in others, so the share is computed from counts, or used only if it is unambiguous.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

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

# The counts of a dataset by their names, such as `NumberOfInstances`.
Qualities: TypeAlias = Mapping[str, Any]

STANDARD: Final = "openml"
LISTING_COLUMNS: Final = frozenset({"did", "name", "version", "NumberOfInstances", "NumberOfFeatures"})
# The fields of a description that name columns which are not features.
IGNORED_COLUMN_FIELDS: Final = ("row_id_attribute", "ignore_attribute")
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("name", "description", "language")
# Prefixes of tags that assign datasets to studies. They do not describe the dataset.
_STUDY_TAGS: Final = ("study_", "mythbusting", "openml")


def detect(source: SourceDocument) -> bool:
    """Return whether a document is an OpenML reply or listing."""
    if set(source.columns) >= LISTING_COLUMNS:
        return True
    return "data_set_description" in source.members or _lacks_description(source) or bool(listed_datasets(source))


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the dataset of a description, or all datasets of a listing.

    Raises:
        DocumentError: the document contains only the features or qualities of an unnamed dataset.
    """
    if _lacks_description(source):
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


def _lacks_description(source: SourceDocument) -> bool:
    """Return whether a reply contains only the features or the qualities of a dataset that it does not name."""
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
    key: str, members: Mapping[str, Any], qualities: Qualities, rejected: tuple[RejectedPart, ...]
) -> DatasetDocument:
    """Read one dataset of a listing.

    Args:
        key: its identifier.
        members: its other members.
        qualities: its counts.
        rejected: the parts of the listing that the parser skipped.
    """
    builder = DocumentBuilder(STANDARD, key=key, rejected=list(rejected))
    builder.set_name(members.get("name"), key)
    builder.set_metadata("url", f"https://www.openml.org/d/{key}")
    builder.set_metadata("version", members.get("version"))
    add_warnings(builder, members)
    add_qualities(builder, qualities, has_target=has_known_target(qualities))
    builder.keep_unmapped(members, ("name",))
    return builder.build()


def has_known_target(qualities: Qualities) -> bool:
    """Return whether a dataset of a listing has a target. Listings do not name it, but they count its classes."""
    classes = parse_number(qualities.get("NumberOfClasses"))
    return classes is not None and classes > 0


def read_description(source: SourceDocument) -> DatasetDocument:
    """Read the dataset of a description, with counts from companion replies."""
    members = source.members["data_set_description"]
    if not isinstance(members, dict) or not members.get("id"):
        raise DocumentError("no_identifier")

    key = str(members["id"])
    builder = DocumentBuilder(STANDARD, key=key, location="/data_set_description", rejected=list(source.rejected))
    builder.set_name(members.get("name"), key)
    builder.set_description(members.get("description"))
    builder.add_prose(("data_set_description", "description"), members.get("description"))
    builder.set_metadata("url", f"https://www.openml.org/d/{key}")
    builder.set_metadata("language", list_of_strings(members.get("language")))
    builder.set_metadata("version", members.get("version"))

    tags = [tag for tag in list_of_strings(members.get("tag")) if not tag.lower().startswith(_STUDY_TAGS)]
    builder.set_metadata("tags", tags)
    builder.set_terms("domain", known_domains(tags))
    add_warnings(builder, members)
    add_access(builder, members)
    add_dates_and_addresses(builder, members)

    features = companion_list(source, "data_features", "feature")
    if features:
        add_features(builder, members, features)
    qualities = named_values(companion_list(source, "data_qualities", "quality"))
    add_qualities(builder, qualities, has_target=bool(members.get("default_target_attribute")))
    builder.keep_unmapped(members, REPRESENTED_FIELDS, location=builder.location)
    return builder.build()


def add_warnings(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the warnings of a description, and one about its status unless it is active."""
    for warning in list_of_strings(members.get("warning")):
        builder.add_warning(warning)
    status = members.get("status")
    if isinstance(status, str) and status not in ("active", ""):
        builder.add_warning(f"OpenML status: {status}")


def add_access(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the licence, and claim whether the data are public.

    A condition for access that the description states takes precedence over the visibility of the record at OpenML.
    """
    # OpenML fills in `Public` if nobody has named a licence. It is not a licence, so it is left out.
    licence = members.get("licence")
    is_filled_in = isinstance(licence, str) and licence.strip().lower() == "public"
    if not is_filled_in:
        builder.set_licence([licence])

    restriction = find_access_restriction(str(members.get("description") or ""), builder.names)
    if restriction is not None:
        builder.add_claim(Claim("is_public", False, restriction, f"{builder.location}/description"))
    elif members.get("visibility") in ("public", "private"):
        is_public = members["visibility"] == "public"
        builder.add_field_claim("is_public", is_public, members["visibility"], "visibility")


def add_dates_and_addresses(builder: DocumentBuilder, members: Mapping[str, Any]) -> None:
    """Add the year of collection, and the address of a paper or, failing that, of the original data.

    The date of the upload does not count, because it is only the date of a copy.
    """
    date = members.get("collection_date")
    if isinstance(date, str) and (year := parse_year(date)) is not None:
        builder.add_field_claim("year", year, date, "collection_date")

    for name in ("paper_url", "original_data_url"):
        address = members.get(name)
        if isinstance(address, str) and address.startswith("http"):
            builder.add_field_claim("external_documentation_available", True, address, name)
            break


def companion_list(source: SourceDocument, outer_name: str, list_name: str) -> list[Any]:
    """Return a list from a companion file of a description, or an empty list if there is no such file.

    The content of a companion does not identify the dataset, but its file name ends in the identifier of the dataset,
    as in `api-v1-jdf-61.json`.

    Args:
        source: the description of the dataset.
        outer_name: the outermost member of the companion, `data_features` or `data_qualities`.
        list_name: the list in it, `feature` or `quality`.
    """
    ending = f"-{source.members['data_set_description'].get('id')}.json"
    for file_name in source.companions:
        if not file_name.endswith(ending):
            continue

        companion, _rejected = source.readable_companion(file_name)
        if companion is None:
            continue
        reply = companion.members.get(outer_name)
        entries = reply.get(list_name) if isinstance(reply, Mapping) else None
        if isinstance(entries, list):
            return entries
    return []


def add_features(builder: DocumentBuilder, members: Mapping[str, Any], features: list[Any]) -> None:
    """Add the number of features, and the fact that the columns are described.

    The target, row identifiers and ignored columns are not counted.
    """
    columns = objects_of(features)
    ignored_names: set[str] = set()
    for name in IGNORED_COLUMN_FIELDS:
        ignored_names.update(list_of_strings(members.get(name)))

    input_columns = [column for column in columns if is_input(column) and column.get("name") not in ignored_names]
    if not input_columns:
        return

    field = "data_features.feature"
    location = pointer("data_features", "feature")
    quote = str(input_columns[0].get("name"))
    note = f"{len(columns)} columns without target, identifiers and ignored ones"
    builder.add_claim(Claim("features_number", len(input_columns), quote, location, field=field, note=note))
    builder.add_claim(Claim("metadata_provided_with_dataset", True, quote, location, field=field))
    builder.unmapped["/data_features"] = {"feature": features}


def is_input(column: Mapping[str, Any]) -> bool:
    """Return whether a column is neither the target, nor a row identifier, nor ignored."""
    return not any(str(column.get(name)) == "true" for name in ("is_target", "is_ignore", "is_row_identifier"))


def add_qualities(builder: DocumentBuilder, qualities: Qualities, *, has_target: bool) -> None:
    """Add the number of rows and features and the missing values, and keep all qualities for a later export.

    Args:
        builder: the builder of the document.
        qualities: the counts of the dataset.
        has_target: whether one of the counted features is the target.
    """
    if not qualities:
        return

    add_row_count(builder, qualities)
    add_feature_count(builder, qualities, has_target=has_target)
    missing_count = parse_number(qualities.get("NumberOfMissingValues"))
    if isinstance(missing_count, int) and missing_count >= 0:
        add_missing_values(builder, qualities, missing_count)
    else:
        add_stated_missing_share(builder, qualities)
    builder.unmapped["/data_qualities"] = dict(qualities)


def positive_count(qualities: Qualities, name: str) -> int | None:
    """Return a quality that is a positive integer, or None."""
    count = parse_number(qualities.get(name))
    return count if isinstance(count, int) and count > 0 else None


def add_row_count(builder: DocumentBuilder, qualities: Qualities) -> None:
    """Add the number of rows."""
    rows = positive_count(qualities, "NumberOfInstances")
    if rows is not None:
        builder.add_claim(quality_claim(qualities, "NumberOfInstances", "instances_number", rows))


def add_feature_count(builder: DocumentBuilder, qualities: Qualities, *, has_target: bool) -> None:
    """Add the number of features without the target, unless the columns themselves have been counted."""
    columns = positive_count(qualities, "NumberOfFeatures")
    if columns is None or "features_number" in builder.record:
        return

    feature_count = columns
    note = "no target is named"
    if has_target:
        feature_count = columns - 1
        note = "without the target, which OpenML counts"
    builder.add_claim(quality_claim(qualities, "NumberOfFeatures", "features_number", feature_count, note=note))


def add_missing_values(builder: DocumentBuilder, qualities: Qualities, missing_count: int) -> None:
    """Add whether values are missing, and their percentage of all cells if the size of the table is known."""
    name = "NumberOfMissingValues"
    builder.add_claim(quality_claim(qualities, name, "has_missing_values", missing_count > 0))

    rows = positive_count(qualities, "NumberOfInstances")
    columns = positive_count(qualities, "NumberOfFeatures")
    if rows is None or columns is None:
        return
    percentage = round(100 * missing_count / (rows * columns), 6)
    note = f"{missing_count} of {rows} * {columns} cells"
    builder.add_claim(quality_claim(qualities, name, "missing_values_percentage", percentage, note=note))


def add_stated_missing_share(builder: DocumentBuilder, qualities: Qualities) -> None:
    """Add the share of missing values that a reply without their number states.

    Some replies state a fraction and others a percentage. A value above 1 is certainly a percentage. A smaller value is
    ambiguous: 0.5 may mean half of the cells or one cell in 200. It only shows that values are missing.
    """
    name = "PercentageOfMissingValues"
    share = parse_number(qualities.get(name))
    if share is None:
        return

    if share > 1:
        builder.add_claim(quality_claim(qualities, name, "missing_values_percentage", float(share)))
    elif share > 0:
        builder.reject(f"data_qualities/{name}", "ambiguous_unit", value=share, units=["0-1", "0-100"])
    builder.add_claim(quality_claim(qualities, name, "has_missing_values", share > 0))


def quality_claim(
    qualities: Qualities, name: str, attribute: str, value: bool | int | float, *, note: str = ""
) -> Claim:
    """Return the claim that an attribute has a value, with the quality of this name as the quote."""
    return Claim(attribute, value, str(qualities[name]), pointer("data_qualities", name), field=name, note=note)
