"""Measurements of data files that take longer than a request should wait.

The record says `in_progress` until then. What has to be measured is a row in the database, so that nothing is forgotten
when a process stops, and each row is measured by one process only.
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
    FileMeasurement,
    target_of,
    with_measurement,
)
from touchstone.services.selection.evidence.record_claims import RecordClaims
from touchstone.services.selection.files import pending_store
from touchstone.services.selection.files.measurement import FileMeasurer, Measurement

POLL_SECONDS: Final = 5.0  # How often a process looks for measurements that another one has left unfinished.
LEASE: Final = timedelta(seconds=30)
RENEWAL_SECONDS: Final = 10.0

log = structlog.get_logger("touchstone.files")


class BackgroundMeasurer:
    """Measures the data files of records that were stored before their measurement was finished, one at a time."""

    def __init__(self, database: Database, catalog: LiveCatalog, measurer: FileMeasurer) -> None:
        self._database = database
        self._catalog = catalog
        self._measurer = measurer
        self._has_new = asyncio.Event()
        self._leased_id: int | None = None

    async def note(self, transaction: Writer, dataset_id: int, measurement: Measurement) -> None:
        """Remember in the transaction that writes a record whether its data file still has to be measured."""
        if measurement.is_in_progress:
            await pending_store.add_pending(transaction, dataset_id, datetime.now(UTC))
        else:
            await pending_store.remove_pending(transaction, dataset_id)

    def wake(self) -> None:
        """Look for unfinished measurements at once; to be called after a transaction that has noted one."""
        self._has_new.set()

    async def forget_file(self, file_name: str, owner: UUID) -> None:
        """Remove the measurement of a data file that is to be deleted from all records of an owner that name it.

        Each upload has a name of its own, but records may write the folders before it differently.
        """
        async with self._database.reading() as connection:
            dataset_ids = await store.ids_of_records_with_file(connection, file_name, owner)

        for dataset_id in dataset_ids:
            async with self._catalog.writing(even_if_disk_full=True) as writer:
                record = await store.read_dataset(writer.transaction, dataset_id)
                # The record may have been changed or deleted since the query.
                if record is None or not record.file_path.endswith(file_name):
                    continue
                await _write_measurement(writer, record, Measurement())
                await pending_store.remove_pending(writer.transaction, dataset_id)

    async def run(self) -> None:
        """Finish measurements until cancelled; errors are logged, and the measurement is tried again."""
        while True:
            try:
                while await self._finish_one():
                    pass
            except ServiceError:
                pass  # The database or the catalog has logged it.
            except Exception as error:  # noqa: BLE001 - a process that stopped here would leave records unmeasured
                log.warning("a data file could not be measured", problem=type(error).__name__)

            await wait_until_set(self._has_new, POLL_SECONDS)
            self._has_new.clear()

    async def _finish_one(self) -> bool:
        """Measure the data file of one waiting record and store the result; return False if no record is waiting."""
        try:
            record = await run_uninterrupted(self._take_record())
            if record is None:
                return False

            measurement = await self._measure_under_lease(record)
            measured = FileMeasurement(DataFile.of(record), measurement)
            await run_uninterrupted(self._store(record.id, measured))
        except asyncio.CancelledError:
            # This process stops: another one may begin at once, and need not wait for the end of the lease.
            if self._leased_id is not None:
                await self._set_lease_end(self._leased_id, datetime.now(UTC))
            raise

        return True

    async def _take_record(self) -> DatasetRecord | None:
        """Reserve a waiting record for this process, and return it, or None if there is none.

        The reservation is a lease: it ends by itself, so that another process takes over if this one is killed.
        """
        self._leased_id = None
        now = datetime.now(UTC)

        async with self._database.reading() as connection:
            dataset_id = await pending_store.find_unleased(connection, now)
        if dataset_id is None:
            return None

        async with self._database.writing() as transaction:
            # Another process may have taken the record since the query.
            is_leased = await pending_store.take_lease(transaction, dataset_id, now, now + LEASE)
            if not is_leased:
                return None

            self._leased_id = dataset_id
            return await store.read_dataset(transaction, dataset_id)

    async def _measure_under_lease(self, record: DatasetRecord) -> Measurement:
        """Measure the data file of a record, and renew the lease until that is done."""
        measuring = asyncio.ensure_future(self._measurer.measure(record.file_path, record.file_type, record.owner))
        try:
            while not measuring.done():
                await asyncio.wait({measuring}, timeout=RENEWAL_SECONDS)
                await run_uninterrupted(self._set_lease_end(record.id, datetime.now(UTC) + LEASE))
            return measuring.result()
        finally:
            measuring.cancel()
            await asyncio.gather(measuring, return_exceptions=True)

    async def _set_lease_end(self, dataset_id: int, moment: datetime) -> None:
        """Set the moment until which nobody else measures the data file of a record."""
        async with self._database.writing() as transaction:
            await pending_store.set_lease_end(transaction, dataset_id, moment)

    async def _store(self, dataset_id: int, measured: FileMeasurement) -> None:
        """Write a measurement to its record, unless the record was deleted or names another data file by now."""
        async with self._catalog.writing() as writer:
            record = await store.read_dataset(writer.transaction, dataset_id)
            if record is None:
                return

            is_waiting = _is_waiting(record)
            names_other_file = DataFile.of(record) != measured.file
            if is_waiting and names_other_file:
                # The other file is measured next.
                await pending_store.set_lease_end(writer.transaction, dataset_id, datetime.now(UTC))
                return

            if is_waiting:
                await _write_measurement(writer, record, measured.measurement)
            await pending_store.remove_pending(writer.transaction, dataset_id)


def _is_waiting(record: DatasetRecord) -> bool:
    """Return whether a record says that its data file is being measured."""
    return Measurement.from_metadata(record.metadata or {}).is_in_progress


async def _write_measurement(writer: CatalogWriter, record: DatasetRecord, measurement: Measurement) -> None:
    """Store a record with a measurement, and with the claims that follow from it."""
    draft = replace(with_measurement(record, measurement), updated_at=datetime.now(UTC))
    claims = await RecordClaims.load(writer.transaction, record.id)
    await claims.replace_measurements(writer.transaction, measurement.attribute_values(target_of(draft)))
    await writer.update(record.id, claims.resolve(draft))
