"""Work that is divided between two threads is done completely, and once, even if the second thread is busy."""

from threading import Event

import pytest

from touchstone.ranking.kernels import two_threads
from touchstone.ranking.kernels.two_threads import run_in_halves


@pytest.mark.parametrize("boundary", [None, 0, 3, 10])
@pytest.mark.parametrize("is_busy", [False, True])
def test_every_item_is_processed_once(boundary: int | None, is_busy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy second thread is not waited for: the first one does its half, too."""
    monkeypatch.setattr(two_threads, "MIN_ITEMS_FOR_TWO_THREADS", 1)
    items: list[int] = []
    release = Event()
    if is_busy:
        blocking_task = two_threads._second_thread.submit(release.wait, 60)

    run_in_halves(10, lambda start, end: items.extend(range(start, end)), boundary)
    assert sorted(items) == list(range(10))

    release.set()
    if is_busy:
        assert blocking_task.result()
