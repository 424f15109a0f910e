"""Overload: answers, latencies and refusals at multiples of the capacity, and fairness between users.

`python -m benchmarks.overload [--seconds 6] [--records 5000] [--limit 1000] [--loads 0.5 1 2 5 10]`. A load generator
in a separate process requests rankings of `--limit` places with full explanations from the whole product. Requests
arrive at random (Poisson) moments, whether or not earlier ones have been answered, each on an idle connection or a new
one. The capacity is the number of answers per second that four connections get that send without pauses, measured
directly before and after each load. "Normal" is the 99th percentile of the latencies at half of the capacity. Latencies
count from the arrival of a request, so a delay of the generator counts against the service.
"""

import argparse
import math
import statistics
import sys
import time
from dataclasses import dataclass
from typing import Final

from benchmarks.load_generator import GeneratorProcess, Outcome, Pattern
from benchmarks.product_server import ServerProcess, User, register_user, running_product
from benchmarks.raw_http import SCORE_BODY, encode_request

RANKING_PATH: Final = "/api/v1/datasets/score?explain=true&limit="
LIST_PATH: Final = "/api/v1/datasets/?page=1&page_size=20"
CAPACITY_CONNECTIONS: Final = 4
WARM_UP_SECONDS: Final = 2.0
GREEDY_CONNECTIONS: Final = 128
LIST_PAUSE_SECONDS: Final = 0.02
THROUGHPUT_TARGET: Final = 0.95
SLOWDOWN_TARGET: Final = 2.0
REFUSAL_TARGET_MILLISECONDS: Final = 20.0
RECOVERY_TARGET_SECONDS: Final = 1.0


@dataclass(frozen=True)
class LoadTest:
    """The product under load from one user, while another user requests lists."""

    server: ServerProcess
    greedy_user: User
    other_user: User
    ranking_limit: int

    @property
    def port(self) -> int:
        """The port of the product."""
        return int(self.server.address.rpartition(":")[2])

    @property
    def ranking_request(self) -> bytes:
        """The greedy user's request for a ranking with explanations."""
        return encode_request("POST", f"{RANKING_PATH}{self.ranking_limit}", SCORE_BODY, token=self.greedy_user.token)

    def apply(self, pattern: Pattern, *amounts: float) -> tuple[Outcome, float]:
        """Send rankings in a pattern, and return the outcome and the CPU seconds of the product."""
        cpu_seconds_before = self.server.cpu_seconds()
        outcome = GeneratorProcess(self.port, self.ranking_request, pattern, *amounts).wait()
        return outcome, self.server.cpu_seconds() - cpu_seconds_before

    def measure_capacity(self, seconds: float) -> float:
        """Return the answers per second of a few connections that send without pauses."""
        outcome, _ = self.apply(Pattern.CLOSED, CAPACITY_CONNECTIONS, seconds)
        return len(outcome.answers) / outcome.seconds


def print_loads(test: LoadTest, loads: list[float], seconds: float) -> None:
    """Measure the capacity and the normal latency, and print a row for each load, a multiple of the capacity."""
    test.apply(Pattern.CLOSED, CAPACITY_CONNECTIONS, WARM_UP_SECONDS)  # lets the product learn what requests cost

    full_load_outcome, cpu_seconds = test.apply(Pattern.CLOSED, CAPACITY_CONNECTIONS, seconds)
    answer_count = len(full_load_outcome.answers)
    capacity = answer_count / full_load_outcome.seconds
    half_load_outcome, _ = test.apply(Pattern.OPEN, capacity / 2, 2 * seconds)
    normal_milliseconds = percentile(half_load_outcome.answers, 0.99)
    median_milliseconds = statistics.median(half_load_outcome.answers)

    print(f"Capacity {capacity:.1f} answers a second ({1000 * cpu_seconds / answer_count:.1f} ms of CPU each);")
    print(f"at half of it p99 {normal_milliseconds:.0f} ms (normal), median {median_milliseconds:.0f} ms.\n")
    print("| load | requests | useful ÷ capacity | p99 admitted ÷ normal | p99 refused, ms | timeouts |", end="")
    print(" requests per CPU second | recovery, s |\n|---:|---:|---|---|---|---:|---:|---|")
    for load in loads:
        print_load(test, load, normal_milliseconds, seconds)


