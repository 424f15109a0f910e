"""Tests whether response times reveal records, projects, jobs, files or sessions of other users.

One user owns private resources. Another user asks for them, and for ids that never existed, in random order over one
connection. The figure is the area under the ROC curve (AUC) of a decision between the two by the time of one response.
It is 0.5 for a guess. The responses must also be identical, except for the time and the request id.
`python -m benchmarks.side_channels [--samples 2000] [--routes PATCH train …] [--database URL]`
"""

import argparse
import json
import random
import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx2
import numpy as np
from numpy.typing import NDArray

from benchmarks.product_server import User, register_user, running_product
from benchmarks.raw_http import MAX_READ_BYTES, encode_request, host_and_port, is_complete_response

API: Final = "/api/v1"
TOLERANCE: Final = 0.05
OWNED_RESOURCES: Final = 40  # resources of each kind that the owner has
OWNED_JOBS: Final = 4  # fewer, because a job is only accepted after its table has been read
NOTE_CHARACTERS: Final = 60_000  # large records make a difference in time easier to notice
WARM_UP_REQUESTS: Final = 50
SEED: Final = 7
_VARYING_HEADERS: Final = re.compile(rb"\r\n(date|x-request-id):[^\r]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids of one kind: the owner's resources, and the same number of ids that never existed."""

    foreign: list[Any]
    missing: list[Any]

    @classmethod
    def from_uuids(cls, foreign: list[Any]) -> "Ids":
        """Create ids from existing UUIDs and random UUIDs that nothing has."""
        return cls(foreign=foreign, missing=[str(uuid4()) for _ in range(OWNED_RESOURCES)])


@dataclass(frozen=True, slots=True)
class Route:
    """A request for a resource. The id replaces `{}` in the path, or is the argument of `body`."""

    name: str
    ids: Ids
    method: str
    path: str
    body: Callable[[Any], Any] | None = None

    def request(self, identifier: Any, token: str) -> bytes:
        """Return the bytes of one request about an id."""
        content = b"" if self.body is None else json.dumps(self.body(identifier)).encode()
        return encode_request(self.method, f"{API}{self.path.format(identifier)}", content, token=token)


class TimedConnection:
    """A persistent connection that measures response times."""

    def __init__(self, address: str) -> None:
        self._socket = socket.create_connection(host_and_port(address))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, request: bytes) -> tuple[int, bytes]:
        """Send a request, and return the nanoseconds until its whole response has come, and the response."""
        response = b""
        sent_at = time.perf_counter_ns()
        self._socket.sendall(request)
        while not is_complete_response(response):
            chunk = self._socket.recv(MAX_READ_BYTES)
            if not chunk:
                raise ConnectionResetError
            response += chunk

        return time.perf_counter_ns() - sent_at, response


def area_under_curve(missing_times: NDArray[np.int64], foreign_times: NDArray[np.int64]) -> float:
    """Return the probability that a foreign id takes longer than a missing one. Equal times count half.

    This is the area under the ROC curve of guessing from one response time which of the two an id is.
    """
    sorted_missing_times = np.sort(missing_times)
    shorter_counts = np.searchsorted(sorted_missing_times, foreign_times, side="left")
    shorter_or_equal_counts = np.searchsorted(sorted_missing_times, foreign_times, side="right")

    mean_count = (shorter_counts + shorter_or_equal_counts).mean() / 2
    return float(mean_count / len(missing_times))


@dataclass(frozen=True, slots=True)
class Measurement:
    """How well the two kinds of ids of one route can be told apart."""

    auc: float
    median_difference_microseconds: float
    has_equal_responses: bool

    def print_row(self, route_name: str) -> None:
        """Print this measurement as a row of the table."""
        is_guess = abs(self.auc - 0.5) <= TOLERANCE
        verdict = "pass" if is_guess and self.has_equal_responses else "missed"
        equality = "identical" if self.has_equal_responses else "different"

        difference = f"{self.median_difference_microseconds:14.1f} µs"
        print(f"| {route_name:24} | {self.auc:5.3f} | {difference} | {equality} | {verdict} |", flush=True)


