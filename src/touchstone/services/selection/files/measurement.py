"""Measurement of data files, which yields values for attributes of their records.

A failed measurement does not prevent the creation of a record. The record then contains the reason for the failure.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, Final
from uuid import UUID

import msgspec

from touchstone.core.errors import DataFileUnreadable
from touchstone.core.evidence import ClaimValue
from touchstone.core.settings import Settings
from touchstone.datafiles.file_profile import FileProfile, ProfilingError, ProfilingLimits
from touchstone.datafiles.profiler import profile_file
from touchstone.services.selection.files.data_files import DataFiles

CONCURRENT_MEASUREMENTS: Final = 2
# The profiles of further columns are dropped. The number of columns in the profile still counts all of them.
MAX_COLUMN_PROFILES: Final = 1000
# The value of `unmeasured` while a measurement continues after the request that stored the record.
IN_PROGRESS: Final = "in_progress"
# The keys of the measurement in the `metadata` of a record.
MEASUREMENT_KEYS: Final = ("measured", "unmeasured")
# The key in the profile for each measured attribute. The flag `has_missing_values` is derived from the percentage.
MEASURED_ATTRIBUTES: Final[Mapping[str, str]] = {
    "instances_number": "rows",
    "features_number": "columns",
    "missing_values_percentage": "missing_values_percentage",
}


@dataclass(frozen=True, slots=True)
class Measurement:
    """The profile of a data file as JSON, or the reason why the file could not be measured.

    Both are None if there is no file that the owner of the record may read.
    """

    profile: Mapping[str, Any] | None = None
    failure: str | None = None

    @property
    def is_in_progress(self) -> bool:
        """Whether the file is still being measured."""
        return self.failure == IN_PROGRESS

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> "Measurement":
        """Return the measurement stored in the `metadata` of a record."""
        return cls(metadata.get("measured"), metadata.get("unmeasured"))

    def to_metadata(self) -> dict[str, Any]:
        """Return the items to add to the `metadata` of a record.

        The key is `measured`, or `unmeasured` if the measurement failed. The result is empty if there is no file.
        """
        if self.profile is not None:
            return {"measured": dict(self.profile)}
        if self.failure is not None:
            return {"unmeasured": self.failure}

        return {}

    def attribute_values(self, target: object) -> dict[str, ClaimValue]:
        """Return the measured values of the attributes of a record, keyed by name.

        Args:
            target: the name of the column that a model would predict, if any. It does not count as a feature.
        """
        if self.profile is None:
            return {}

        values: dict[str, ClaimValue] = {
            attribute: self.profile[key]
            for attribute, key in MEASURED_ATTRIBUTES.items()
            if self.profile.get(key) is not None
        }
        column_names = [column["name"] for column in self.profile.get("column_profiles") or ()]
        if "features_number" in values and target in column_names:
            values["features_number"] = self.profile["columns"] - 1

        missing_percentage = values.get("missing_values_percentage")
        if missing_percentage is not None:
            values["has_missing_values"] = missing_percentage > 0
        return values


class FileMeasurer:
    """Measures data files, at most `CONCURRENT_MEASUREMENTS` at a time."""

    def __init__(self, settings: Settings, data_files: DataFiles) -> None:
        self._data_files = data_files
        self._wait_seconds = settings.profile_wait_seconds
        self._max_slot_wait_seconds = settings.profile_seconds
        # The limit on processor time is a whole number of seconds, at least 1.
        self._limits = ProfilingLimits(
            memory_bytes=settings.profile_memory_bytes,
            cpu_seconds=max(1, round(settings.profile_seconds)),
            wall_seconds=settings.profile_seconds,
        )
        self._slots = asyncio.Semaphore(CONCURRENT_MEASUREMENTS)

    async def measure(self, file_path: str, file_type: str, owner: UUID | None) -> Measurement:
        """Measure the data file of a record that belongs to `owner`.

        This never fails. The measurement is empty if the file does not exist or the owner may not read it, and
        contains the reason if the file cannot be measured within the limits.
        """
        try:
            file = await self._data_files.open(file_path, owner)
        except DataFileUnreadable:
            return Measurement()

        with file:
            return await self._measure_open_file(file, file_type)

    async def measure_briefly(self, file_path: str, file_type: str, owner: UUID | None) -> Measurement:
        """Measure a data file like `measure`, but give up when a request should not wait any longer.

        In this case the measurement is `in_progress`, and the file has to be measured again in the background.
        """
        try:
            file = await self._data_files.open(file_path, owner)
        except DataFileUnreadable:
            return Measurement()

        with file:
            try:
                async with asyncio.timeout(self._wait_seconds):
                    return await self._measure_open_file(file, file_type)
            except TimeoutError:
                return Measurement(failure=IN_PROGRESS)

    async def _measure_open_file(self, file: BinaryIO, file_type: str) -> Measurement:
        """Measure an open data file, or return the reason why that is impossible."""
        try:
            file_profile = await self._profile(file, file_type.strip().lower())
        except ProfilingError as error:
            return Measurement(failure=str(error.reason))
        except (TimeoutError, OSError):
            return Measurement(failure="too_slow")

        profile_json: dict[str, Any] = msgspec.to_builtins(file_profile)
        profile_json["column_profiles"] = profile_json["column_profiles"][:MAX_COLUMN_PROFILES]
        return Measurement(profile=profile_json)

    async def _profile(self, file: BinaryIO, file_type: str) -> FileProfile:
        """Profile a file once one of the `CONCURRENT_MEASUREMENTS` slots is free.

        The time spent waiting for the slot does not count as profiling time.

        Raises:
            ProfilingError: the file cannot be profiled within the limits on memory and time.
            TimeoutError: no slot became free in time.
        """
        # This does not use `asyncio.wait_for`, which ignores the timeout of `measure_briefly` if that expires at the
        # same moment as the slot becomes free.
        async with asyncio.timeout(self._max_slot_wait_seconds):
            await self._slots.acquire()
        try:
            return await profile_file(file, file_type, limits=self._limits)
        finally:
            self._slots.release()
