"""What the metadata of a record says about its place among others: variants, the collection it is in, and warnings."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from touchstone.client import Dataset

# Anybody can write metadata, so a page shows only so much of it.
MAX_WARNINGS: Final = 10
MAX_VARIANTS: Final = 50
MAX_TEXT_LENGTH: Final = 2000


@dataclass(frozen=True, slots=True)
class RelatedDataset:
    """Another variant of a dataset: its name, and its UUID for the address of its page."""

    name: str
    dataset_id: UUID


def warnings_about(dataset: Dataset) -> tuple[str, ...]:
    """Return the warnings that come with a record, such as that a dataset is no longer recommended."""
    warnings = _list_member(dataset, "warnings")
    return tuple(text[:MAX_TEXT_LENGTH] for text in warnings if isinstance(text, str) and text.strip())[:MAX_WARNINGS]


def variant_group(dataset: Dataset) -> str | None:
    """Return the name of the dataset that this one is a variant of."""
    return _text_member(dataset, "variant_of")


def collection_name(dataset: Dataset) -> str | None:
    """Return the name of the collection or benchmark that the dataset belongs to."""
    return _text_member(dataset, "part_of")


def variants_of(dataset: Dataset) -> tuple[RelatedDataset, ...]:
    """Return the other variants of the same dataset that the record names."""
    return tuple(_read_variants(_list_member(dataset, "variants")))[:MAX_VARIANTS]


def _read_variants(entries: list[Any]) -> Iterator[RelatedDataset]:
    """Yield the entries that have a name and the UUID of a record."""
    for entry in entries:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            continue
        try:
            dataset_id = UUID(str(entry.get("dataset_id")))
        except ValueError:
            continue
        yield RelatedDataset(entry["name"][:MAX_TEXT_LENGTH], dataset_id)


def _list_member(dataset: Dataset, name: str) -> list[Any]:
    """Return a member of the metadata if it is a list, else an empty list."""
    value = (dataset.metadata or {}).get(name)
    return value if isinstance(value, list) else []


def _text_member(dataset: Dataset, name: str) -> str | None:
    """Return a member of the metadata if it is a non-empty string."""
    value = (dataset.metadata or {}).get(name)
    return value[:MAX_TEXT_LENGTH] if isinstance(value, str) and value.strip() else None
