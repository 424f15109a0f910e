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
    """Return the members of a document made from the record, and those of the imported document that it continues.

    What was imported stays as it is, unless the record states another value by now; `normalise` returns the name in
    the standard for a spelling in the imported document. `essential` is the beginning of a path that every document of
    somebody else has; an imported document without it is one of our own, to which fields were added.
    """
    is_foreign = original is not None and any(pointer.startswith(essential) for pointer in original.unmapped)
    kept = imported_members(original)
    spellings = {normalise(name): name for name in reversed(kept)}
    dataset_as_imported = restore_imported_values(dataset, original)

    written: dict[str, Any] = {}
    for mapping in mappings:
        if is_foreign and mapping.only_if_new:
            continue
        spelling = spellings.get(mapping.field)
        if spelling is not None:
            if not has_changed(mapping, dataset, original):
                continue
            del kept[spelling]
        value = mapping.value(dataset_as_imported)
        if value not in (None, "", [], {}):
            written[mapping.field] = value

    return MergedFields({name: value for name, value in written.items() if name not in kept}, kept)


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
            metadata = dict(record.get("metadata") or {})
            metadata.update({key: value[key] for key in value if not _differs(dataset, f"metadata.{key}")})
            record["metadata"] = metadata
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
