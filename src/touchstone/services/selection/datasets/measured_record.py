"""The data file that a record names, and the measurement of it in the metadata of the record."""

from typing import Any, NamedTuple, Self

from msgspec.structs import replace

from touchstone.services.selection.datasets.dataset_record import DatasetDraft, Draft
from touchstone.services.selection.files.measurement import MEASUREMENT_KEYS, Measurement


class DataFile(NamedTuple):
    """The data file that a record names."""

    path: str
    type: str

    @classmethod
    def of(cls, draft: DatasetDraft) -> Self:
        """Return the data file of a record."""
        return cls(draft.file_path, draft.file_type)


class FileMeasurement(NamedTuple):
    """A measurement, and the data file that was measured."""

    file: DataFile
    measurement: Measurement


def target_of(draft: DatasetDraft) -> object:
    """Return the column that the metadata of a record names as the target of a training, if it names one."""
    return (draft.metadata or {}).get("target")


def with_measurement(draft: Draft, measurement: Measurement) -> Draft:
    """Return a record whose metadata has the measurement of its data file; an empty one removes the last one."""
    other_members = {key: value for key, value in (draft.metadata or {}).items() if key not in MEASUREMENT_KEYS}
    metadata: dict[str, Any] | None = {**other_members, **measurement.to_metadata()}

    # Metadata that only held a measurement goes with it; an empty object of the caller stays.
    if not metadata and draft.metadata != {}:
        metadata = None
    return replace(draft, metadata=metadata)
