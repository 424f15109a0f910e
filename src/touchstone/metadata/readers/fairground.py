"""FairGround: annotations of datasets for research on fairness, as CSV or as JSON with measured facts.

Its warnings ("no longer recommended") are kept. Its share of missing values counts only cells that were read as NaN,
so a share of zero does not show that nothing is missing: many of these tables write `?`.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from touchstone.core.vocabulary import fold_domains
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart
from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.builder import DocumentBuilder, attempt, number_of, pointer, year_of
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "fairground"
IDENTIFIER: Final = "ann_new_dataset_id"
REPRESENTED: Final = ("ann_dataset_name", "ann_description_public", "ann_main_url")
OPEN_ACCESS: Final = ("publicly", "public", "yes")
CLOSED_ACCESS: Final = ("no", "restricted", "on request", "upon request", "not publicly")


def detect(source: SourceDocument) -> bool:
    """Return whether a document holds annotations of FairGround."""
    return IDENTIFIER in source.columns or bool(json_annotations(source))


def json_annotations(source: SourceDocument) -> list[Mapping[str, Any]]:
    """Return the annotations in a JSON document, which is an array of them or a single one."""
    entries = source.data if isinstance(source.data, list) else [source.data]
    return [entry for entry in entries if isinstance(entry, Mapping) and IDENTIFIER in entry]


def read(source: SourceDocument) -> Iterator[DatasetDocument | RejectedPart]:
    """Yield the annotated datasets."""
    annotations: list[Any] = list(source.rows()) if source.columns else list(json_annotations(source))
    for index, annotation in enumerate(annotations):
        yield attempt(pointer(index), partial(read_annotation, source, annotation))


def read_annotation(source: SourceDocument, annotation: Mapping[str, Any]) -> DatasetDocument:
    """Read the dataset that an annotation of FairGround describes.

    Raises:
        DocumentError: the annotation does not identify its dataset.
    """
    key = str(annotation[IDENTIFIER] or "")
    if not key:
        raise DocumentError("no_identifier")

    builder = DocumentBuilder(STANDARD, key=key, rejected=list(source.rejected))
    builder.name(annotation.get("ann_dataset_name"), key)
    builder.describe(annotation.get("ann_description_public"))
    for name in ("ann_description_public", "ann_notes_public"):
        builder.prose((name,), annotation.get(name))
    builder.remember("url", annotation.get("ann_main_url"))
    builder.remember("variant_of", annotation.get("ann_base_dataset_name"))
    builder.licence([annotation.get("ann_license")])

    warning = annotation.get("ann_warning")
    if isinstance(warning, str) and warning.strip():
        builder.warn(warning)

    domains = annotation.get("ann_domain_class_multi") or annotation.get("ann_domain_class")
    builder.words("domain", fold_domains(split_list(domains)))

    predicts_classes = annotation.get("ann_typical_col_target") and annotation.get("ann_target_lvl_good")
    if predicts_classes:
        builder.words("task", ["classification"])

    add_access(builder, annotation)
    add_year_and_documentation(builder, annotation)
    add_measurements(builder, annotation)
    builder.keep_rest(annotation, REPRESENTED)
    return builder.build()


def split_list(value: Any) -> list[str]:
    """Return the parts of a text with semicolons."""
    return [part.strip() for part in value.split(";") if part.strip()] if isinstance(value, str) else []


def add_access(builder: DocumentBuilder, annotation: Mapping[str, Any]) -> None:
    """Add whether everybody gets the data, where the annotation says it in words that are known."""
    answer = annotation.get("ann_is_accessible")
    simple = answer.strip().lower() if isinstance(answer, str) else ""
    if simple in OPEN_ACCESS or simple in CLOSED_ACCESS:
        is_public = simple in OPEN_ACCESS
        builder.claim(Claim("is_public", is_public, str(answer), "ann_is_accessible", field="ann_is_accessible"))


def add_year_and_documentation(builder: DocumentBuilder, annotation: Mapping[str, Any]) -> None:
    """Add the year of the last change, and claims that the dataset is described here and on other pages."""
    name = "ann_year_last_updated"
    stated_dates = str(annotation.get(name) or "")
    date = date_of_variant(stated_dates, str(annotation.get("ann_dataset_name")))
    year = year_of(date[:4])
    if year is not None:
        builder.claim(Claim("year", year, str(year), name, field=name))

    name = "ann_typical_col_target"
    target_column = annotation.get(name)
    if isinstance(target_column, str) and target_column.strip():
        builder.claim(Claim("metadata_provided_with_dataset", True, target_column, name, field=name))

    for name in ("ann_related_urls", "ann_main_url"):
        addresses = split_list(annotation.get(name))
        if addresses and addresses[0].startswith("http"):
            builder.claim(Claim("external_documentation_available", True, addresses[0], name, field=name))
            return


def date_of_variant(dates: str, dataset_name: str) -> str:
    """Return the date of one variant, where the dates of several stand in one text.

    For South German Credit, that is 2020 in `1994 (German Credit); 2020 (South German Credit)`.
    """
    parts = split_list(dates)
    return next((part for part in parts if part.endswith(f"({dataset_name})")), dates)


def add_measurements(builder: DocumentBuilder, annotation: Mapping[str, Any]) -> None:
    """Add rows, features without the target, and missing values as FairGround measured them."""
    rows = number_of(annotation.get("meta_pretrans_n_rows"))
    if isinstance(rows, int):
        name = "meta_pretrans_n_rows"
        builder.claim(Claim("instances_number", rows, str(rows), name, field=name))

    columns = number_of(annotation.get("meta_pretrans_n_cols"))
    if isinstance(columns, int) and columns > 1:
        name = "meta_pretrans_n_cols"
        builder.claim(Claim("features_number", columns - 1, str(columns), name, field=name, note="without the target"))

    name = "meta_pretrans_prop_NA_cells"
    stated_share = annotation.get(name)
    share = number_of(stated_share)
    if share is not None and 0 < share <= 1:
        percentage = round(100 * share, 6)
        builder.claim(Claim("missing_values_percentage", percentage, str(stated_share), name, field=name))
        builder.claim(Claim("has_missing_values", True, str(stated_share), name, field=name))
    elif share == 0:
        builder.reject(name, "counts_only_nan", value=share)
