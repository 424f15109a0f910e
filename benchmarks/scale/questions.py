"""Slightly varying requests to a catalog, so that no response comes from a cache."""

import json
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Self

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


class Request(NamedTuple):
    """An HTTP request. The target is the path with the query string."""

    method: str
    target: str
    body: bytes


def ranking(number: int) -> Request:
    """Return the request for the top 20 by three criteria (W1) with weights that depend on `number`."""
    weights = {"ethical_score": 0.4, "technical_score": 0.4, "popularity_score": 0.2}
    return scoring_request({}, weights, number)


def filtered_ranking(number: int) -> Request:
    """Return the request for the top 20 by six criteria and four filters (W2) with weights that depend on `number`."""
    weights = {
        "ethical_score": 0.3,
        "technical_score": 0.2,
        "popularity_score": 0.1,
        "documentation": 0.1,
        "data_quality": 0.1,
        "year": 0.2,
    }
    return scoring_request(_FILTERS, weights, number)


def scoring_request(filters: dict[str, Any], weights: dict[str, float], number: int) -> Request:
    """Return a scoring request in which `number` slightly changes the weight of the ethical score."""
    varied_weights = {**weights, "ethical_score": weights["ethical_score"] + number * _WEIGHT_STEP}
    weight_list = [{"criterion_name": name, "weight": weight} for name, weight in varied_weights.items()]
    body = json.dumps({"filters": filters, "weights": weight_list}).encode()
    return Request("POST", "/api/v1/datasets/score?limit=20", body)


def get(path: str) -> Request:
    """Return the request for a path below `/api/v1/datasets/`."""
    return Request("GET", f"/api/v1/datasets/{path}", b"")


class QuestionSender:
    """Sends the requests of a user one after the other over the same connection."""

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
        """Send a request, and return the response body. An error response ends the run."""
        request_bytes = encode_request(request.method, request.target, request.body, token=self._token)
        self._socket.sendall(request_bytes)
        response = self._receive_response()

        headers, _, body = response.partition(b"\r\n\r\n")
        status_line, _, _ = headers.partition(b"\r\n")
        is_success = b" 20" in status_line
        if not is_success:
            raise SystemExit(f"{request.method} {request.target}: {status_line.decode()} {body[:300].decode()}")
        return body

    def _receive_response(self) -> bytes:
        """Return the next response with its headers."""
        response = bytearray()
        while not is_complete_response(response):
            chunk = self._socket.recv(MAX_READ_BYTES)
            if not chunk:
                raise SystemExit("the product closed the connection before the end of a response")
            response += chunk
        return bytes(response)

    def milliseconds(self, request: Request) -> float:
        """Return the milliseconds until the response to a request is complete."""
        began_at = time.perf_counter()
        self.ask(request)
        return (time.perf_counter() - began_at) * 1000


def medians_in_turn(senders: Sequence[QuestionSender], question: Callable[[int], Request], repeats: int) -> list[float]:
    """Return the median milliseconds of each sender. They alternate, so that other load affects all of them."""
    for sender in senders:
        sender.ask(question(0))

    times: list[list[float]] = [[] for _ in senders]
    for number in range(1, repeats + 1):
        for sender, sender_times in zip(senders, times, strict=True):
            sender_times.append(sender.milliseconds(question(number)))
    return [statistics.median(sender_times) for sender_times in times]
