"""Questions to a catalog over HTTP, each a little different from the one before, so that none comes from a cache."""

import json
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Self

from benchmarks.product_server import User
from benchmarks.raw_http import MAX_READ_BYTES, encode_request, host_and_port, is_complete_response

_TIMEOUT_SECONDS: Final = 300.0
_WEIGHT_STEP: Final = 1e-6
_FILTERS: Final = {
    "domain": ["health", "natural-language-processing"],
    "year_min": 2015,
    "instances_number_min": 1000,
    "ethical_score_min": 10,
}

Request = tuple[str, str, bytes]
"""The method, the target and the body of a request."""


def ranking(number: int) -> Request:
    """Return the request for the top 20 by three criteria (W1), with other weights for each number."""
    weights = {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}
    return _scoring_request({}, weights, number)


def filtered_ranking(number: int) -> Request:
    """Return the request for the top 20 by six criteria under four filters (W2), with other weights for each number."""
    weights = {
        "ethical_score": 0.3,
        "technical_score": 0.2,
        "popularity_score": 0.1,
        "documentation": 0.1,
        "data_quality": 0.1,
        "year": 0.2,
    }
    return _scoring_request(_FILTERS, weights, number)


def _scoring_request(filters: dict[str, Any], weights: dict[str, float], number: int) -> Request:
    """Return a scoring request in which the number changes the first weight a little."""
    varied_weights = {**weights, "ethical_score": weights["ethical_score"] + number * _WEIGHT_STEP}
    weight_list = [{"criterion_name": name, "weight": weight} for name, weight in varied_weights.items()]
    body = json.dumps({"filters": filters, "weights": weight_list}).encode()
    return "POST", "/api/v1/datasets/score?limit=20", body


def get(path: str) -> Request:
    """Return the request for a path below `/api/v1/datasets/`."""
    return "GET", f"/api/v1/datasets/{path}", b""


class QuestionSender:
    """A user who sends one question after the other on one connection."""

    def __init__(self, address: str, user: User) -> None:
        """Connect to the product."""
        self._token = user.token
        self._socket = socket.create_connection(host_and_port(address), _TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, request: Request) -> bytes:
        """Send a question, and return the body of the answer."""
        method, target, body = request
        self._socket.sendall(encode_request(method, target, body, token=self._token))

        response = bytearray()
        while not is_complete_response(response):
            chunk = self._socket.recv(MAX_READ_BYTES)
            if not chunk:
                raise SystemExit(f"{method} {target}: the connection ended")
            response += chunk

        headers, _, answer = bytes(response).partition(b"\r\n\r\n")
        status_line = headers.partition(b"\r\n")[0]
        if b" 20" not in status_line:
            raise SystemExit(f"{method} {target}: {status_line.decode()} {answer[:300].decode()}")
        return answer

    def milliseconds(self, request: Request) -> float:
        """Return how long the answer to a question takes."""
        began_at = time.perf_counter()
        self.ask(request)
        return (time.perf_counter() - began_at) * 1000


def medians_in_turn(senders: Sequence[QuestionSender], question: Callable[[int], Request], repeats: int) -> list[float]:
    """Return the median milliseconds of each sender, which ask in turn, so that a busy moment affects all of them."""
    for sender in senders:
        sender.ask(question(0))

    times: list[list[float]] = [[] for _ in senders]
    for number in range(1, repeats + 1):
        for sender, sender_times in zip(senders, times, strict=True):
            sender_times.append(sender.milliseconds(question(number)))
    return [statistics.median(sender_times) for sender_times in times]
