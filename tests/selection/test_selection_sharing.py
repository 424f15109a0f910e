"""Two processes on one database, each with columns of its own, against the row-by-row reference.

`SHARING_CASES` in the environment sets the number of cases; the long form is 50 000.
"""

import asyncio
import contextlib
import multiprocessing
import os
from collections.abc import AsyncIterator, Iterator
from multiprocessing.connection import Connection
from random import Random

import pytest

from tests.ranking.by_hand import ordered, rank
from tests.ranking.catalogs import position_of, query, row, sort_key, weights
from tests.selection.seeded import draft_of, stored_row
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.ranking.catalog.catalog import Layout
from touchstone.ranking.catalog.indexed_part import PlanThresholds
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.services.selection.catalog.live_catalog import LiveCatalog
from touchstone.services.selection.datasets.dataset_record import DatasetDraft

pytestmark = pytest.mark.slow
CASES = int(os.environ.get("SHARING_CASES", "60"))
LAYOUT = Layout(index_from=40, leaf_words=1, plans=PlanThresholds(gather_up_to=10))
SHRINK_FROM_SIZE = 150  # from this number of records on, more are deleted than inserted
NEW_ROW_COUNTS = (*(0, 1, 1, 2) * 5, 40)  # new records in one write
RESTART_PROBABILITY = 0.02
WINDOWS = ((0, None), (0, 3), (0, 20), (2, 5), (7, None), (1000, 1))
Answers = tuple[list[tuple[int, float]], int, list[int]]


class Question:
    """The requests that follow from a seed: a ranking and a list with the same filter."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self.filter, self.weights = query(random), weights(random)
        self.key, self.descending = sort_key(random), random.random() < 0.5
        window: tuple[int, int | None] = random.choice(WINDOWS)
        self.skip, self.limit = window

    def answers_of_process(self, catalog: LiveCatalog) -> Answers:
        view = catalog.view
        ranking = view.rank(self.filter, self.weights, skip=self.skip, limit=self.limit)
        listing = view.sort(self.filter, self.key, descending=self.descending, skip=self.skip, limit=self.limit)
        ranked_scores = list(zip(view.ids(ranking.positions).tolist(), ranking.scores.tolist(), strict=True))
        return ranked_scores, ranking.total_count, view.ids(listing.positions).tolist()

    def answers_of_reference(self, rows: dict[int, CatalogRow]) -> Answers:
        end = None if self.limit is None else self.skip + self.limit
        ranked_scores = rank(rows.values(), self.filter, self.weights)
        listing = ordered(rows.values(), self.filter, self.key, self.descending)
        return ranked_scores[self.skip : end], len(ranked_scores), listing[self.skip : end]


class Process:
    """One of the processes. It writes, sees its own writes at once, and responds after looking for writes of others."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def start(self) -> bool:
        """Read the catalog from the database, and build an index for it."""
        self.catalog = LiveCatalog(self.database, LAYOUT)
        await self.catalog.load()
        self.following = asyncio.ensure_future(self.catalog.follow())
        return True

    async def stop(self) -> None:
        self.following.cancel()
        await self.catalog.close()

    async def restart(self) -> bool:
        await self.stop()
        return await self.start()

    async def write(self, upserts: list[DatasetDraft], deleted_ids: list[int]) -> bool:
        previous_view = self.catalog.view
        async with self.catalog.writing() as change:
            for draft in upserts:
                assert draft.id is not None
                is_new = position_of(previous_view, draft.id) is None
                await (change.insert(draft) if is_new else change.update(draft.id, draft))
            for id_ in deleted_ids:
                await change.delete(id_)
        view = self.catalog.view
        are_present = [position_of(view, draft.id) is not None for draft in upserts if draft.id is not None]
        return all(are_present) and all(position_of(view, id_) is None for id_ in deleted_ids)

    async def ask(self, seed: int) -> Answers:
        await self.catalog.refresh()
        return Question(seed).answers_of_process(self.catalog)


def serve(pipe: Connection, url: str) -> None:
    """Carry out the requests that arrive through the pipe, until it is closed."""

    async def serve_commands() -> None:
        database = Database(url)
        process = Process(database)
        await process.start()
        while command := await asyncio.to_thread(pipe.recv):
            pipe.send(await getattr(process, command[0])(*command[1:]))
        await process.stop()
        await database.close()

    asyncio.run(serve_commands())


@contextlib.contextmanager
def another_process(url: str) -> Iterator[Connection]:
    """Start a process that serves this end of a pipe."""
    context = multiprocessing.get_context("spawn")
    our_end, their_end = context.Pipe()
    process = context.Process(target=serve, args=(their_end, url), daemon=True)
    process.start()
    their_end.close()
    yield our_end
    our_end.send(None)
    process.join(300)  # it waits for a thread that compiles kernels
    assert process.exitcode == 0


class Writer:
    """The random writes of one process; two writers never write the same record, so the final state is known."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.next_id = number

    def draw(self, random: Random, rows: dict[int, CatalogRow]) -> tuple[list[CatalogRow], list[int]]:
        own_ids = [id_ for id_ in rows if id_ % 2 == self.number % 2]
        new_ids = range(self.next_id, self.next_id + 2 * random.choice(NEW_ROW_COUNTS), 2)
        self.next_id += 2 * len(new_ids)
        deleted_ids = random.sample(
            own_ids, min(len(own_ids), random.randrange(3) if len(rows) < SHRINK_FROM_SIZE else 50)
        )
        changed_ids = [
            id_ for id_ in random.sample(own_ids, min(len(own_ids), random.randrange(3))) if id_ not in deleted_ids
        ]
        return [stored_row(row(random, id_)) for id_ in (*new_ids, *changed_ids)], deleted_ids


@pytest.fixture
async def processes(settings: Settings, database: Database) -> AsyncIterator[tuple[Connection, Connection]]:
    url = settings.effective_database_url
    with another_process(url) as first_pipe, another_process(url) as second_pipe:
        yield first_pipe, second_pipe


@pytest.mark.timeout(300 + CASES)  # two processes may have to compile every kernel first
async def test_both_processes_answer_as_the_reference_after_any_writes(
    processes: tuple[Connection, Connection],
) -> None:
    """Both write at the same moment and at times start anew; own writes show at once, answers equal the formulas."""
    random, rows, writers = Random(7), dict[int, CatalogRow](), (Writer(1), Writer(2))
    for _ in range(CASES):
        writes = [writer.draw(random, rows) for writer in writers]
        for pipe, (upserts, deleted_ids) in zip(processes, writes, strict=True):
            pipe.send(("write", [draft_of(row) for row in upserts], deleted_ids))
        assert [pipe.recv() for pipe in processes] == [True, True]
        for upserts, deleted_ids in writes:
            rows |= {row.id: row for row in upserts}
            for id_ in deleted_ids:
                del rows[id_]
        if random.random() < RESTART_PROBABILITY:
            pipe = random.choice(processes)
            pipe.send(("restart",))
            assert pipe.recv()
        seed = random.getrandbits(32)
        for pipe in processes:
            pipe.send(("ask", seed))
        expected_answers = Question(seed).answers_of_reference(rows)
        assert [pipe.recv() for pipe in processes] == [expected_answers, expected_answers], seed