def measure(connection: TimedConnection, route: Route, token: str, samples: int) -> Measurement:
    """Ask for foreign and for missing ids in random order, `samples` times each, and compare the responses."""
    generator = random.Random(SEED)
    ids_by_kind = (route.ids.missing, route.ids.foreign)
    for number in range(WARM_UP_REQUESTS):
        identifier = generator.choice(ids_by_kind[number % 2])
        connection.send(route.request(identifier, token))

    is_foreign = np.repeat([0, 1], samples)
    np.random.default_rng(SEED).shuffle(is_foreign)
    times: NDArray[np.int64] = np.empty(len(is_foreign), np.int64)
    responses: set[bytes] = set()
    for index, kind in enumerate(is_foreign):
        identifier = generator.choice(ids_by_kind[kind])
        times[index], response = connection.send(route.request(identifier, token))

        # Values that vary from response to response, and the id itself, reveal nothing.
        response = _VARYING_HEADERS.sub(b"", response)
        responses.add(response.replace(str(identifier).encode(), b"?"))

    missing_times = times[is_foreign == 0]
    foreign_times = times[is_foreign == 1]
    median_difference = float(np.median(foreign_times) - np.median(missing_times))
    return Measurement(
        auc=area_under_curve(missing_times, foreign_times),
        median_difference_microseconds=median_difference / 1000,
        has_equal_responses=len(responses) == 1,
    )


def create_records(owner: httpx2.Client) -> tuple[Ids, Ids]:
    """Create private records, and return their numbers and their UUIDs."""
    body = {
        "name": "private",
        "description": "d",
        "file_path": "none.csv",
        "file_type": "csv",
        "visibility": "private",
        "metadata": {"note": "x" * NOTE_CHARACTERS},
    }
    records = [owner.post("/datasets/", json=body).raise_for_status().json() for _ in range(OWNED_RESOURCES)]

    first_missing_number = records[-1]["id"] + 1
    missing_numbers = list(range(first_missing_number, first_missing_number + OWNED_RESOURCES))
    numbers = Ids(foreign=[record["id"] for record in records], missing=missing_numbers)
    return numbers, Ids.from_uuids([record["dataset_id"] for record in records])


def create_projects(owner: httpx2.Client) -> Ids:
    """Create projects, and return their ids."""
    project = {"name": "private", "choice_reason": "r"}
    projects = [owner.post("/projects", json=project).raise_for_status().json() for _ in range(OWNED_RESOURCES)]
    return Ids.from_uuids([project["id"] for project in projects])


def upload_files(owner: httpx2.Client) -> Ids:
    """Upload small files, and return their ids."""
    content = b"a,b\n1,2\n"
    files = [owner.post("/files?name=t.csv", content=content).raise_for_status().json() for _ in range(OWNED_RESOURCES)]
    return Ids.from_uuids([file["id"] for file in files])


def create_jobs(owner: httpx2.Client, table: Any) -> Ids:
    """Start trainings and cancel all except the first, so that none runs during the measurements."""
    request = {"dataset_id": table["id"], "target": table["metadata"]["target"], "budget": {"max_trials": 1}}

    job_ids: list[str] = []
    while len(job_ids) < OWNED_JOBS:
        response = owner.post("/ml/train", json=request)
        if response.status_code == 503:  # the part that looks into the table is still starting
            time.sleep(1)
            continue

        job_ids.append(response.raise_for_status().json()["id"])
        if len(job_ids) > 1:
            owner.post(f"/ml/jobs/{job_ids[-1]}/cancel").raise_for_status()

    while not all(owner.get(f"/ml/jobs/{job_id}").raise_for_status().json()["done"] for job_id in job_ids):
        time.sleep(0.5)
    return Ids.from_uuids(job_ids)


def all_routes(owner: httpx2.Client) -> Iterator[Route]:
    """Create resources of every kind, and yield all routes with their ids."""
    records = owner.get("/datasets/?limit=1000").raise_for_status().json()
    table = next(record for record in records if "target" in (record["metadata"] or {}))
    numbers, uuids = create_records(owner)
    projects = create_projects(owner)
    files = upload_files(owner)
    jobs = create_jobs(owner, table)
    session_id = owner.get("/users/me/sessions").raise_for_status().json()[0]["id"]

    yield from dataset_routes("id", numbers)
    yield from dataset_routes("UUID", uuids)
    yield from project_routes(projects, numbers, table["id"])
    yield from job_routes(jobs, projects)
    yield Route("DELETE file", files, "DELETE", "/files/{}")
    yield Route("DELETE session", Ids.from_uuids([session_id]), "DELETE", "/users/me/sessions/{}")


