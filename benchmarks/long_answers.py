"""A million items answered: streamed, as the product does it, beside one `msgspec.json.encode` of the same items.

Each way ranks the same records in a process of its own, behind the product's HTTP server, and is read over loopback, in
turns. Memory is how far a process's peak rises, at its first long answer, above what it held before.
`python -m benchmarks.long_answers [--items 1000000] [--rounds 5]`
"""

import argparse
import http.client
import itertools
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from benchmarks.catalogs import rows
from touchstone.core.settings import Settings
from touchstone.http import server
from touchstone.http.responses import JsonResponse
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import load_index, save_index
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES
from touchstone.services.selection.datasets.encoded_records import to_catalog_row
from touchstone.services.selection.datasets.ranking_response import RankingResult, encode_response
from touchstone.services.selection.datasets.scoring_request import RankingOptions
from touchstone.services.selection.datasets.store import ATTRIBUTE_NAMES, DatasetRecord

BLOCK = 10_000
MEMORY_GOAL, TIME_GOAL = 0.1, 1.0


def records(count: int) -> Iterator[CatalogRow]:
    """`count` different records, made in blocks."""
    numbers = itertools.count(1)
    for seed in range(-(-count // BLOCK)):
        for row in rows(min(BLOCK, count - seed * BLOCK), seed):
            yield to_catalog_row(record_of(row, next(numbers)))


def record_of(row: dict[str, Any], number: int) -> DatasetRecord:
    """Return the record of a database row under another number."""
    facts = {name: value for name, value in row.items() if name in DatasetRecord.__struct_fields__}
    attributes = {name: row[name] for name in ATTRIBUTE_NAMES}
    return DatasetRecord(**facts | {"id": number, "attributes": attributes, "content_bytes": 0})


async def streamed(ranking: RankingResult) -> Response:
    """The product's own answer."""
    return await encode_response(ranking, b"[", b"]", {})


async def one_shot(ranking: RankingResult) -> Response:
    """All items at once; a header tells what of the time is the encoder's alone."""
    items = ranking.items(ranking.ranked.positions, ranking.ranked.scores, 1)
    start = time.perf_counter()
    body = msgspec.json.encode(items)
    return JsonResponse(body, headers={"X-Encoding": str(time.perf_counter() - start)})


WAYS = {"streamed": streamed, "one-shot": one_shot}


class Ranked:
    """An application that answers with so many items as the path says, one of the two ways."""

    def __init__(self, view: View, way: str) -> None:
        self.view, self.way = view, WAYS[way]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Rank, then answer."""
        weights = PROFILES[DEFAULT_PROFILE].weights
        found = self.view.rank((), weights, skip=0, limit=int(scope["path"].strip("/")))
        response = await self.way(RankingResult(self.view, found, weights, RankingOptions(0, None, explain=False)))
        await response(scope, receive, send)


def serve(snapshot: Path, way: str) -> None:
    """Serve one way until told to stop; the first line says where."""
    view = Catalog.from_index(load_index(snapshot)[0]).view
    settings = Settings.load({"TOUCHSTONE_PORT": "0", "TOUCHSTONE_METRICS_PORT": "0"})
    opening = nullcontext(Ranked(view, way))
    server.run(server.serve(opening, settings, ready=lambda address: print(address, flush=True)))


class Answer(NamedTuple):
    """What a reader saw: seconds until the first item and until the end, bytes, and the encoder's own seconds."""

    first: float
    whole: float
    size: int
    encoding: float


class Way:
    """A process that answers one way."""

    def __init__(self, snapshot: Path, name: str) -> None:
        command = [sys.executable, "-m", "benchmarks.long_answers", "--serve", name, "--snapshot", str(snapshot)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.address = self.process.stdout.readline().strip().removeprefix("http://")
        self.asked(20)

    def asked(self, items: int) -> Answer:
        """Read the answer with so many items."""
        start = time.perf_counter()
        connection = http.client.HTTPConnection(self.address)
        connection.request("GET", f"/{items}")
        answer = connection.getresponse()
        begun = answer.read(2)
        first, size, buffer = time.perf_counter() - start, len(begun), bytearray(1 << 20)
        assert begun == b"[{"
        while taken := answer.readinto(buffer):
            size += taken
        whole = time.perf_counter() - start
        connection.close()
        return Answer(first, whole, size, float(answer.headers.get("X-Encoding", "nan")))

    def growth(self, items: int) -> float:
        """By how many MiB its peak rises above what it holds now, for one answer."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")  # the peak begins anew
        before = self._kib("VmRSS")
        self.asked(items)
        return (self._kib("VmHWM") - before) / 1024

    def _kib(self, name: str) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:"))

    def stop(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.wait(30)


def compare(snapshot: Path, items: int, rounds: int) -> None:
    """Print what each way costs."""
    ways = [Way(snapshot, name) for name in WAYS]
    growths = [way.growth(items) for way in ways]
    answers = [[way.asked(items) for way in ways] for _ in range(rounds)]
    for way in ways:
        way.stop()
    assert len({answer.size for pair in answers for answer in pair}) == 1
    seconds = [statistics.median(pair[way].whole for pair in answers) for way in (0, 1)]
    firsts = [statistics.median(pair[way].first for pair in answers) for way in (0, 1)]
    encoding = statistics.median(pair[1].encoding for pair in answers)
    ratio = statistics.median(ours.whole / other.whole for ours, other in answers)
    memory = growths[0] / growths[1]
    print(f"{items:,} items, {answers[0][0].size / 1e6:.0f} MB, median of {rounds} in turns\n")
    print("| | streamed | one-shot msgspec | ratio | wanted |\n|---|---:|---:|---:|---|")
    line("peak memory, MiB more", growths, memory, verdict(memory, MEMORY_GOAL))
    line("whole answer, s", seconds, ratio, verdict(ratio, TIME_GOAL))
    early = "pass" if firsts[0] < seconds[0] / 2 else "missed"
    line("first item read, s", firsts, firsts[0] / seconds[0], f"before the last is encoded: {early}")
    print(
        f"\nThe ratio of the first item is to the whole streamed answer. Of the one-shot answer `msgspec.json.encode`"
        f" itself takes {encoding:.2f} s; the rest is ranking, making the items and sending."
    )


def line(name: str, pair: list[float], ratio: float, wanted: str) -> None:
    """One line of the table."""
    print(f"| {name} | {pair[0]:.4g} | {pair[1]:.4g} | {ratio:.3f} | {wanted} |")


def verdict(value: float, goal: float) -> str:
    """Whether the goal has been reached."""
    return f"≤ {goal:g}: {'pass' if value <= goal else 'missed'}"


def main() -> None:
    """Make the records and compare; or serve, for the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--snapshot", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.serve:
        serve(wanted.snapshot, wanted.serve)
        return
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "index"
        catalog = Catalog.build(records(wanted.items), Layout(index_from=1))
        assert catalog.index
        save_index(snapshot, catalog.index, 1)
        del catalog
        compare(snapshot, wanted.items, wanted.rounds)


if __name__ == "__main__":
    main()
