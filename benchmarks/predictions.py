"""The latency of predictions over HTTP for one row and for a thousand rows.

`python -m benchmarks predictions` trains a model of each algorithm, and one by the default search, on a table of the
demo catalog. For each model, it prints the time of the first prediction, which loads the model, and the median and the
95th percentile of further ones.
"""

import argparse
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import httpx2
import pandas as pd

from benchmarks.product_server import register_user, running_product
from touchstone.demo.packaged_records import tables_folder
from touchstone.learning.request_choices import ALGORITHMS

TABLE: Final = "south_german_credit.parquet"
TARGET: Final = "credit_risk"
SMALL_REQUESTS: Final = 200
LARGE_REQUESTS: Final = 30
LARGE_ROWS: Final = 1_000
JOB_SECONDS: Final = 600.0

Rows = list[dict[str, Any]]


def upload_table(client: httpx2.Client, path: Path) -> int:
    """Upload a table, register it as a dataset, and return the id of the dataset."""
    upload = client.post("/api/v1/files", params={"name": path.name}, content=path.read_bytes()).raise_for_status()
    record = {
        "name": path.name,
        "description": "",
        "file_type": path.suffix[1:],
        "file_path": upload.json()["file_path"],
    }
    dataset_id: int = client.post("/api/v1/datasets/", json=record).raise_for_status().json()["id"]
    return dataset_id


def train(client: httpx2.Client, dataset_id: int, target: str, algorithm: str | None) -> str:
    """Train a model of an algorithm, or by the default search if it is None, and return the path of its predictions."""
    body: dict[str, Any] = {"dataset_id": dataset_id, "target": target}
    if algorithm is not None:
        body |= {"algorithms": [algorithm], "budget": {"max_trials": 1}}

    address: str = client.post("/api/v1/ml/train", json=body).raise_for_status().headers["location"]
    client.get(f"{address}/events", timeout=JOB_SECONDS)  # ends with the job
    job = client.get(address).raise_for_status().json()
    assert job["status"] == "succeeded", job["error"]
    return f"{address}/predict"


def measure_milliseconds(client: httpx2.Client, path: str, requests: Sequence[Rows]) -> list[float]:
    """Send prediction requests one after the other, and return their durations."""
    durations = []
    for rows in requests:
        started_at = time.perf_counter()
        response = client.post(path, json={"rows": rows}).raise_for_status()
        durations.append((time.perf_counter() - started_at) * 1000)
        assert len(response.json()["predictions"]) == len(rows)
    return durations


def summarize(durations: list[float]) -> str:
    """Return the median and the 95th percentile of durations."""
    percentile_95 = statistics.quantiles(durations, n=20)[-1]
    return f"{statistics.median(durations):6.1f} / {percentile_95:6.1f}"


def main() -> None:
    """Print a table with one line per algorithm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, default=tables_folder() / TABLE, help="a CSV or Parquet file")
    parser.add_argument("--target", default=TARGET, help="the column to predict")
    parser.add_argument("--algorithm", action="append", help="only this algorithm (may be repeated)")
    options = parser.parse_args()

    read_file = pd.read_parquet if options.table.suffix == ".parquet" else pd.read_csv
    table = read_file(options.table).drop(columns=options.target).astype(object)
    cells = table.where(table.notna(), None).to_dict(orient="records")
    rows: Rows = [{str(name): cell for name, cell in row.items()} for row in cells]
    small_requests = [[rows[number % len(rows)]] for number in range(SMALL_REQUESTS)]
    large_request = [rows[number % len(rows)] for number in range(LARGE_ROWS)]

    algorithms = options.algorithm or [None, *(algorithm.name for algorithm in ALGORITHMS)]
    print("| algorithm | first, ms | 1 row, ms (median / 95 %) | 1,000 rows, ms (median / 95 %) |\n|---|---|---|---|")
    with running_product(0) as server:
        headers = register_user(server.address).headers
        with httpx2.Client(base_url=server.address, headers=headers, timeout=60) as client:
            dataset_id = upload_table(client, options.table)
            for algorithm in algorithms:
                path = train(client, dataset_id, options.target, algorithm)
                (first_duration,) = measure_milliseconds(client, path, small_requests[:1])
                small_durations = measure_milliseconds(client, path, small_requests)
                large_durations = measure_milliseconds(client, path, [large_request] * LARGE_REQUESTS)
                name = algorithm or "default search"
                print(
                    f"| {name} | {first_duration:6.1f} | {summarize(small_durations)} | {summarize(large_durations)} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
