"""The data file of a record, and its measurement in the metadata of the record."""

from typing import Any, NamedTuple, Self

from msgspec.structs import replace

from touchstone.services.selection.datasets.dataset_record import DatasetDraft, Draft
from touchstone.services.selection.files.measurement import MEASUREMENT_KEYS, Measurement


class DataFile(NamedTuple):
    """The path and the type of the data file of a record."""

    path: str
    type: str

    @classmethod
    def from_record(cls, draft: DatasetDraft) -> Self:
        """Return the data file of a record."""
        return cls(draft.file_path, draft.file_type)


def target_of(draft: DatasetDraft) -> object:
    """Return the target column for training models, as given in the metadata of a record, or None."""
    return (draft.metadata or {}).get("target")


def with_measurement(draft: Draft, measurement: Measurement) -> Draft:
    """Return a record with a measurement in its metadata, which replaces the previous one.

    An empty measurement only removes the previous one.
    """
    other_members = {key: value for key, value in (draft.metadata or {}).items() if key not in MEASUREMENT_KEYS}
    metadata: dict[str, Any] | None = {**other_members, **measurement.to_metadata()}

    # Metadata that only contained a measurement becomes null, but an empty object from a client is kept.
    if not metadata and draft.metadata != {}:
        metadata = None
    return replace(draft, metadata=metadata)
