"""Queries on the table of unfinished measurements, which any process may continue.

The process that measures a file holds a lease on its row, and renews it until the measurement is stored.
"""

from datetime import datetime

import sqlalchemy as sa

from touchstone.database.engine import Reader, Writer
from touchstone.database.tables import pending_measurements


async def add_pending(transaction: Writer, dataset_id: int, now: datetime) -> None:
    """Mark the data file of a record as unmeasured. Any process may lease the measurement immediately."""
    await remove_pending(transaction, dataset_id)
    await transaction.execute(sa.insert(pending_measurements).values(dataset_id=dataset_id, leased_until=now))


async def remove_pending(transaction: Writer, dataset_id: int) -> None:
    """Remove the mark that the data file of a record has to be measured."""
    await transaction.execute(sa.delete(pending_measurements).where(pending_measurements.c.dataset_id == dataset_id))


async def find_unleased(connection: Reader, now: datetime) -> int | None:
    """Return the lowest id of a record with an unmeasured file that no process has leased, or None."""
    columns = pending_measurements.c
    query = sa.select(columns.dataset_id).where(columns.leased_until <= now).order_by(columns.dataset_id).limit(1)
    dataset_id: int | None = await connection.scalar(query)
    return dataset_id


async def take_lease(transaction: Writer, dataset_id: int, now: datetime, until: datetime) -> bool:
    """Lease a measurement until a time, or return False if another process was faster."""
    columns = pending_measurements.c
    is_unleased = (columns.dataset_id == dataset_id) & (columns.leased_until <= now)
    update = sa.update(pending_measurements).where(is_unleased).values(leased_until=until)
    return await transaction.fetch_returned_row(update.returning(columns.dataset_id)) is not None


async def set_lease_end(transaction: Writer, dataset_id: int, until: datetime) -> None:
    """Change the end of a lease, unless the measurement is no longer pending."""
    is_of_dataset = pending_measurements.c.dataset_id == dataset_id
    await transaction.execute(sa.update(pending_measurements).where(is_of_dataset).values(leased_until=until))
