"""Measurement of the data file of a record, and what it says about the attributes.

A measurement never makes the creation of a record fail: if the file cannot be measured, the record says why.
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
# Descriptions of further columns are dropped; the number of columns is always the true one.
MAX_COLUMN_PROFILES: Final = 1000
# The value of `unmeasured` while a measurement takes longer than the request that has stored the record.
IN_PROGRESS: Final = "in_progress"
# The members of `metadata` in which a record stores its measurement.
MEASUREMENT_KEYS: Final = ("measured", "unmeasured")
# The attributes that are measured, and the member of the profile that each is taken from. Whether a table has missing
# values follows from their share.
MEASURED_ATTRIBUTES: Final[Mapping[str, str]] = {
    "instances_number": "rows",
    "features_number": "columns",
    "missing_values_percentage": "missing_values_percentage",
}


@dataclass(frozen=True, slots=True)
class Measurement:
    """What the service has found in a data file: its profile as JSON, or the reason why there is none.

    Both are None if there is no such file.
    """

    profile: Mapping[str, Any] | None = None
    failure: str | None = None

    @property
    def is_in_progress(self) -> bool:
        """Whether the file is still being measured."""
        return self.failure == IN_PROGRESS

    @classmethod
    def from_metadata(cls, metadata: Mapping[str, Any]) -> "Measurement":
        """Return the measurement that is stored in the `metadata` of a record."""
        return cls(metadata.get("measured"), metadata.get("unmeasured"))

    def to_metadata(self) -> dict[str, Any]:
        """Return the members with which the `metadata` of a record stores this measurement.

        That is `measured`, or `unmeasured` if the measurement failed, or nothing if there is no file.
        """
        if self.profile is not None:
            return {"measured": dict(self.profile)}
        if self.failure is not None:
            return {"unmeasured": self.failure}

        return {}

    def attribute_values(self, target: object) -> dict[str, ClaimValue]:
        """Return the measured values of the attributes of a record, by name.

        `target` is the column that a model would predict; it does not count as a feature.
        """
        if self.profile is None:
            return {}

        values: dict[str, ClaimValue] = {
            attribute: self.profile[member]
            for attribute, member in MEASURED_ATTRIBUTES.items()
            if self.profile.get(member) is not None
        }
        column_names = [column["name"] for column in self.profile.get("column_profiles") or ()]
        if "features_number" in values and target in column_names:
            values["features_number"] = self.profile["columns"] - 1

        missing_share = values.get("missing_values_percentage")
        if missing_share is not None:
            values["has_missing_values"] = missing_share > 0
        return values


class FileMeasurer:
    """Measures data files, at most `CONCURRENT_MEASUREMENTS` at a time."""

    def __init__(self, settings: Settings, data_files: DataFiles) -> None:
        self._data_files = data_files
        self._wait_seconds = settings.profile_wait_seconds
        self._timeout_seconds = settings.profile_seconds
        # The limit on processor time is in whole seconds, of which there has to be at least one.
        self._limits = ProfilingLimits(
            memory_bytes=settings.profile_memory_bytes,
            cpu_seconds=max(1, round(settings.profile_seconds)),
            wall_seconds=settings.profile_seconds,
        )
        self._slots = asyncio.Semaphore(CONCURRENT_MEASUREMENTS)

    async def measure(self, file_path: str, file_type: str, owner: UUID | None) -> Measurement:
        """Measure the data file that a record of `owner` names.

        No file causes an error. If the file does not exist or the owner may not read it, the measurement is empty. If
        it cannot be measured in time, or at all, the measurement contains the reason.
        """
        try:
            file = await self._data_files.open(file_path, owner)
        except DataFileUnreadable:
            return Measurement()

        with file:
            return await self._measure_open_file(file, file_type)

    async def measure_briefly(self, file_path: str, file_type: str, owner: UUID | None) -> Measurement:
        """Measure a data file like `measure`, but only for as long as a request may wait.

        If that is not enough, the measurement is `in_progress`, and has to be made again without a request.
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
        """Measure an open data file."""
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
        """Profile a file as soon as there is a free slot. Waiting for it does not shorten the time for profiling.

        Raises:
            ProfilingError: the file cannot be profiled, or not in time.
            TimeoutError: no slot has become free in time.
        """
        # `asyncio.wait_for` would swallow a timeout of the caller that comes at the moment at which the slot is taken.
        async with asyncio.timeout(self._timeout_seconds):
            await self._slots.acquire()
        try:
            return await profile_file(file, file_type, limits=self._limits)
        finally:
            self._slots.release()
