"""Descriptions of datasets in the vocabulary of schema.org, as JSON-LD.

Exported files have this format, and search engines read it in the pages of public datasets. The writers of Croissant,
which extends schema.org, and of DCAT share some of its fields.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.exported_dataset import ExportedDataset
from touchstone.metadata.licences import licence_addresses
from touchstone.metadata.readers import schema_org
from touchstone.metadata.readers.json_ld import NameResolver
from touchstone.metadata.writers.json_ld_context import TOUCHSTONE_TERMS, local_terms
from touchstone.metadata.writers.merging import FieldMapping, MergedFields, merge_fields

STANDARD: Final = schema_org.STANDARD
CONTEXT: Final = "https://schema.org/"


def licence_value(dataset: ExportedDataset) -> str | list[str] | None:
    """Return the address of each SPDX licence, or the wording of another licence, or None.

    A single address is not in a list.
    """
    expression = dataset.text("metadata.licence")
    if expression is None:
        return None
    addresses = licence_addresses(expression)
    if not addresses:
        return dataset.text("metadata.licence_text") or expression
    return addresses[0] if len(addresses) == 1 else addresses


def keyword_list(dataset: ExportedDataset) -> list[str]:
    """Return the distinct tags, domains and tasks of a dataset."""
    terms = (*dataset.texts("metadata.tags"), *dataset.texts("domain"), *dataset.texts("task"))
    return list(dict.fromkeys(terms))


def year_text(dataset: ExportedDataset) -> str | None:
    """Return the year of a dataset as a string, or None."""
    year = dataset.record.get("year")
    return None if year is None else str(year)


def column_descriptions(dataset: ExportedDataset) -> list[dict[str, str]]:
    """Describe the columns of the data file. The types have no counterpart in schema.org."""
    return [{"@type": "PropertyValue", "name": name} for name, _type in dataset.columns()]


COMMON_FIELDS: Final = (
    FieldMapping("name", ("dataset_name",), lambda dataset: dataset.name),
    FieldMapping(
        "description",
        ("description", "objective"),
        lambda dataset: dataset.text("description") or dataset.text("objective"),
    ),
    FieldMapping("url", ("metadata.url",), lambda dataset: dataset.page),
    FieldMapping("identifier", ("dataset_id",), lambda dataset: dataset.identifier, only_if_new=True),
    FieldMapping("license", ("metadata.licence", "metadata.licence_text"), licence_value),
    FieldMapping("keywords", ("metadata.tags", "domain", "task"), keyword_list),
    FieldMapping("inLanguage", ("metadata.language",), lambda dataset: dataset.texts("metadata.language")),
    FieldMapping("version", ("metadata.version",), lambda dataset: dataset.text("metadata.version")),
    FieldMapping("datePublished", ("year",), year_text),
    FieldMapping("isAccessibleForFree", ("is_public",), lambda dataset: dataset.record.get("is_public")),
    FieldMapping(
        "isBasedOn", ("metadata.source.url",), lambda dataset: dataset.text("metadata.source.url"), only_if_new=True
    ),
)
FIELDS: Final = (
    *COMMON_FIELDS,
    FieldMapping("abstract", ("objective",), lambda dataset: dataset.text("objective"), only_if_new=True),
    FieldMapping("variableMeasured", ("metadata.measured",), column_descriptions, only_if_new=True),
)


def write(dataset: ExportedDataset) -> bytes:
    """Return a document in the vocabulary of schema.org, with the exact values of the record."""
    original = dataset.document_to_update(STANDARD)
    return encode(describe(dataset, original).with_exact_values(dataset, original))


def describe(dataset: ExportedDataset, original: ImportedDocument | None) -> MergedFields:
    """Merge the record with the imported schema.org document, if there is one."""
    imported_context = original.unmapped.get("/@context") if original else None
    names = NameResolver(imported_context)
    merged = merge_fields(FIELDS, dataset, original, essential="/@context", normalize=names.normalize)
    context = [CONTEXT, {**local_terms(imported_context), **TOUCHSTONE_TERMS}]
    return merged.with_heading({"@context": context, "@type": "Dataset"})


def encode(members: Mapping[str, Any]) -> bytes:
    """Serialize an object as indented JSON."""
    return json.dumps(members, ensure_ascii=False, indent=2).encode() + b"\n"
