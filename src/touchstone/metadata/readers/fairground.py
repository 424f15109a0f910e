"""FairGround, a corpus of datasets for fairness research: its annotations as CSV, or as JSON with measurements.

The names of annotated fields begin with `ann_`, and those of measurements with `meta_`. FairGround's share of missing
values only counts cells that were parsed as NaN. A share of zero does not mean that the table is complete, because many
tables mark missing values with `?`.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.builder import DocumentBuilder, parse_number, parse_year, pointer, read_or_reject
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "fairground"
IDENTIFIER: Final = "ann_new_dataset_id"
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("ann_dataset_name", "ann_description_public", "ann_main_url")
# The answers to the question whether a dataset is accessible, in lower case.
OPEN_ACCESS: Final = ("publicly", "public", "yes")
CLOSED_ACCESS: Final = ("no", "restricted", "on request", "upon request", "not publicly")


def detect(source: SourceDocument) -> bool:
    """Return whether a document contains FairGround annotations."""
    return IDENTIFIER in source.columns or bool(json_annotations(source))


def json_annotations(source: SourceDocument) -> list[Mapping[str, Any]]:
    """Return the annotations in a JSON document, which may be a single one or an array."""
    entries = source.data if isinstance(source.data, list) else [source.data]
    return [entry for entry in entries if isinstance(entry, Mapping) and IDENTIFIER in entry]


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the annotated datasets."""
    annotations: list[Any] = list(source.rows()) if source.columns else list(json_annotations(source))
    for index, annotation in enumerate(annotations):
        yield read_or_reject(pointer(index), partial(read_annotation, source, annotation))


def read_annotation(source: SourceDocument, annotation: Mapping[str, Any]) -> DatasetDocument:
    """Read the dataset of a FairGround annotation.

    Raises:
        DocumentError: the annotation does not identify its dataset.
    """
    key = str(annotation[IDENTIFIER] or "")
    if not key:
        raise DocumentError("no_identifier")

    builder = DocumentBuilder(STANDARD, key=key, rejected=list(source.rejected))
    builder.set_name(annotation.get("ann_dataset_name"), key)
    builder.set_description(annotation.get("ann_description_public"))
    for name in ("ann_description_public", "ann_notes_public"):
        builder.add_prose((name,), annotation.get(name))
    builder.set_metadata("url", annotation.get("ann_main_url"))
    builder.set_metadata("variant_of", annotation.get("ann_base_dataset_name"))
    builder.set_licence([annotation.get("ann_license")])

    warning = annotation.get("ann_warning")
    if isinstance(warning, str) and warning.strip():
        builder.add_warning(warning)

    domains = annotation.get("ann_domain_class_multi") or annotation.get("ann_domain_class")
    builder.set_terms("domain", fold_domains(split_list(domains)))

    predicts_classes = annotation.get("ann_typical_col_target") and annotation.get("ann_target_lvl_good")
    if predicts_classes:
        builder.set_terms("task", ["classification"])

    add_access(builder, annotation)
    add_year_and_documentation(builder, annotation)
    add_measurements(builder, annotation)
    builder.keep_unmapped(annotation, REPRESENTED_FIELDS)
    return builder.build()


def split_list(value: Any) -> list[str]:
    """Split a string at semicolons. The result is empty for anything but a string."""
    if not isinstance(value, str):
        return []
    return [part.strip() for part in value.split(";") if part.strip()]


def add_access(builder: DocumentBuilder, annotation: Mapping[str, Any]) -> None:
    """Add whether the data are public, if the annotation uses one of the known terms."""
    name = "ann_is_accessible"
    answer = annotation.get(name)
    if not isinstance(answer, str):
        return

    normalized_answer = answer.strip().lower()
    if normalized_answer in OPEN_ACCESS:
        builder.add_claim(Claim("is_public", True, answer, name, field=name))
    elif normalized_answer in CLOSED_ACCESS:
        builder.add_claim(Claim("is_public", False, answer, name, field=name))


def add_year_and_documentation(builder: DocumentBuilder, annotation: Mapping[str, Any]) -> None:
    """Add the year of the last change, and claims about provided metadata and external documentation."""
    year_field = "ann_year_last_updated"
    stated_dates = str(annotation.get(year_field) or "")
    date = date_of_variant(stated_dates, str(annotation.get("ann_dataset_name")))
    year = parse_year(date[:4])
    if year is not None:
        builder.add_claim(Claim("year", year, str(year), year_field, field=year_field))

    # An annotation that names the usual target column describes the columns of the dataset.
    target_field = "ann_typical_col_target"
    target = annotation.get(target_field)
    if isinstance(target, str) and target.strip():
        builder.add_claim(Claim("metadata_provided_with_dataset", True, target, target_field, field=target_field))

    for name in ("ann_related_urls", "ann_main_url"):
        addresses = split_list(annotation.get(name))
        if addresses and addresses[0].startswith("http"):
            builder.add_claim(Claim("external_documentation_available", True, addresses[0], name, field=name))
            return


def date_of_variant(dates: str, dataset_name: str) -> str:
    """Return the date of one variant from a field that lists the dates of several variants.

    In `1994 (German Credit); 2020 (South German Credit)`, South German Credit has the date 2020.
    """
    for date_and_variant in split_list(dates):
        if date_and_variant.endswith(f"({dataset_name})"):
            return date_and_variant
    return dates


def add_measurements(builder: DocumentBuilder, annotation: Mapping[str, Any]) -> None:
    """Add FairGround's measurements: rows, features without the target, and missing values."""
    rows_field = "meta_pretrans_n_rows"
    rows = parse_number(annotation.get(rows_field))
    if isinstance(rows, int):
        builder.add_claim(Claim("instances_number", rows, str(rows), rows_field, field=rows_field))

    columns_field = "meta_pretrans_n_cols"
    columns = parse_number(annotation.get(columns_field))
    if isinstance(columns, int) and columns > 1:
        quote = str(columns)
        note = "without the target"
        builder.add_claim(Claim("features_number", columns - 1, quote, columns_field, field=columns_field, note=note))

    missing_field = "meta_pretrans_prop_NA_cells"
    share = parse_number(annotation.get(missing_field))
    if share == 0:
        # The table may still have missing values that are not marked as NaN.
        builder.reject(missing_field, "counts_only_nan", value=share)
    elif share is not None and 0 < share <= 1:
        percentage = round(100 * share, 6)
        quote = str(annotation[missing_field])
        builder.add_claim(Claim("missing_values_percentage", percentage, quote, missing_field, field=missing_field))
        builder.add_claim(Claim("has_missing_values", True, quote, missing_field, field=missing_field))
