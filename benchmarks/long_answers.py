"""Responses with a million items: streamed by the product, compared with one `msgspec.json.encode` call.

Two processes rank the same records behind the HTTP server of the product, and answer alternately over the loopback
interface. Additional memory is the difference between the peak memory of a process during its first long answer and
what it used before.
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
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from benchmarks.catalogs import generate_dataset_rows
from touchstone.core.settings import Settings
from touchstone.http import server
from touchstone.http.responses import JsonResponse
from touchstone.ranking.catalog.catalog import Catalog, Layout
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.index.snapshot_file import map_snapshot
from touchstone.ranking.index.snapshot_writer import save_index
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES
from touchstone.services.selection.datasets.dataset_record import ATTRIBUTE_NAMES, DatasetRecord, RecordLabels
from touchstone.services.selection.datasets.encoded_records import to_catalog_row
from touchstone.services.selection.datasets.ranking_response import RankingResult, encode_response
from touchstone.services.selection.datasets.scoring_request import RankingOptions

BLOCK_ROWS: Final = 10_000
MEMORY_TARGET: Final = 0.1
TIME_TARGET: Final = 1.0
WARM_UP_ITEMS: Final = 20
READ_BYTES: Final = 1 << 20
STOP_SECONDS: Final = 30.0
ENCODING_HEADER: Final = "X-Encoding-Seconds"


def generate_catalog_rows(count: int) -> Iterator[CatalogRow]:
    """Yield `count` different records, generated in blocks to limit the memory use."""
    numbers = itertools.count(1)
    block_starts = range(0, count, BLOCK_ROWS)
    for seed, block_start in enumerate(block_starts):
        block_rows = min(BLOCK_ROWS, count - block_start)
        for row in generate_dataset_rows(block_rows, seed):
            yield to_catalog_row(to_record(row, next(numbers)))


def to_record(row: dict[str, Any], number: int) -> DatasetRecord:
    """Convert a database row to a record with another id."""
    fields = {name: value for name, value in row.items() if name in DatasetRecord.__struct_fields__}
    fields |= {"id": number, "attributes": {name: row[name] for name in ATTRIBUTE_NAMES}, "content_bytes": 0}
    return DatasetRecord(**fields, labels=RecordLabels.from_metadata(row["metadata"]))


async def stream_response(ranking: RankingResult) -> Response:
    """Return the product's own response."""
    return await encode_response(ranking, b"[", b"]", {})


async def encode_at_once(ranking: RankingResult) -> Response:
    """Return a response with items encoded at once, and the seconds of the encoder in a header."""
    items = ranking.items(ranking.ranked.records())
    started_at = time.perf_counter()
    body = msgspec.json.encode(items)
    encoding_seconds = time.perf_counter() - started_at
    return JsonResponse(body, headers={ENCODING_HEADER: str(encoding_seconds)})


STREAMED: Final = "streamed"
ONE_SHOT: Final = "one-shot"
RESPONDERS: Final[dict[str, Callable[[RankingResult], Awaitable[Response]]]] = {
    STREAMED: stream_response,
    ONE_SHOT: encode_at_once,
}


class RankingApp:
    """An ASGI application that responds to `GET /1000` with the best 1000 items."""

    def __init__(self, view: View, responder_name: str) -> None:
        self.view = view
        self.respond = RESPONDERS[responder_name]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Rank the records by the default weights, and send as many items as the path says."""
        weights = PROFILES[DEFAULT_PROFILE].weights
        item_count = int(scope["path"].strip("/"))
        ranked = self.view.rank((), weights, skip=0, limit=item_count)

        ranking = RankingResult(self.view, ranked, weights, RankingOptions(0, None, explain=False))
        response = await self.respond(ranking)
        await response(scope, receive, send)


def serve(snapshot: Path, responder_name: str) -> None:
    """Serve answers of one kind until a signal arrives, after printing the address on the first line."""
    view = Catalog.from_index(map_snapshot(snapshot).index).view
    settings = Settings.load({"TOUCHSTONE_PORT": "0", "TOUCHSTONE_METRICS_PORT": "0"})
    open_app = nullcontext(RankingApp(view, responder_name))
    server.run(server.serve(open_app, settings, ready=lambda address: print(address, flush=True)))


@dataclass(frozen=True, slots=True)
class Answer:
    """The measurements of one answer, in seconds since the request.

    `encoding_seconds` is what the encoder alone took, or NaN if the answer was streamed.
    """

    first_item_seconds: float
    total_seconds: float
    size_bytes: int
    encoding_seconds: float


class AnsweringProcess:
    """A process that encodes its answers in one of the two ways, until the end of a `with` block."""

    def __init__(self, snapshot: Path, responder_name: str) -> None:
        arguments = ["--serve", responder_name, "--snapshot", str(snapshot)]
        command = [sys.executable, "-m", "benchmarks.long_answers", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.address = self.process.stdout.readline().strip().removeprefix("http://")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(STOP_SECONDS)

    def read_answer(self, item_count: int) -> Answer:
        """Request the given number of items, read the whole answer, and return its measurements."""
        asked_at = time.perf_counter()
        connection = http.client.HTTPConnection(self.address)
        connection.request("GET", f"/{item_count}")
        response = connection.getresponse()

        beginning = response.read(2)
        first_item_seconds = time.perf_counter() - asked_at
        assert beginning == b"[{"

        size_bytes = len(beginning)
        buffer = bytearray(READ_BYTES)
        while read_bytes := response.readinto(buffer):
            size_bytes += read_bytes
        total_seconds = time.perf_counter() - asked_at

        connection.close()
        encoding_seconds = float(response.headers.get(ENCODING_HEADER, "nan"))
        return Answer(first_item_seconds, total_seconds, size_bytes, encoding_seconds)

    def measure_memory_growth(self, item_count: int) -> float:
        """Return the increase of the process's peak memory for one answer in MiB."""
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")  # resets the peak
        size_before = self._memory_kib("VmRSS")
        self.read_answer(item_count)
        return (self._memory_kib("VmHWM") - size_before) / 1024

    def _memory_kib(self, name: str) -> int:
        """Return a figure about the memory of the process, in KiB."""
        status_lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in status_lines if line.startswith(f"{name}:"))


