"""The relations to other datasets and the warnings in the metadata of a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from touchstone.client import Dataset

# Anybody can write metadata, so pages show only a limited amount of it.
MAX_WARNINGS: Final = 10
MAX_VARIANTS: Final = 50
MAX_TEXT_LENGTH: Final = 2000


@dataclass(frozen=True, slots=True)
class RelatedDataset:
    """Another variant of a dataset, with the UUID that the address of its page contains."""

    name: str
    dataset_id: UUID


def warnings_about(dataset: Dataset) -> tuple[str, ...]:
    """Return the warnings in the metadata of a record, for example against its further use."""
    entries = _list_member(dataset, "warnings")
    warnings = [entry[:MAX_TEXT_LENGTH] for entry in entries if isinstance(entry, str) and entry.strip()]
    return tuple(warnings[:MAX_WARNINGS])


def variant_group(dataset: Dataset) -> str | None:
    """Return the name of the dataset that this record is a variant of, or None if it is no variant."""
    return _text_member(dataset, "variant_of")


def collection_name(dataset: Dataset) -> str | None:
    """Return the name of the collection or benchmark with the dataset, or None if there is none."""
    return _text_member(dataset, "part_of")


def variants_of(dataset: Dataset) -> tuple[RelatedDataset, ...]:
    """Return the other variants of a dataset in its metadata, without malformed entries."""
    variants = [_parse_variant(entry) for entry in _list_member(dataset, "variants")]
    valid_variants = [variant for variant in variants if variant is not None]
    return tuple(valid_variants[:MAX_VARIANTS])


def _parse_variant(entry: Any) -> RelatedDataset | None:
    """Return the variant in an entry of the metadata, or None if the entry is malformed."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
        return None
    try:
        dataset_id = UUID(str(entry.get("dataset_id")))
    except ValueError:
        return None
    return RelatedDataset(entry["name"][:MAX_TEXT_LENGTH], dataset_id)


def _list_member(dataset: Dataset, name: str) -> list[Any]:
    """Return a member of the metadata, or an empty list if it is not a list."""
    value = (dataset.metadata or {}).get(name)
    return value if isinstance(value, list) else []


def _text_member(dataset: Dataset, name: str) -> str | None:
    """Return the beginning of a member of the metadata, or None if it is not a non-empty string."""
    value = (dataset.metadata or {}).get(name)
    return value[:MAX_TEXT_LENGTH] if isinstance(value, str) and value.strip() else None
