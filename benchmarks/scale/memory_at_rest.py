"""The memory of idle processes that serve a catalog."""

import time
from typing import Final

from benchmarks.product_server import READY_PATH, ServerProcess
from benchmarks.scale.measured_catalog import START_SECONDS, MeasuredCatalog, sign_in
from benchmarks.scale.memory import measure_memory
from benchmarks.scale.questions import QuestionSender, filtered_ranking, ranking
from benchmarks.scale.report import MEGABYTE, Figure, Target, print_figure, print_heading

_QUESTIONS: Final = 200
_REST_SECONDS: Final = 5.0  # a process releases memory for some seconds after its start
_PRIVATE_BYTES_PER_RECORD: Final = 140
_PRIVATE_FIXED_BYTES: Final = 250 * MEGABYTE
_MAPPED_BYTES_PER_RECORD: Final = 500
_SECOND_PROCESS_SHARE: Final = 20.0


def measure_memory_at_rest(catalog: MeasuredCatalog) -> None:
    """Print the memory of a process before and after requests, and the additional memory of a second process."""
    print_heading(f"Memory at rest, {catalog.label}")
    record_count = catalog.record_count
    private_target = Target((_PRIVATE_BYTES_PER_RECORD * record_count + _PRIVATE_FIXED_BYTES) / MEGABYTE)
    mapped_target = Target(_MAPPED_BYTES_PER_RECORD * record_count / MEGABYTE)

    with catalog.serving() as server:
        time.sleep(_REST_SECONDS)
        memory_before = measure_memory(server.process.pid, catalog.data_dir)
        print_figure(Figure("private, before any question", memory_before.private / MEGABYTE, "MB", "", private_target))

        _ask_questions(server)
        memory_after = measure_memory(server.process.pid, catalog.data_dir)
        print_figure(Figure("private, after questions", memory_after.private / MEGABYTE, "MB", "", private_target))
        print_figure(Figure("mapped files", memory_after.mapped / MEGABYTE, "MB", "", mapped_target))

        added_bytes = _added_bytes(catalog, server.process.pid, memory_after.proportional)
        added_share = 100 * added_bytes / memory_after.proportional
        print_figure(Figure("added by a second process", added_share, "%", "", Target(_SECOND_PROCESS_SHARE)))


def _ask_questions(server: ServerProcess) -> None:
    """Send rankings with and without filters, so that the product allocates its working memory."""
    with QuestionSender(server.address, sign_in(server)) as sender:
        for number in range(_QUESTIONS):
            sender.ask(ranking(number))
            sender.ask(filtered_ranking(number))


def _added_bytes(catalog: MeasuredCatalog, first_pid: int, bytes_of_first: int) -> int:
    """Return the additional memory of a second process."""
    second_server = catalog.launch()
    try:
        second_server.wait_until_ready(READY_PATH, START_SECONDS)
        time.sleep(_REST_SECONDS)
        processes = (first_pid, second_server.process.pid)
        both_bytes = sum(measure_memory(pid, catalog.data_dir).proportional for pid in processes)
        return both_bytes - bytes_of_first
    finally:
        second_server.stop()
