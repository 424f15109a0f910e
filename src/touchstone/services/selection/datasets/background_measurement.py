"""Measurement of data files in the background, if it takes longer than a request should wait.

Until then the measurement in the record is `in_progress`. Pending measurements are rows in the database, so that they
survive the end of a process. A lease on the row ensures that only one process measures the file.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import structlog
from msgspec.structs import replace

from touchstone.core.errors import ServiceError
from touchstone.core.event_waiting import wait_until_set
from touchstone.core.uninterrupted import run_uninterrupted
from touchstone.database.engine import Database, Writer
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog_writer import CatalogWriter
from touchstone.services.selection.datasets import store
from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.measured_record import (
    DataFile,
    target_of,
    with_measurement,
)
from touchstone.services.selection.evidence.record_claims import RecordClaims
from touchstone.services.selection.files import pending_store
from touchstone.services.selection.files.measurement import FileMeasurer, Measurement

# How often a process looks for measurements that another process has left unfinished.
POLL_SECONDS: Final = 5.0
LEASE: Final = timedelta(seconds=30)
RENEWAL_SECONDS: Final = 10.0

log = structlog.get_logger("touchstone.files")


class BackgroundMeasurer:
    """Measures the data files of records that were stored before their measurement was finished, one by one."""

    def __init__(self, database: Database, catalog: LiveCatalog, measurer: FileMeasurer) -> None:
        self._database = database
        self._catalog = catalog
        self._measurer = measurer
        self._wake_event = asyncio.Event()
        self._leased_id: int | None = None

    async def update_pending(self, transaction: Writer, dataset_id: int, measurement: Measurement) -> None:
        """Add or remove a pending measurement, in the transaction that writes the record."""
        if measurement.is_in_progress:
            await pending_store.add_pending(transaction, dataset_id, datetime.now(UTC))
        else:
            await pending_store.remove_pending(transaction, dataset_id)

    def wake(self) -> None:
        """Look for pending measurements now. Call this after the commit of a transaction that added one."""
        self._wake_event.set()

    async def clear_measurements(self, file_name: str, owner: UUID) -> None:
        """Remove the measurement of a data file from all records of the owner, before the file is deleted.

        Records are matched by the file name, which is unique, because their paths may spell the folders differently.
        """
        async with self._database.reading() as connection:
            dataset_ids = await store.ids_of_records_with_file(connection, file_name, owner)

        for dataset_id in dataset_ids:
            async with self._catalog.writing(may_use_reserve=True) as writer:
                record = await store.read_dataset(writer.transaction, dataset_id)
                # The record may have been changed or deleted since the query.
                if record is None or not record.file_path.endswith(file_name):
                    continue
                await _write_measurement(writer, record, Measurement())
                await pending_store.remove_pending(writer.transaction, dataset_id)

    async def run(self) -> None:
        """Finish pending measurements, and wait for further ones, until cancelled.

        Errors are logged, and the measurement is tried again later.
        """
        while True:
            try:
                has_more = True
                while has_more:
                    has_more = await self._finish_one()
            except ServiceError:
                pass  # The database or the catalog has logged the error.
            except Exception as error:  # noqa: BLE001 - a process that stopped here would leave records unmeasured
                log.warning("a data file could not be measured", problem=type(error).__name__)

            await wait_until_set(self._wake_event, POLL_SECONDS)
            self._wake_event.clear()

    async def _finish_one(self) -> bool:
        """Finish one pending measurement, or return False if there is none that can be leased."""
        try:
            record = await run_uninterrupted(self._lease_record())
            if record is None:
                return False

            measurement = await self._measure_under_lease(record)
            await run_uninterrupted(self._store(record.id, DataFile.from_record(record), measurement))
        except asyncio.CancelledError:
            # This process is stopping, so end the lease to let another process continue immediately.
            if self._leased_id is not None:
                await self._set_lease_end(self._leased_id, datetime.now(UTC))
            raise

        return True

    async def _lease_record(self) -> DatasetRecord | None:
        """Lease a pending measurement, and return its record, or None if there is none.

        The lease expires, so that another process takes over if this one is killed.
        """
        self._leased_id = None
        now = datetime.now(UTC)

        async with self._database.reading() as connection:
            dataset_id = await pending_store.find_unleased(connection, now)
        if dataset_id is None:
            return None

        async with self._database.writing() as transaction:
            # Another process may have leased the measurement since the query.
            is_leased = await pending_store.take_lease(transaction, dataset_id, now, now + LEASE)
            if not is_leased:
                return None

            self._leased_id = dataset_id
            return await store.read_dataset(transaction, dataset_id)

    async def _measure_under_lease(self, record: DatasetRecord) -> Measurement:
        """Measure the data file of a record, and renew the lease until the measurement ends."""
        task = asyncio.ensure_future(self._measurer.measure(record.file_path, record.file_type, record.owner))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=RENEWAL_SECONDS)
                await run_uninterrupted(self._set_lease_end(record.id, datetime.now(UTC) + LEASE))
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _set_lease_end(self, dataset_id: int, until: datetime) -> None:
        """Set the time at which other processes may lease the measurement of a record."""
        async with self._database.writing() as transaction:
            await pending_store.set_lease_end(transaction, dataset_id, until)

    async def _store(self, dataset_id: int, file: DataFile, measurement: Measurement) -> None:
        """Store the measurement of a file in its record, unless the record was deleted or has another file now."""
        async with self._catalog.writing() as writer:
            record = await store.read_dataset(writer.transaction, dataset_id)
            if record is None:
                return

            is_in_progress = _is_in_progress(record)
            has_other_file = DataFile.from_record(record) != file
            if is_in_progress and has_other_file:
                # End the lease, so that the other file is measured next.
                await pending_store.set_lease_end(writer.transaction, dataset_id, datetime.now(UTC))
                return

            if is_in_progress:
                await _write_measurement(writer, record, measurement)
            await pending_store.remove_pending(writer.transaction, dataset_id)


def _is_in_progress(record: DatasetRecord) -> bool:
    """Return whether the measurement of a record is still in progress."""
    return Measurement.from_metadata(record.metadata or {}).is_in_progress


async def _write_measurement(writer: CatalogWriter, record: DatasetRecord, measurement: Measurement) -> None:
    """Store a measurement in a record, and replace the measured claims about the record."""
    draft = replace(with_measurement(record, measurement), updated_at=datetime.now(UTC))
    claims = await RecordClaims.load(writer.transaction, record.id)
    await claims.replace_measurements(writer.transaction, measurement.attribute_values(target_of(draft)))
    await writer.update(record.id, claims.resolve(draft))
