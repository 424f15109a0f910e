"""The slow sockets of `slow_clients.py`, in a separate process that starts quickly."""

import argparse
import contextlib
import json
import select
import socket
import time
from dataclasses import dataclass
from typing import Final

# An address of this machine that is not the one of the other users.
SLOW_ADDRESS: Final = "127.0.0.2"
DRIP_SECONDS: Final = 4.0
ATTACK_SECONDS: Final = 12.0
POLL_MILLISECONDS: Final = 100


@dataclass(frozen=True, slots=True)
class Slowness:
    """A kind of slow client: its first bytes, the bytes every four seconds, and its receive limit."""

    first_bytes: bytes
    drip: bytes
    receive_buffer_bytes: int = 0  # 0 for the size that the system chooses


KINDS: Final = {
    "headers": Slowness(b"GET / HTTP/1.1\r\nHost: bench\r\nX-Slow: ", b"a"),
    "body": Slowness(b"POST /api/v1/auth/login HTTP/1.1\r\nHost: bench\r\nContent-Length: 1000\r\n\r\n", b"a"),
    "unread answer": Slowness(b"GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: bench\r\n\r\n", b"", 4096),
    "second request": Slowness(b"GET /health/live HTTP/1.1\r\nHost: bench\r\n\r\nGET / HTTP/1.1\r\nHost: b", b"a"),
}


class SlowSockets:
    """Sockets of one kind of slowness, and when the server closed them."""

    def __init__(self, slowness: Slowness) -> None:
        self.slowness = slowness
        self.open_sockets: dict[int, socket.socket] = {}  # by file descriptor
        self.lifetimes: list[float] = []  # of the sockets that were closed, in seconds
        self._opened_at: dict[int, float] = {}
        self._poll = select.poll()

    def open_socket(self, host: str, port: int) -> None:
        """Connect another socket, and send its first bytes."""
        client = socket.socket()
        if self.slowness.receive_buffer_bytes:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.slowness.receive_buffer_bytes)
        client.bind((SLOW_ADDRESS, 0))
        client.connect((host, port))
        client.sendall(self.slowness.first_bytes)
        client.setblocking(False)

        self._poll.register(client, select.POLLRDHUP)  # reports that the server has closed, without reading
        self.open_sockets[client.fileno()] = client
        self._opened_at[client.fileno()] = time.monotonic()

    def note_closed(self) -> None:
        """Wait briefly, and record the lifetimes of sockets that the server has closed."""
        for descriptor, _ in self._poll.poll(POLL_MILLISECONDS):
            self.lifetimes.append(time.monotonic() - self._opened_at[descriptor])
            self._poll.unregister(descriptor)
            self.open_sockets.pop(descriptor).close()

    def send_drip(self) -> None:
        """Send the next byte on every open socket."""
        for client in self.open_sockets.values():
            with contextlib.suppress(OSError):  # the server has closed the socket, which is noted soon
                client.send(self.slowness.drip)


def attack(host: str, port: int, slowness: Slowness, count: int) -> None:
    """Keep slow sockets open until the server has closed all of them or the time is over.

    Prints how many sockets are still open at the end, and after how many seconds the last of the others was closed.
    """
    sockets = SlowSockets(slowness)
    for _ in range(count):
        sockets.open_socket(host, port)
    print("open", flush=True)

    end = time.monotonic() + ATTACK_SECONDS
    next_drip_at = time.monotonic() + DRIP_SECONDS
    while sockets.open_sockets and time.monotonic() < end:
        sockets.note_closed()
        if slowness.drip and time.monotonic() >= next_drip_at:
            next_drip_at += DRIP_SECONDS
            sockets.send_drip()

    outcome = {"still_open": len(sockets.open_sockets), "slowest_seconds": max(sockets.lifetimes, default=0.0)}
    print(json.dumps(outcome), flush=True)


def main() -> None:
    """Attack a server, as `slow_clients.py` asks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("count", type=int)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    attack(options.host, options.port, KINDS[options.kind], options.count)


if __name__ == "__main__":
    main()
