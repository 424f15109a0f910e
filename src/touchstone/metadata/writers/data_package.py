"""Data Package, version 2 (datapackage.org): `datapackage.json` with one resource and the schema of its table."""

from typing import Any, Final

from touchstone.metadata.exported_dataset import ExportedDataset
from touchstone.metadata.licences import licence_addresses
from touchstone.metadata.readers import data_package
from touchstone.metadata.writers.croissant import MEDIA_TYPES
from touchstone.metadata.writers.merging import FieldMapping, merge_fields
from touchstone.metadata.writers.names import file_stem
from touchstone.metadata.writers.schema_org import encode

STANDARD: Final = data_package.STANDARD
PROFILE: Final = "https://datapackage.org/profiles/2.0/datapackage.json"
# The types of fields for the types of columns. Dates have no type of their own, because their format is not known.
FIELD_TYPES: Final = {
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
    "date": "any",
    "text": "string",
}


def licences(dataset: ExportedDataset) -> list[dict[str, str]]:
    """Describe each licence by its SPDX identifier and address, or by its wording."""
    expression = dataset.text("metadata.licence")
    if expression is None:
        return []
    addresses = licence_addresses(expression)
    if not addresses:
        return [{"title": dataset.text("metadata.licence_text") or expression, "name": "other"}]
    return [{"name": address.rsplit("/", 1)[-1], "path": address} for address in addresses]


def sources(dataset: ExportedDataset) -> list[dict[str, str]]:
    """Describe the source that the record was imported from, or return an empty list."""
    name = dataset.text("metadata.source.name")
    address = dataset.text("metadata.source.url")
    if address is not None:
        return [{"title": name or address, "path": address}]
    return [{"title": name}] if name is not None else []


def resources(dataset: ExportedDataset) -> list[dict[str, Any]]:
    """Describe the table of the dataset as the only resource of a package.

    A package must have a resource, so an unknown file is replaced by an empty resource.
    """
    file_type = (dataset.text("file_type") or "").lower()
    path = dataset.text("file_path")
    resource: dict[str, Any] = {"name": file_stem(dataset.name)}
    if path is not None and _is_safe_path(path):
        resource["path"] = path
    else:
        resource["data"] = []

    if file_type in MEDIA_TYPES:
        resource |= {"format": file_type, "mediatype": MEDIA_TYPES[file_type]}
    if dataset.columns():
        fields = [{"name": name, "type": FIELD_TYPES.get(kind, "any")} for name, kind in dataset.columns()]
        resource["schema"] = {"fields": fields}
    if "instances_number" in dataset.record:
        resource["rows"] = dataset.record["instances_number"]
    return [resource]


def _is_safe_path(path: str) -> bool:
    """Return whether the standard allows a path: a web address, or a relative path without parent folders."""
    if path.startswith(("http://", "https://")):
        return True
    is_absolute_or_hidden = path.startswith(("/", "~", "."))
    leaves_folder = ".." in path.split("/") or "\\" in path
    return not is_absolute_or_hidden and not leaves_folder


FIELDS: Final = (
    FieldMapping("$schema", (), lambda _: PROFILE, only_if_new=True),
    FieldMapping("name", ("dataset_name",), lambda dataset: file_stem(dataset.name), only_if_new=True),
    FieldMapping("id", ("dataset_id",), lambda dataset: dataset.key, only_if_new=True),
    FieldMapping("title", ("dataset_name",), lambda dataset: dataset.name),
    FieldMapping(
        "description",
        ("description", "objective"),
        lambda dataset: dataset.text("description") or dataset.text("objective"),
    ),
    FieldMapping("homepage", ("metadata.url",), lambda dataset: dataset.text("metadata.url")),
    FieldMapping("version", ("metadata.version",), lambda dataset: dataset.text("metadata.version")),
    FieldMapping("keywords", ("metadata.tags",), lambda dataset: dataset.texts("metadata.tags")),
    FieldMapping("licenses", ("metadata.licence", "metadata.licence_text"), licences),
    FieldMapping("sources", ("metadata.source.name", "metadata.source.url"), sources, only_if_new=True),
    FieldMapping(
        "resources",
        ("file_path", "file_type", "instances_number", "metadata.measured"),
        resources,
        only_if_new=True,
    ),
)


def write(dataset: ExportedDataset) -> bytes:
    """Return a Data Package, with the exact values of the record."""
    original = dataset.document_to_update(STANDARD)
    merged = merge_fields(FIELDS, dataset, original, essential="/resources")
    # A dataset from a collection of several resources is exported as a package with this one.
    resource = data_package.imported_resource(original.unmapped) if original else None
    if resource:
        merged = merged.with_heading({"resources": [resource]})
    return encode(merged.with_exact_values(dataset, original))
