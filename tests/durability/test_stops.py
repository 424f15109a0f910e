"""An orderly stop ends event streams, answers pending requests and returns running jobs to the queue."""

import http.client
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.serving_process import ServingProcess, sign_in

TRAINING_ORDER = {"target": "0", "budget": {"max_trials": 200, "max_runtime_seconds": 600}}
INTERNAL_KEY = "k" * 40


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return an empty data folder for a product."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


@contextmanager
def started(*processes: ServingProcess) -> Iterator[None]:
    """Run these processes during the block, and end them whatever happens."""
    with ExitStack() as stack:
        for process in processes:
            stack.callback(process.kill)
            process.start()
        yield


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


def job_progress(folder: Path) -> tuple[str, int, int]:
    """Return the state, the attempt and the losses of the only job."""
    with sqlite3.connect(folder / "touchstone.db") as connection:
        ((state, attempt, losses),) = connection.execute("SELECT status, attempt, losses FROM jobs").fetchall()
    connection.close()
    return state, attempt, losses


class Follower(threading.Thread):
    """A client that follows a job until its event stream ends."""

    def __init__(self, address: str, headers: dict[str, str], job_id: str) -> None:
        super().__init__()
        self.address, self.headers, self.job_id = address, headers, job_id
        self.received = ""

    def run(self) -> None:
        """Follow the event stream; if the connection breaks before its end, the thread fails."""
        with (
            httpx2.Client(base_url=self.address, headers=self.headers, timeout=60) as client,
            client.stream("GET", f"/api/v1/ml/jobs/{self.job_id}/events") as response,
        ):
            for text in response.iter_text():
                self.received += text
        self.received += "END"


def train(address: str, headers: dict[str, str]) -> str:
    """Start a training that takes longer than this test."""
    rows = "\n".join(f"{number % 2},{number},{number % 7},{number % 11}" for number in range(20_000))
    with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
        upload = client.post("/api/v1/files", files={"file": ("t.csv", f"0,a,b,c\n{rows}\n".encode())}).json()
        record = {"name": "t", "description": "d", "file_path": upload["file_path"], "file_type": "csv"}
        dataset = client.post("/api/v1/datasets/", json=record)
        assert dataset.status_code == 201, dataset.text
        job = client.post("/api/v1/ml/train", json={"dataset_id": dataset.json()["id"], **TRAINING_ORDER})
        assert job.status_code == 202, job.text
    return str(job.json()["id"])


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_gives_running_jobs_back(data: Path, signal_number: int) -> None:
    """The job is queued again without a loss, its event stream ends, and the next process continues with it."""
    server = ServingProcess(data, TOUCHSTONE_DEMO="false", TOUCHSTONE_DRAIN_SECONDS="30")
    with started(server):
        headers = sign_in(server.address)
        follower = Follower(server.address, headers, train(server.address, headers))
        follower.start()
        wait_until(lambda: "event: running" in follower.received)
        assert server.stop(signal_number) == 0
        follower.join(10)
        assert follower.received.endswith("END")
        assert job_progress(data) == ("queued", 1, 0)

    log_lines = data.with_name(f"{data.name}.log").read_text().splitlines()
    assert log_lines
    assert all(line.startswith("{") for line in log_lines), "a library wrote to the log"
    with started(server):
        wait_until(lambda: job_progress(data) == ("running", 2, 0))


def test_a_stop_is_not_cut_off_by_another(data: Path) -> None:
    """A program between a supervisor and the process may repeat the signal."""
    server = ServingProcess(data, TOUCHSTONE_DEMO="false")
    with started(server):
        headers = sign_in(server.address)
        train(server.address, headers)
        wait_until(lambda: job_progress(data) == ("running", 1, 0))
        assert server.process is not None
        while server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        assert server.process.returncode == 0
        assert job_progress(data) == ("queued", 1, 0)


def test_each_part_stops_in_good_order(data: Path) -> None:
    """A gateway that stops ends the event streams that it passes on, and a backend returns its jobs."""
    common_variables = {
        "TOUCHSTONE_DEMO": "false",
        "TOUCHSTONE_INTERNAL_KEY": INTERNAL_KEY,
        "TOUCHSTONE_DRAIN_SECONDS": "30",
    }
    selection = ServingProcess(data, "selection", **common_variables)
    with started(selection):
        training = ServingProcess(data, "training", **common_variables, TOUCHSTONE_SELECTION_URL=selection.address)
        with started(training):
            urls = {"TOUCHSTONE_SELECTION_URL": selection.address, "TOUCHSTONE_TRAINING_URL": training.address}
            gateway = ServingProcess(data, "gateway", **common_variables, **urls)
            with started(gateway):
                headers = sign_in(gateway.address)
                follower = Follower(gateway.address, headers, train(gateway.address, headers))
                follower.start()
                wait_until(lambda: "event: running" in follower.received)
                assert gateway.stop() == 0
                follower.join(10)
                assert follower.received.endswith("END")
                assert job_progress(data) == ("running", 1, 0)
                assert training.stop() == 0
                assert job_progress(data) == ("queued", 1, 0)


def test_a_stop_answers_whoever_is_connected(data: Path) -> None:
    """Idle connections may send one more request, and are told that it was the last one."""
    server = ServingProcess(data, TOUCHSTONE_DEMO="false")
    with started(server):
        host, port = server.address.removeprefix("http://").split(":")
        connections = [http.client.HTTPConnection(host, int(port), timeout=30) for _ in range(5)]
        for connection in connections:
            connection.request("GET", "/health/ready")
            response = connection.getresponse()
            assert (response.status, response.read()[:18]) == (200, b'{"status":"ready",')
            assert response.headers["connection"] is None

        assert server.process is not None
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        for connection in connections:
            connection.request("GET", "/health/ready")
            response = connection.getresponse()
            assert (response.status, response.headers["connection"]) == (503, "close")
            assert response.read() == b'{"status":"stopping","resources":{}}'
        assert server.process.wait(30) == 0


def test_a_restart_under_load_cuts_no_request(data: Path) -> None:
    """Clients that send requests without a pause get a complete response to each of them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
    server = ServingProcess(data, TOUCHSTONE_DEMO="false", TOUCHSTONE_PORT=port)
    with started(server):
        clients = [RepeatingClient(int(port)) for _ in range(10)]
        for client in clients:
            client.start()
        for _ in range(2):
            time.sleep(1)
            assert server.stop() == 0
            server.start()
        time.sleep(1)
        for client in clients:
            client.stop.set()
        for client in clients:
            client.join(30)
    assert [client.cut_count for client in clients] == [0] * len(clients)
    assert all(client.answered_count > 2 for client in clients)


class RepeatingClient(threading.Thread):
    """A client that repeats its request as soon as it gets the response, on the same connection if possible."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.port = port
        self.stop = threading.Event()
        self.answered_count = self.cut_count = 0

    def run(self) -> None:
        """Send requests until the end, and count how many were answered and how many were cut off."""
        while not self.stop.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                connection.connect()
            except OSError:
                time.sleep(0.05)  # between two processes: nothing was sent
                continue
            try:
                while connection.sock is not None and not self.stop.is_set():
                    connection.request("GET", "/health/live")
                    connection.getresponse().read()
                    self.answered_count += 1
            except (OSError, http.client.HTTPException):
                self.cut_count += 1
            connection.close()
