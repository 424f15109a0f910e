"""What response times reveal about the records, projects, jobs, files and sessions of other users.

One user owns private things; another asks for them, and for ids that never existed, in random order over one
connection. The figure is the area under the ROC curve (AUC) of telling the two apart by the time of one response: 0.5
is a guess. The answers must also be the same bytes, apart from the clock and the request id.
`python -m benchmarks.side_channels [--samples 2000] [--routes PATCH train …] [--database URL]`
"""

import argparse
import json
import random
import re
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx2
import numpy as np
from numpy.typing import NDArray

from benchmarks.serving import LENGTH, Server, free_port

API: Final = "/api/v1"
TOLERANCE: Final = 0.05
OWNED: Final = 40  # things of each kind that the owner has
JOBS: Final = 4  # fewer of these: each is accepted only after a look into its table
WARM_UP: Final = 50
PASSWORD: Final = "a long enough one"
_VARYING: Final = re.compile(rb"\r\n(date|x-request-id):[^\r]*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids of one kind: those of the owner's things, and as many that never existed."""

    foreign: list[Any]
    missing: list[Any]


@dataclass(frozen=True, slots=True)
class Route:
    """One way to name a thing: method, path and body; `{}` in the path, or the argument of `body`, is the id."""

    name: str
    ids: Ids
    method: str
    path: str
    body: Callable[[Any], Any] | None = None

    def request(self, identifier: Any, token: str) -> bytes:
        """Return the bytes of one request about an id."""
        content = b"" if self.body is None else json.dumps(self.body(identifier)).encode()
        lines = [
            f"{self.method} {API}{self.path.format(identifier)} HTTP/1.1",
            "Host: bench",
            f"Authorization: Bearer {token}",
            f"Content-Length: {len(content)}",
            *(["Content-Type: application/json"] if content else []),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode() + content


class Connection:
    """One kept connection that is asked and timed."""

    def __init__(self, address: str) -> None:
        host, port = address.removeprefix("http://").split(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Send a request; return the nanoseconds until its whole answer has come, and the answer."""
        received = b""
        start = time.perf_counter_ns()
        self._socket.sendall(request)
        while not _is_whole(received):
            chunk = self._socket.recv(65536)
            if not chunk:
                raise ConnectionResetError
            received += chunk
        return time.perf_counter_ns() - start, received


def _is_whole(received: bytes) -> bool:
    end = received.find(b"\r\n\r\n")
    length = LENGTH.search(received, 0, end) if end >= 0 else None
    return length is not None and len(received) >= end + 4 + int(length[1])


def area(missing: NDArray[np.int64], foreign: NDArray[np.int64]) -> float:
    """Return the probability that a foreign id takes longer than a missing one; ties count half."""
    ordered = np.sort(missing)
    below = np.searchsorted(ordered, foreign, "left") + np.searchsorted(ordered, foreign, "right")
    return float(below.mean() / 2 / len(missing))


def measure(connection: Connection, route: Route, token: str, samples: int) -> tuple[float, float, bool]:
    """Return the AUC, the difference of the medians in µs, and whether all answers were the same bytes."""
    classes = np.repeat([0, 1], samples)
    np.random.default_rng(7).shuffle(classes)
    choice = random.Random(7)
    groups = (route.ids.missing, route.ids.foreign)
    for turn in range(WARM_UP):
        connection.ask(route.request(choice.choice(groups[turn % 2]), token))
    times: NDArray[np.int64] = np.empty(len(classes), np.int64)
    answers: set[bytes] = set()
    for index, kind in enumerate(classes):
        identifier = choice.choice(groups[kind])
        times[index], answer = connection.ask(route.request(identifier, token))
        answers.add(_VARYING.sub(b"", answer).replace(str(identifier).encode(), b"?"))
    missing, foreign = times[classes == 0], times[classes == 1]
    difference = float(np.median(foreign) - np.median(missing)) / 1000
    return area(missing, foreign), difference, len(answers) == 1


def sign_in(address: str, email: str) -> httpx2.Client:
    """Return a client that is signed in as a new user."""
    client = httpx2.Client(base_url=f"{address}{API}", timeout=60)
    client.post("/auth/register", json={"email": email, "password": PASSWORD}).raise_for_status()
    answer = client.post("/auth/login", data={"username": email, "password": PASSWORD}).raise_for_status()
    client.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    return client


def _records(owner: httpx2.Client) -> tuple[Ids, Ids]:
    body = {"name": "private", "description": "d", "file_path": "none.csv", "file_type": "csv"}
    body |= {"visibility": "private", "metadata": {"note": "x" * 60_000}}
    made = [owner.post("/datasets/", json=body).raise_for_status().json() for _ in range(OWNED)]
    last = made[-1]["id"]
    numbers = Ids([record["id"] for record in made], [last + 1 + number for number in range(OWNED)])
    return numbers, Ids([record["dataset_id"] for record in made], _uuids())


def _uuids() -> list[str]:
    return [str(uuid4()) for _ in range(OWNED)]


def _projects(owner: httpx2.Client) -> Ids:
    made = [owner.post("/projects", json={"name": "private"}).raise_for_status().json() for _ in range(OWNED)]
    return Ids([project["id"] for project in made], _uuids())


def _files(owner: httpx2.Client) -> Ids:
    made = [owner.post("/files?name=t.csv", content=b"a,b\n1,2\n").raise_for_status().json() for _ in range(OWNED)]
    return Ids([file["id"] for file in made], _uuids())


def _jobs(owner: httpx2.Client, table: Any) -> Ids:
    """Start trainings and cancel all but the first, so that nothing runs beside the measuring."""
    order = {"dataset_id": table["id"], "target": table["metadata"]["target"], "budget": {"max_trials": 1}}
    identifiers: list[str] = []
    while len(identifiers) < JOBS:
        answer = owner.post("/ml/train", json=order)
        if answer.status_code == 503:  # the part that looks into the table is still starting
            time.sleep(1)
            continue
        identifiers.append(answer.raise_for_status().json()["id"])
        if len(identifiers) > 1:
            owner.post(f"/ml/jobs/{identifiers[-1]}/cancel").raise_for_status()
    while not all(owner.get(f"/ml/jobs/{identifier}").raise_for_status().json()["done"] for identifier in identifiers):
        time.sleep(0.5)
    return Ids(identifiers, _uuids())


def routes(owner: httpx2.Client) -> Iterator[Route]:
    """Yield every route that takes the id of a record, project, job, file or session."""
    listed = owner.get("/datasets/?limit=1000").raise_for_status().json()
    table = next(record for record in listed if "target" in (record["metadata"] or {}))
    numbers, uuids = _records(owner)
    projects, files, jobs = _projects(owner), _files(owner), _jobs(owner, table)
    session = owner.get("/users/me/sessions").raise_for_status().json()[0]["id"]
    for kind, ids in (("id", numbers), ("UUID", uuids)):
        yield Route(f"GET dataset by {kind}", ids, "GET", "/datasets/{}")
        yield Route(f"PATCH dataset by {kind}", ids, "PATCH", "/datasets/{}", lambda _: {"year": 2000})
        yield Route(f"DELETE dataset by {kind}", ids, "DELETE", "/datasets/{}")
        yield Route(f"train by {kind}", ids, "POST", "/ml/train", lambda i: {"dataset_id": i, "target": "x"})
        yield Route(f"explain by {kind}", ids, "POST", "/xai/explain", lambda i: {"dataset_id": i})
    choice = {"name": "x"}
    yield Route("project choice", numbers, "POST", "/projects", lambda i: choice | {"chosen_dataset_id": i})
    yield Route("GET project", projects, "GET", "/projects/{}")
    yield Route("PUT project", projects, "PUT", "/projects/{}", lambda _: choice)
    yield Route("DELETE project", projects, "DELETE", "/projects/{}")
    yield Route("recommendations", projects, "GET", "/projects/{}/recommendations")
    yield Route("jobs of project", projects, "GET", "/projects/{}/jobs")
    order = {"dataset_id": table["id"], "target": "x"}
    yield Route("train in project", projects, "POST", "/ml/train", lambda i: order | {"project_id": i})
    yield Route("GET job", jobs, "GET", "/ml/jobs/{}")
    yield Route("cancel job", jobs, "POST", "/ml/jobs/{}/cancel")
    yield Route("DELETE job", jobs, "DELETE", "/ml/jobs/{}")
    yield Route("events of job", jobs, "GET", "/ml/jobs/{}/events")
    yield Route("artifact of job", jobs, "GET", "/ml/jobs/{}/artifacts/model.skops")
    yield Route("predict", jobs, "POST", "/ml/jobs/{}/predict", lambda _: {"rows": [{"number": 1}]})
    yield Route("explain job", jobs, "POST", "/xai/explain", lambda i: {"job_id": i})
    yield Route("list jobs of project", projects, "GET", "/ml/jobs?project_id={}")
    yield Route("DELETE file", files, "DELETE", "/files/{}")
    yield Route("DELETE session", Ids([session], _uuids()), "DELETE", "/users/me/sessions/{}")


@contextmanager
def served(database: str | None) -> Iterator[Server]:
    """Run the whole product in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        address = f"http://127.0.0.1:{free_port()}"
        variables = {
            "TOUCHSTONE_DATA_DIR": folder,
            "TOUCHSTONE_PORT": address.rpartition(":")[2],
            "TOUCHSTONE_METRICS_PORT": "0",
            "TOUCHSTONE_LOG_LEVEL": "warning",
            "TOUCHSTONE_ACCESS_TOKEN_SECONDS": "86400",
            **({"TOUCHSTONE_DATABASE_URL": database} if database else {}),
        }
        server = Server([sys.executable, "-m", "touchstone", "serve"], variables, address)
        try:
            yield server
        finally:
            server.stop()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=2000, help="samples of each class, for each route")
    parser.add_argument("--routes", nargs="*", default=[], help="only the routes whose names contain one of these")
    parser.add_argument("--database", help="URL of an empty database; by default SQLite")
    options = parser.parse_args()
    with served(options.database) as server:
        owner, stranger = (sign_in(server.address, f"{name}@example.org") for name in ("owner", "stranger"))
        token = stranger.headers["Authorization"].removeprefix("Bearer ")
        print(f"{options.samples} samples of each class, wanted: AUC 0.5 ± {TOLERANCE} and the same bytes\n")
        print(f"| {'':24} |   AUC | median difference | bytes     |        |\n|---|---:|---:|---|---|")
        for route in routes(owner):
            if options.routes and not any(part in route.name for part in options.routes):
                continue
            auc, difference, same = measure(Connection(server.address), route, token, options.samples)
            verdict = "pass" if abs(auc - 0.5) <= TOLERANCE and same else "missed"
            identical = "identical" if same else "different"
            print(f"| {route.name:24} | {auc:5.3f} | {difference:14.1f} µs | {identical} | {verdict} |", flush=True)


if __name__ == "__main__":
    main()
