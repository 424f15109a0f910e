"""Idempotent import of records from a file into a catalog."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from touchstone.client.errors import TouchstoneError
from touchstone.client.models import Dataset
from touchstone.client.record_files import Record, record_of
from touchstone.client.sync_client import Touchstone

# Members of `metadata` that the service writes: what a file says there is not compared.
SERVICE_KEYS: Final = frozenset({"measured", "unmeasured"})
_LONGEST_FILTER: Final = 255
_FORBIDDEN: Final = 403
_REJECTIONS: Final = frozenset({413, 422})


class ImportStatus(StrEnum):
    """The outcome of importing a record."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The outcome of one record: its dataset, or the reason why the service rejected it."""

    status: ImportStatus
    name: str
    dataset_id: int | None = None
    detail: str | None = None


class CatalogImport:
    """One import of a file.

    A record is recognised by its name, and by `metadata.source.name` and `.key` where both sides have them. A dataset
    stands for one record of a file only, so a file may hold several records of the same name.
    """

    def __init__(self, client: Touchstone) -> None:
        self._client = client
        self._matched: set[int] = set()

    def put(self, record: Record) -> ImportResult:
        """Create the record, update one's own dataset to it, or leave a dataset that equals it; null means not known.

        Raises:
            TouchstoneError: the service cannot be used; a record that it rejects is a result.
        """
        known = {name: value for name, value in record.items() if value is not None}
        try:
            dataset, status = self._put(known)
        except TouchstoneError as problem:
            if problem.status not in _REJECTIONS:
                raise
            return ImportResult(ImportStatus.REJECTED, record["name"], detail=problem.detail)
        self._matched.add(dataset.id)
        return ImportResult(status, record["name"], dataset.id)

    def _put(self, known: Record) -> tuple[Dataset, ImportStatus]:
        candidates = [dataset for dataset in self._named(known["name"]) if _has_same_key(known, dataset)]
        for dataset in candidates:
            if not _changes(known, dataset):
                return dataset, ImportStatus.UNCHANGED

        for dataset in candidates:
            try:
                return self._client.update_dataset(dataset.id, **_changes(known, dataset)), ImportStatus.UPDATED
            except TouchstoneError as problem:
                # Somebody else's dataset of this name is not the record of this file.
                if problem.status != _FORBIDDEN:
                    raise
        return self._client.create_dataset(**known), ImportStatus.CREATED

    def _named(self, name: str) -> Iterator[Dataset]:
        """Return the datasets with this name that no record of this import has matched yet, by id."""
        for dataset in self._client.iterate_datasets(dataset_name=name[:_LONGEST_FILTER]):
            if dataset.name == name.strip() and dataset.id not in self._matched:
                yield dataset


def _has_same_key(known: Mapping[str, Any], dataset: Dataset) -> bool:
    given, present = _key(known.get("metadata")), _key(dataset.metadata)
    return given is None or present is None or given == present


def _key(metadata: Any) -> tuple[Any, Any] | None:
    """Return the source of a record and its key within that source."""
    source = metadata.get("source") if isinstance(metadata, dict) else None
    if not isinstance(source, dict) or "key" not in source:
        return None
    return source.get("name"), source["key"]


def _changes(known: Mapping[str, Any], dataset: Dataset) -> dict[str, Any]:
    """Return the fields of the record whose values differ from those of the dataset."""
    present = record_of(dataset)
    return {name: value for name, value in known.items() if _compared(value) != _compared(present[name])}


def _compared(value: Any) -> Any:
    """Return a value as it is compared: metadata without the members that the service sets."""
    if not isinstance(value, dict):
        return value
    return {key: member for key, member in value.items() if key not in SERVICE_KEYS} or None
