"""Import of records from a file into a catalog, which changes nothing if it is repeated."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.client.errors import TouchstoneError
from touchstone.client.import_models import ImportStatus
from touchstone.client.models import Dataset
from touchstone.client.record_files import Record, record_of
from touchstone.client.sync_client import Touchstone

# The service writes these members of `metadata`, so their values in a file are not compared.
SERVICE_KEYS: Final = frozenset({"measured", "unmeasured", "imported"})
_MAX_FILTER_LENGTH: Final = 255
_FORBIDDEN: Final = 403
_REJECTION_STATUSES: Final = frozenset({413, 422})


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The result for one record: its dataset, or the reason why the service rejected it."""

    status: ImportStatus
    name: str
    dataset_id: int | None = None
    detail: str | None = None


class CatalogImport:
    """An import of one file.

    A record is matched with a dataset by its name, and by `metadata.source.name` and `.key` if both have one. Each
    dataset is matched with at most one record, so a file may contain several records of the same name.
    """

    def __init__(self, client: Touchstone) -> None:
        self._client = client
        self._matched_ids: set[int] = set()

    def put(self, record: Record) -> ImportResult:
        """Create or update the dataset of one record, unless the catalog already has an identical dataset.

        A field that is None in the file keeps its value in the catalog. If the service rejects the record, the result
        contains the reason, and the import can continue with the next record.

        Raises:
            TouchstoneError: the service refused the call for a reason other than the record, or did not respond.
        """
        known_values = {name: value for name, value in record.items() if value is not None}
        try:
            dataset, status = self._create_or_update(known_values)
        except TouchstoneError as error:
            if error.status not in _REJECTION_STATUSES:
                raise
            return ImportResult(ImportStatus.REJECTED, record["name"], detail=error.detail)

        # Another record of the same name in this file must not match this dataset again.
        self._matched_ids.add(dataset.id)
        return ImportResult(status, record["name"], dataset.id)

    def _create_or_update(self, record: Record) -> tuple[Dataset, ImportStatus]:
        """Create or update the dataset of a record, and return it with its status.

        A dataset with identical values is left unchanged. Otherwise, the first candidate that the caller may change is
        updated. If there is none, a new dataset is created.
        """
        candidates = self._find_candidates(record)
        for dataset in candidates:
            if not _changed_fields(record, dataset):
                return dataset, ImportStatus.UNCHANGED

        updated_dataset = self._update_first_permitted(record, candidates)
        if updated_dataset is not None:
            return updated_dataset, ImportStatus.UPDATED

        created_dataset = self._client.create_dataset(**record)
        return created_dataset, ImportStatus.CREATED

    def _update_first_permitted(self, record: Record, candidates: list[Dataset]) -> Dataset | None:
        """Update the first candidate that the caller may change, and return it, or return None if there is none."""
        for dataset in candidates:
            changed_fields = _changed_fields(record, dataset)
            try:
                return self._client.update_dataset(dataset.id, **changed_fields)
            except TouchstoneError as error:
                # The service forbids changing a dataset of another user, which only happens to have the same name.
                if error.status != _FORBIDDEN:
                    raise
        return None

    def _find_candidates(self, record: Record) -> list[Dataset]:
        """Return the datasets that an earlier import of this record may have created, ordered by id.

        They have the name of the record, do not come from another source, and are not yet matched with another record.
        """
        name = record["name"]
        # This filter matches parts of names and has a limited length, so the whole name is compared below.
        datasets_with_similar_name = self._client.iterate_datasets(dataset_name=name[:_MAX_FILTER_LENGTH])

        candidates = []
        for dataset in datasets_with_similar_name:
            is_unmatched = dataset.id not in self._matched_ids
            if is_unmatched and dataset.name == name.strip() and _may_have_same_source(record, dataset):
                candidates.append(dataset)
        return candidates


def _may_have_same_source(record: Record, dataset: Dataset) -> bool:
    """Return whether a record and a dataset have the same source key, or one of them has none."""
    record_key = _source_key(record.get("metadata"))
    dataset_key = _source_key(dataset.metadata)
    if record_key is None or dataset_key is None:
        return True
    return record_key == dataset_key


def _source_key(metadata: Any) -> tuple[Any, Any] | None:
    """Return the name of the source in metadata and the key within this source, or None without a key."""
    source = metadata.get("source") if isinstance(metadata, dict) else None
    if not isinstance(source, dict) or "key" not in source:
        return None
    return source.get("name"), source["key"]


def _changed_fields(record: Mapping[str, Any], dataset: Dataset) -> dict[str, Any]:
    """Return the fields of a record whose values differ from the values of the dataset."""
    current_values = record_of(dataset)
    return {
        name: value
        for name, value in record.items()
        if _without_service_keys(value) != _without_service_keys(current_values[name])
    }


def _without_service_keys(value: Any) -> Any:
    """Return metadata without the members that the service writes, or None if none remain.

    Other values are returned unchanged.
    """
    if not isinstance(value, dict):
        return value

    remaining_members = {key: member for key, member in value.items() if key not in SERVICE_KEYS}
    return remaining_members or None