def compare(snapshot: Path, item_count: int, rounds: int) -> None:
    """Read long answers from both processes alternately, and print the table."""
    with (
        AnsweringProcess(snapshot, STREAMED) as streaming_process,
        AnsweringProcess(snapshot, ONE_SHOT) as one_shot_process,
    ):
        for process in (streaming_process, one_shot_process):
            process.read_answer(WARM_UP_ITEMS)
        streamed_growth = streaming_process.measure_memory_growth(item_count)
        one_shot_growth = one_shot_process.measure_memory_growth(item_count)

        streamed_answers = []
        one_shot_answers = []
        for _ in range(rounds):
            streamed_answers.append(streaming_process.read_answer(item_count))
            one_shot_answers.append(one_shot_process.read_answer(item_count))

    sizes = {answer.size_bytes for answer in (*streamed_answers, *one_shot_answers)}
    assert len(sizes) == 1, "the two ways differ"
    print(f"{item_count:,} items, {sizes.pop() / 1e6:.0f} MB, median of {rounds} alternating answers\n")
    print("| | streamed | one-shot msgspec | ratio | target |\n|---|---:|---:|---:|---|")

    memory_ratio = streamed_growth / one_shot_growth
    print_row(
        "additional peak memory, MiB",
        streamed_growth,
        one_shot_growth,
        memory_ratio,
        verdict(memory_ratio, MEMORY_TARGET),
    )
    print_times(streamed_answers, one_shot_answers)


def print_times(streamed_answers: list[Answer], one_shot_answers: list[Answer]) -> None:
    """Print table rows with the times of whole answers, of first items and of the encoder."""
    streamed_total = statistics.median(answer.total_seconds for answer in streamed_answers)
    one_shot_total = statistics.median(answer.total_seconds for answer in one_shot_answers)
    total_ratio = statistics.median(
        streamed_answer.total_seconds / one_shot_answer.total_seconds
        for streamed_answer, one_shot_answer in zip(streamed_answers, one_shot_answers, strict=True)
    )
    print_row("whole answer, s", streamed_total, one_shot_total, total_ratio, verdict(total_ratio, TIME_TARGET))

    streamed_first = statistics.median(answer.first_item_seconds for answer in streamed_answers)
    one_shot_first = statistics.median(answer.first_item_seconds for answer in one_shot_answers)
    early_verdict = "pass" if streamed_first < streamed_total / 2 else "missed"
    target = f"before the last is encoded: {early_verdict}"
    print_row("first item read, s", streamed_first, one_shot_first, streamed_first / streamed_total, target)

    encoding_seconds = statistics.median(answer.encoding_seconds for answer in one_shot_answers)
    print(
        "\nThe last ratio compares the first item with the whole streamed answer. `msgspec.json.encode` itself takes"
        f" {encoding_seconds:.2f} s of the one-shot answer; the rest is ranking, creating the items and sending."
    )


def print_row(name: str, streamed_value: float, one_shot_value: float, ratio: float, target: str) -> None:
    """Print a row of the table."""
    print(f"| {name} | {streamed_value:.4g} | {one_shot_value:.4g} | {ratio:.3f} | {target} |")


def verdict(ratio: float, target: float) -> str:
    """Return the table cell with the target of a ratio, and whether the ratio reaches it."""
    return f"≤ {target:g}: {'pass' if ratio <= target else 'missed'}"


def main() -> None:
    """Build a catalog and run the comparison, or serve one of its two variants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve", choices=RESPONDERS, help=argparse.SUPPRESS)
    parser.add_argument("--snapshot", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.snapshot, options.serve)
        return

    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "index"
        catalog = Catalog.build(generate_catalog_rows(options.items), Layout(index_from=1))
        assert catalog.index
        save_index(snapshot, catalog.index, 1)
        del catalog  # this process needs no memory while it measures other ones
        compare(snapshot, options.items, options.rounds)


if __name__ == "__main__":
    main()
