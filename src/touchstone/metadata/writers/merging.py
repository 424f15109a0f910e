"""Helpers of all writers: field mappings of a standard, and merging with an imported document.

A record that was imported from a document is exported as this document, with only those fields changed that differ in
the record. So an export loses nothing that a record cannot express, and repeats the author's own words.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, TypeAlias

from touchstone.core.evidence import CLAIMED_ATTRIBUTES
from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.exact_values import MEMBER, build_exact_values
from touchstone.metadata.exported_dataset import ExportedDataset, value_at
from touchstone.metadata.parsing import unescape_pointer

Normalize: TypeAlias = Callable[[str], str]

# Readers do not store these members as unmapped fields if the record has their exact values, so they are never listed
# as kept.
REPRESENTED_FIELDS: Final = frozenset({"name", "title", "pretty_name", "description", "url"})


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """The mapping of a record to one field of a standard.

    Attributes:
        field: the name of the field.
        sources: the record paths used for the value, for the documentation and to detect changes.
        value: computes the value of the field, which is omitted if it is None or empty.
        only_if_new: whether the field is omitted from an update of another author's document, because it describes the
            document itself or depends on other fields.
    """

    field: str
    sources: tuple[str, ...]
    value: Callable[[ExportedDataset], Any]
    only_if_new: bool = False


@dataclass(frozen=True, slots=True)
class MergedFields:
    """The members of an exported document.

    Attributes:
        written: the members generated from the record.
        kept: the members repeated unchanged from the imported document.
    """

    written: Mapping[str, Any]
    kept: Mapping[str, Any]

    def with_heading(self, heading: Mapping[str, Any]) -> "MergedFields":
        """Put members such as the context and type first, unless the imported document has them."""
        missing_members = {name: value for name, value in heading.items() if name not in self.kept}
        return replace(self, written={**missing_members, **self.written})

    def with_exact_values(self, dataset: ExportedDataset, original: ImportedDocument | None) -> dict[str, Any]:
        """Return all members, including the exact values of the record."""
        kept_names = [name for name in self.kept if name not in REPRESENTED_FIELDS]
        values = build_exact_values(dataset, original, kept_names, list(self.written))
        return {**self.written, **self.kept, MEMBER: values}


def unchanged(name: str) -> str:
    """Return a name unchanged, for standards with a single spelling of each name."""
    return name


def merge_fields(
    mappings: Iterable[FieldMapping],
    dataset: ExportedDataset,
    original: ImportedDocument | None,
    *,
    essential: str,
    normalize: Normalize = unchanged,
) -> MergedFields:
    """Merge the fields of a dataset with the document that it was imported from.

    A member of the imported document is kept unless the record has changed since. All other members are generated from
    the record.

    Args:
        mappings: the fields of the standard.
        dataset: the dataset to export.
        original: the imported document in this standard, or None.
        essential: the prefix of a JSON pointer in every document that was not exported by us.
        normalize: converts a name in the imported document to its name in the standard.
    """
    is_foreign = _is_foreign(original, essential)
    kept_members = imported_members(original)
    imported_names = _imported_name_by_field(kept_members, normalize)
    dataset_as_imported = restore_imported_values(dataset, original)

    written: dict[str, Any] = {}
    for mapping in mappings:
        if is_foreign and mapping.only_if_new:
            continue

        # A member that the record still agrees with is kept as it was imported.
        imported_name = imported_names.get(mapping.field)
        if imported_name is not None:
            if not has_changed(mapping, dataset, original):
                continue
            del kept_members[imported_name]

        value = mapping.value(dataset_as_imported)
        if value not in (None, "", [], {}):
            written[mapping.field] = value

    # The imported document may use the name of a field for another purpose. Its member is kept.
    written_without_kept = {name: value for name, value in written.items() if name not in kept_members}
    return MergedFields(written_without_kept, kept_members)


def _is_foreign(original: ImportedDocument | None, essential: str) -> bool:
    """Return whether the imported document has another author than this service.

    Such a document has a JSON pointer that begins with `essential`. All others are our own exports with added fields.
    """
    if original is None:
        return False
    return any(pointer.startswith(essential) for pointer in original.unmapped)


def _imported_name_by_field(members: Mapping[str, Any], normalize: Normalize) -> dict[str, str]:
    """Return the imported name of each field of the standard. The first of several spellings counts."""
    imported_names: dict[str, str] = {}
    for name in members:
        imported_names.setdefault(normalize(name), name)
    return imported_names


def imported_members(original: ImportedDocument | None) -> dict[str, Any]:
    """Return the top-level members of an imported document that an export can repeat.

    JSON-LD keywords are left out because they change the meaning of other members. Only types and identifiers are kept.
    """
    if original is None:
        return {}

    members: dict[str, Any] = {}
    for pointer, value in original.unmapped.items():
        is_top_level = pointer.startswith("/") and "/" not in pointer[1:]
        if not is_top_level:
            continue
        name = unescape_pointer(pointer[1:])
        if name != MEMBER and (not name.startswith("@") or _is_type_or_identifier(name, value)):
            members[name] = value
    return members


def _is_type_or_identifier(name: str, value: Any) -> bool:
    """Return whether a JSON-LD keyword with its value states the type or the identifier of a node."""
    return name in ("@type", "@id") and isinstance(value, str | list)


def restore_imported_values(dataset: ExportedDataset, original: ImportedDocument | None) -> ExportedDataset:
    """Return the dataset with the values of the imported document, where the record has not changed since.

    A record imported from several documents has the name from one of them, but the export in each standard uses the
    name in the corresponding document.
    """
    if original is None:
        return dataset

    record = dict(dataset.record)
    for name, value in original.record.items():
        if name == "metadata" and isinstance(value, Mapping):
            # The members of the metadata may have changed individually.
            imported_metadata = {
                key: member for key, member in value.items() if not _differs(dataset, f"metadata.{key}")
            }
            record["metadata"] = {**(record.get("metadata") or {}), **imported_metadata}
        elif not _differs(dataset, name):
            record[name] = value
    return replace(dataset, record=record)


def has_changed(mapping: FieldMapping, dataset: ExportedDataset, original: ImportedDocument | None) -> bool:
    """Return whether a value of the mapping differs from all documents that the record was imported from.

    Attributes with claims do not count: the documents of a record do not store them, so there is nothing to compare
    with.
    """
    if original is None:
        return False
    return any(_differs(dataset, source) for source in mapping.sources if source not in CLAIMED_ATTRIBUTES)


def _differs(dataset: ExportedDataset, path: str) -> bool:
    """Return whether the value at a path differs from the values in all imported documents."""
    value = value_at(dataset.record, path)
    return all(value_at(document.record, path) != value for document in dataset.documents)


def new_quotes(dataset: ExportedDataset, attributes: Iterable[str], original: ImportedDocument | None) -> list[str]:
    """Return the distinct quotes about the attributes that the imported document does not contain."""
    quotes = chain.from_iterable(dataset.quotes(attribute) for attribute in attributes)
    distinct_quotes = list(dict.fromkeys(quotes))
    if original is None:
        return distinct_quotes

    imported_texts = list(_texts_in([dict(original.unmapped), dict(original.record)]))

    def is_imported(quote: str) -> bool:
        """Return whether the imported document contains a quote."""
        return any(quote in text for text in imported_texts)

    return [quote for quote in distinct_quotes if not is_imported(quote)]


def _texts_in(value: Any) -> Iterator[str]:
    """Yield all strings inside a value, and numbers as strings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from _texts_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts_in(member)
    elif value is not None:
        yield str(value)