def dataset_routes(id_kind: str, ids: Ids) -> Iterator[Route]:
    """Yield the routes with the id of a record, which is a number or a UUID."""
    claim = {"attribute": "transparency", "value": True}

    yield Route(f"GET dataset by {id_kind}", ids, "GET", "/datasets/{}")
    yield Route(f"GET evidence by {id_kind}", ids, "GET", "/datasets/{}/evidence")
    yield Route(f"claim by {id_kind}", ids, "POST", "/datasets/{}/evidence", lambda _: claim)
    yield Route(f"export by {id_kind}", ids, "GET", "/datasets/{}/export?format=croissant")
    yield Route(f"lifts by {id_kind}", ids, "POST", "/datasets/{}/lifts", lambda _: {})
    yield Route(f"PATCH dataset by {id_kind}", ids, "PATCH", "/datasets/{}", lambda _: {"year": 2000})
    yield Route(f"DELETE dataset by {id_kind}", ids, "DELETE", "/datasets/{}")
    yield Route(f"train by {id_kind}", ids, "POST", "/ml/train", lambda id_: {"dataset_id": id_, "target": "x"})
    yield Route(f"explain by {id_kind}", ids, "POST", "/xai/explain", lambda id_: {"dataset_id": id_})


def project_routes(projects: Ids, record_numbers: Ids, table_id: int) -> Iterator[Route]:
    """Yield the routes with the id of a project, or of the record chosen in a project."""
    project = {"name": "x"}
    training = {"dataset_id": table_id, "target": "x"}
    snapshot_path = f"/projects/{{}}/snapshots/{uuid4()}"

    yield Route("project choice", record_numbers, "POST", "/projects", lambda id_: project | {"chosen_dataset_id": id_})
    yield Route("GET project", projects, "GET", "/projects/{}")
    yield Route("PUT project", projects, "PUT", "/projects/{}", lambda _: project)
    yield Route("DELETE project", projects, "DELETE", "/projects/{}")
    yield Route("recommendations", projects, "GET", "/projects/{}/recommendations")
    yield Route("choices of project", projects, "GET", "/projects/{}/choices")
    yield Route("snapshots of project", projects, "GET", "/projects/{}/snapshots")
    yield Route("freeze project", projects, "POST", "/projects/{}/snapshots", lambda _: {"limit": 5})
    yield Route("GET snapshot", projects, "GET", snapshot_path)
    yield Route("DELETE snapshot", projects, "DELETE", snapshot_path)
    yield Route("replay snapshot", projects, "GET", f"{snapshot_path}/replay")
    yield Route("report on project", projects, "GET", "/projects/{}/report?format=json")
    yield Route("jobs of project", projects, "GET", "/projects/{}/jobs")
    yield Route("train in project", projects, "POST", "/ml/train", lambda id_: training | {"project_id": id_})


def job_routes(jobs: Ids, projects: Ids) -> Iterator[Route]:
    """Yield the routes with the id of a job, and the list of a project's jobs."""
    yield Route("GET job", jobs, "GET", "/ml/jobs/{}")
    yield Route("cancel job", jobs, "POST", "/ml/jobs/{}/cancel")
    yield Route("DELETE job", jobs, "DELETE", "/ml/jobs/{}")
    yield Route("events of job", jobs, "GET", "/ml/jobs/{}/events")
    yield Route("artifact of job", jobs, "GET", "/ml/jobs/{}/artifacts/model.skops")
    yield Route("predict", jobs, "POST", "/ml/jobs/{}/predict", lambda _: {"rows": [{"number": 1}]})
    yield Route("explain job", jobs, "POST", "/xai/explain", lambda id_: {"job_id": id_})
    yield Route("list jobs of project", projects, "GET", "/ml/jobs?project_id={}")


def print_table(address: str, owner: User, stranger: User, options: argparse.Namespace) -> None:
    """Measure each route as the stranger, and print a row for it."""
    print(f"{options.samples} samples of each class, target: AUC 0.5 ± {TOLERANCE} and the same bytes\n")
    print(f"| {'':24} |   AUC | median difference | bytes     |        |\n|---|---:|---:|---|---|")

    with httpx2.Client(base_url=f"{address}{API}", headers=owner.headers, timeout=60) as owner_client:
        for route in all_routes(owner_client):
            is_selected = not options.routes or any(part in route.name for part in options.routes)
            if is_selected:
                measurement = measure(TimedConnection(address), route, stranger.token, options.samples)
                measurement.print_row(route.name)


def main() -> None:
    """Start the product with its demo catalog, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000, help="samples of each class for each route")
    parser.add_argument("--routes", nargs="*", default=[], help="only the routes whose names contain one of these")
    parser.add_argument("--database", help="URL of an empty database; by default SQLite")
    options = parser.parse_args()

    settings = {"demo": "true", "access_token_seconds": "86400"}
    if options.database:
        settings["database_url"] = options.database

    with running_product(record_count=0, **settings) as product:
        owner = register_user(product.address, "owner@example.org")
        stranger = register_user(product.address, "stranger@example.org")
        print_table(product.address, owner, stranger, options)


if __name__ == "__main__":
    main()
