"""What all writers share: the table of the fields of a standard, and merging them with what was imported."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from touchstone.core.evidence import CLAIMED_ATTRIBUTES
from touchstone.metadata.documents import ImportedDocument
from touchstone.metadata.exact_values import MEMBER, exact_values
from touchstone.metadata.exported_dataset import ExportedDataset, value_at
from touchstone.metadata.parsing import unescape_pointer

Normalise: TypeAlias = Callable[[str], str]

# Readers leave these out of the imported fields if the record has their exact values.
REPRESENTED: Final = frozenset({"name", "title", "pretty_name", "description", "url"})


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """A field of a standard, and what of a record stands in it.

    Attributes:
        field: the name of the field.
        sources: the paths in the record that the field is made from, for the documentation and to notice changes.
        value: returns the value of the field, which is left out if it is None or empty.
        only_if_new: whether the field is left out of a document that continues one of somebody else, because it
            describes the document itself or depends on other fields.
    """

    field: str
    sources: tuple[str, ...]
    value: Callable[[ExportedDataset], Any]
    only_if_new: bool = False


@dataclass(frozen=True, slots=True)
class MergedFields:
    """The members of a document: those made from the record and those that stand as they were imported."""

    written: Mapping[str, Any]
    kept: Mapping[str, Any]

    def under(self, heading: Mapping[str, Any]) -> "MergedFields":
        """Return the members below others that say what kind of document it is."""
        missing = {name: value for name, value in heading.items() if name not in self.kept}
        return replace(self, written={**missing, **self.written})

    def with_exact_values(self, dataset: ExportedDataset, original: ImportedDocument | None) -> dict[str, Any]:
        """Return all members, with the exact values of the record beside them."""
        kept_names = [name for name in self.kept if name not in REPRESENTED]
        values = exact_values(dataset, original, kept_names, list(self.written))
        return {**self.written, **self.kept, MEMBER: values}


def unchanged(name: str) -> str:
    """Return a name as it is, for standards whose names have one spelling."""
    return name


def merge_fields(
    mappings: Iterable[FieldMapping],
    dataset: ExportedDataset,
    original: ImportedDocument | None,
    *,
    essential: str,
    normalise: Normalise = unchanged,
) -> MergedFields:
    """Return the members of an exported document, which continues the imported document if there is one.

    A member of the imported document stays as it is, unless the record states another value by now. All other members
    are made from the record.

    Args:
        mappings: the fields of the standard.
        dataset: the dataset to export.
        original: the document in this standard from which the dataset was imported, if there is one.
        essential: the beginning of a JSON pointer that occurs in every document somebody else has written.
        normalise: returns the name of a field in the standard for its name in the imported document.
    """
    is_foreign = _is_foreign(original, essential)
    kept = imported_members(original)
    imported_names = _imported_name_by_field(kept, normalise)
    dataset_as_imported = restore_imported_values(dataset, original)

    written: dict[str, Any] = {}
    for mapping in mappings:
        if is_foreign and mapping.only_if_new:
            continue

        imported_name = imported_names.get(mapping.field)
        if imported_name is not None:
            if not has_changed(mapping, dataset, original):
                continue
            # The imported value is outdated, and the value of the record takes its place.
            del kept[imported_name]

        value = mapping.value(dataset_as_imported)
        if value not in (None, "", [], {}):
            written[mapping.field] = value

    # The imported document may use the name of a field for something else, which is kept.
    written_without_kept = {name: value for name, value in written.items() if name not in kept}
    return MergedFields(written_without_kept, kept)


def _is_foreign(original: ImportedDocument | None, essential: str) -> bool:
    """Return whether somebody else has written the imported document: one of its JSON pointers begins with `essential`.

    An imported document without such a pointer is an export of our own, to which fields were added.
    """
    if original is None:
        return False
    return any(pointer.startswith(essential) for pointer in original.unmapped)


def _imported_name_by_field(members: Mapping[str, Any], normalise: Normalise) -> dict[str, str]:
    """Return for each field of the standard the name that it has in the imported document.

    If the document has one field under several names, the first of them counts.
    """
    imported_names: dict[str, str] = {}
    for name in members:
        imported_names.setdefault(normalise(name), name)
    return imported_names


def imported_members(original: ImportedDocument | None) -> dict[str, Any]:
    """Return the members of the outermost object of an imported document that an exported one can repeat.

    Keywords of JSON-LD are not repeated, except for the type and the identifier, because they change the meaning of
    everything around them.
    """
    if original is None:
        return {}

    members: dict[str, Any] = {}
    for pointer, value in original.unmapped.items():
        if not pointer.startswith("/") or "/" in pointer[1:]:
            continue
        name = unescape_pointer(pointer[1:])
        is_keyword = name.startswith("@") and not (name in ("@type", "@id") and isinstance(value, str | list))
        if not is_keyword and name != MEMBER:
            members[name] = value
    return members


def restore_imported_values(dataset: ExportedDataset, original: ImportedDocument | None) -> ExportedDataset:
    """Return the dataset with the values that the imported document states, where the record has not changed since.

    A record that was imported from several documents has its name from one of them only, but the export in each
    standard has the name that stood there.
    """
    if original is None:
        return dataset

    record = dict(dataset.record)
    for name, value in original.record.items():
        if name == "metadata" and isinstance(value, Mapping):
            # The metadata are an object, whose members may have changed one by one.
            unchanged_keys = [key for key in value if not _differs(dataset, f"metadata.{key}")]
            imported_metadata = {key: value[key] for key in unchanged_keys}
            record["metadata"] = {**(record.get("metadata") or {}), **imported_metadata}
        elif not _differs(dataset, name):
            record[name] = value
    return replace(dataset, record=record)


def has_changed(mapping: FieldMapping, dataset: ExportedDataset, original: ImportedDocument | None) -> bool:
    """Return whether the record states something else by now than any document that it was imported from."""
    if original is None:
        return False
    return any(_differs(dataset, source) for source in mapping.sources if source not in CLAIMED_ATTRIBUTES)


def _differs(dataset: ExportedDataset, path: str) -> bool:
    """Return whether no imported document states the record's value at a path."""
    value = value_at(dataset.record, path)
    return all(value_at(document.record, path) != value for document in dataset.documents)


def new_quotes(dataset: ExportedDataset, attributes: Iterable[str], original: ImportedDocument | None) -> list[str]:
    """Return the quotes about some attributes that do not stand in the imported document anyway."""
    quotes = list(dict.fromkeys(quote for attribute in attributes for quote in dataset.quotes(attribute)))
    if original is None:
        return quotes
    imported_texts = list(_texts_in([dict(original.unmapped), dict(original.record)]))
    return [quote for quote in quotes if not any(quote in text for text in imported_texts)]


def _texts_in(value: Any) -> Iterator[str]:
    """Yield all texts inside a value."""
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