def print_load(test: LoadTest, load: float, normal_milliseconds: float, seconds: float) -> None:
    """Apply a load, and print its row. The capacity is measured directly before and after it."""
    capacity_before = test.measure_capacity(seconds / 2)
    outcome, cpu_seconds = test.apply(Pattern.OPEN, load * capacity_before, seconds)
    recovery, _ = test.apply(Pattern.RECOVERY, normal_milliseconds)
    capacity_after = test.measure_capacity(seconds / 2)
    capacity = statistics.mean((capacity_before, capacity_after))

    request_count = len(outcome.answers) + len(outcome.refusals) + outcome.timeouts
    answers_in_time = len(outcome.answers) - outcome.late_answers
    throughput = answers_in_time / outcome.seconds / capacity
    is_overload = load > 1
    cells = (
        f"{load:g}×",
        str(request_count),
        verdict(throughput, THROUGHPUT_TARGET, at_least=True) if is_overload else f"{throughput:.3g}",
        verdict(percentile(outcome.answers, 0.99) / normal_milliseconds, SLOWDOWN_TARGET),
        verdict(percentile(outcome.refusals, 0.99), REFUSAL_TARGET_MILLISECONDS),
        str(outcome.timeouts),
        f"{request_count / cpu_seconds:.0f}",
        verdict(recovery.seconds, RECOVERY_TARGET_SECONDS),
    )
    print(f"| {' | '.join(cells)} |", flush=True)

    response_counts = {status: len(latencies) for status, latencies in outcome.latencies.items()}
    print(f"  {response_counts}", file=sys.stderr)


def print_fairness(test: LoadTest, seconds: float) -> None:
    """Print the latencies of one user's lists during another user's load on many connections."""
    list_request = encode_request("GET", LIST_PATH, token=test.other_user.token)
    greedy_list_request = encode_request("GET", f"{LIST_PATH}&sort_by=dataset_name", token=test.greedy_user.token)
    greedy_requests = {"nothing": None, "rankings": test.ranking_request, "lists": greedy_list_request}

    print(f"\nOne user's list of 20 beside another user's {GREEDY_CONNECTIONS} connections that always ask:\n")
    print("| the other asks for | median, ms | p99, ms | refused |\n|---|---:|---:|---:|")
    for name, greedy_request in greedy_requests.items():
        greedy_load = None
        if greedy_request is not None:
            greedy_load = GeneratorProcess(test.port, greedy_request, Pattern.CLOSED, GREEDY_CONNECTIONS, seconds + 1)
        time.sleep(1)  # until the load has begun

        outcome = GeneratorProcess(test.port, list_request, Pattern.REGULAR, LIST_PAUSE_SECONDS, seconds - 1).wait()
        if greedy_load is not None:
            greedy_load.wait()

        median = percentile(outcome.answers, 0.5)
        percentile_99 = percentile(outcome.answers, 0.99)
        print(f"| {name} | {median:.1f} | {percentile_99:.1f} | {len(outcome.refusals)} |", flush=True)


def percentile(latencies: list[float], share: float) -> float:
    """Return the latency that this share of the requests did not exceed, or NaN if there are none."""
    if not latencies:
        return math.nan

    index = min(len(latencies) - 1, int(share * len(latencies)))
    return sorted(latencies)[index]


def verdict(value: float, target: float, *, at_least: bool = False) -> str:
    """Format a value and its verdict, or return a dash if nothing was measured."""
    if math.isnan(value):
        return "–"

    is_reached = value >= target if at_least else value <= target
    return f"{value:.3g} {'pass' if is_reached else 'missed'}"


def main() -> None:
    """Start the product over a new catalog, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=5000)
    parser.add_argument("--limit", type=int, default=1000, help="places of each ranking")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--loads", type=float, nargs="+", default=[0.5, 1, 2, 5, 10])
    options = parser.parse_args()

    with running_product(options.records, log_level="error") as server:
        greedy_user = register_user(server.address, "greedy@example.org")
        other_user = register_user(server.address, "other@example.org")
        test = LoadTest(server, greedy_user, other_user, ranking_limit=options.limit)
        print_loads(test, options.loads, options.seconds)
        print_fairness(test, options.seconds)


if __name__ == "__main__":
    main()
