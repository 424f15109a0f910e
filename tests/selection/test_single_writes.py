"""Single writes, which have precedence over bulk imports: who waits for them, and how long."""

import asyncio
import math
from contextlib import suppress

import pytest

from touchstone.services.selection.app import Selection
from touchstone.services.selection.catalog import single_writes
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.catalog.single_writes import SingleWrites


async def test_nobody_waits_while_nothing_is_written() -> None:
    """Without single writes, waiting for them ends at once, and none is recent."""
    writes = SingleWrites()
    async with asyncio.timeout(1):
        await writes.wait_until_done()
    assert not writes.are_recent


async def test_waiting_ends_with_the_last_of_several_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits goes on when the last write is done, even if it has failed; all of them are still recent."""
    monkeypatch.setattr(single_writes, "_MAX_WAIT_SECONDS", math.inf)
    writes = SingleWrites()
    with writes.track():
        wait_task = asyncio.ensure_future(writes.wait_until_done())
        with suppress(ZeroDivisionError), writes.track():
            raise ZeroDivisionError

        await asyncio.sleep(0.01)
        assert not wait_task.done()

    async with asyncio.timeout(1):
        await wait_task
    assert writes.are_recent


async def test_nobody_waits_for_long() -> None:
    """A bulk import goes on even if somebody writes all the time."""
    writes = SingleWrites()
    with writes.track():
        async with asyncio.timeout(1):
            await writes.wait_until_done()


async def test_writes_are_not_recent_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a pause, nobody is expected to write another record."""
    monkeypatch.setattr(single_writes, "RECENT_SECONDS", 0.0)
    writes = SingleWrites()
    with writes.track():
        assert writes.are_recent
    assert not writes.are_recent


async def test_a_write_counts_from_its_beginning_until_the_catalog_has_it(
    selection: Selection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever waits goes on when the transaction has ended, and when the write was cancelled before."""
    monkeypatch.setattr(single_writes, "_MAX_WAIT_SECONDS", math.inf)
    catalog = selection.services.catalog
    async with catalog.writing():
        wait_task = asyncio.ensure_future(catalog.single_writes.wait_until_done())
        cancelled_write = asyncio.ensure_future(_write_nothing(catalog))
        await asyncio.sleep(0.01)
        cancelled_write.cancel()
        await asyncio.wait([cancelled_write])
        assert not wait_task.done()

    async with asyncio.timeout(1):
        await wait_task


async def test_bulk_writes_do_not_count(selection: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    """An import does not wait for transactions of its own or of other imports."""
    monkeypatch.setattr(single_writes, "_MAX_WAIT_SECONDS", math.inf)
    catalog = selection.services.catalog
    async with catalog.writing(is_bulk=True), asyncio.timeout(1):
        await catalog.single_writes.wait_until_done()
    assert not catalog.single_writes.are_recent


async def _write_nothing(catalog: LiveCatalog) -> None:
    """Run a transaction that writes no record."""
    async with catalog.writing():
        pass
