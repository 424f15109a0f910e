"""One connection of the HTTP server, which enforces its deadlines and limits, and refuses requests without a task."""

import asyncio
import random
import socket
import struct
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from touchstone.core.errors import BadRequest, Overloaded, ServiceError
from touchstone.core.metrics import CLOSED_CONNECTIONS
from touchstone.http.connection_deadlines import AwaitedInput
from touchstone.http.connection_limits import SLOW_BYTES, ConnectionLimits, Pace
from touchstone.http.error_rendering import render_error
from touchstone.http.joined_writes import JoiningTransport
from touchstone.http.responses import JsonResponse
from touchstone.http.stop_event import STOP_EVENT_KEY
from touchstone.http.tcp_sockets import SocketCounters, has_input, limit_unsent_bytes
from touchstone.messages.locales import DEFAULT_LOCALE

CHECK_SECONDS: Final = 1.0
# A refusal asks its client to come back after the shorter time; clients that do not are not read for up to the longer.
RETRY_SECONDS: Final = (1.0, 2.0)
# Reasons for which a connection is reset instead of closed after its response.
_ABORT_REASONS: Final = frozenset({"unread", "unsent", "too_many_slow"})
# Returns the response to a request that is refused before the application is called, or None to call it.
QuickRefusal = Callable[[Any], Response | None]


def _encode_response(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes | memoryview) -> bytes:
    """Return the bytes of a complete HTTP/1.1 response."""
    header_lines = [b"%b: %b\r\n" % header for header in headers]
    return b"".join((STATUS_LINE[status], *header_lines, b"\r\n", body))


def _encode_last_response(error: ServiceError) -> bytes:
    """Return the bytes of an error response, in the default language, that ends its connection."""
    headers = {**error.headers, "Connection": "close"}
    response = JsonResponse(render_error(error, DEFAULT_LOCALE), error.status, headers)
    return _encode_response(error.status, response.raw_headers, response.body)


_NOT_HTTP: Final = _encode_last_response(BadRequest())
_TOO_MANY_CONNECTIONS: Final = _encode_last_response(Overloaded(retry_after=1))


class ConnectionProtocol(HttpToolsProtocol):
    """uvicorn's protocol with deadlines, limits per client address, and error responses like the application's.

    Once a second each connection checks itself. It is closed if the headers of a request are late, if a client neither
    reads its response nor sends the rest of a refused body at the minimum rate, or if it has been idle for long. Bodies
    that the application waits for are limited in `http/request_bodies.py`, where they can be refused. uvicorn's own
    timer stops at the next byte, so that half a request would hold its connection forever.

    Requests that `refuse` answers never reach the application. A client that then repeats its request, byte for byte,
    is refused without parsing it again. If refusals still take too much time, the connections of clients that ignore
    `Retry-After` are not read for a while, so that impatient clients cost next to nothing.
    """

    def __init__(self, *arguments: Any, limits: ConnectionLimits, refuse: QuickRefusal, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._refuse = refuse
        self._is_refused = False
        self._refused_input: bytes | None = None
        self._request_count = 0
        self._is_between_requests = True
        self._pause_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Prepare a new connection, or refuse it if its client has too many.

        A connection that is part of a flood of connections is read after a delay.
        """
        joining_transport = JoiningTransport(transport, self.loop)
        super().connection_made(cast("asyncio.Transport", joining_transport))
        now = self.loop.time()

        self._idle_since = now
        self._request_began_at: float | None = now  # the first request is expected at once
        self._has_headers = False

        self._counters: SocketCounters | None = None
        self._read_pace = Pace(self._limits.minimum_rate)
        self._write_pace = Pace(self._limits.minimum_rate)
        self._is_slow = False
        # Connections that were opened together are checked at different moments, so that no check delays many requests.
        first_check_seconds = random.uniform(0, CHECK_SECONDS)  # noqa: S311
        self._check_timer = self.loop.call_later(first_check_seconds, self._check)

        self._client_key = self._limits.key(self.client)
        self._is_counted = self._limits.add_connection(self._client_key)
        if not self._is_counted:
            # The response is for the request that the client is about to send.
            CLOSED_CONNECTIONS.labels("too_many").inc()
            transport.write(_TOO_MANY_CONNECTIONS)
            transport.close()
            return

        limit_unsent_bytes(transport.get_extra_info("socket"))
        delay_seconds = self._limits.schedule_first_read(self._client_key, now)
        if delay_seconds > 0:
            self._pause_reading(delay_seconds)

    def data_received(self, data: bytes) -> None:
        """Parse what the client has sent, unless it only repeats the request that has just been refused."""
        is_repetition = data == self._refused_input and self._can_refuse_here(self.cycle)
        if is_repetition and self._refuse_if_overloaded(self.cycle):
            return

        is_between_requests, request_count = self._is_between_requests, self._request_count
        super().data_received(data)

        is_one_request = is_between_requests and self._is_between_requests and self._request_count == request_count + 1
        self._refused_input = data if is_one_request and self._is_refused else None

    def on_message_begin(self) -> None:
        """Note when a request begins, because its headers must be complete in time."""
        self._request_count += 1
        self._is_between_requests = False
        self._request_began_at = self._request_began_at or self.loop.time()
        self._has_headers = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the request; while the server stops, its response is the last one on this connection."""
        self._has_headers = True
        super().on_headers_complete()
        if self._is_stopping:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Note that the request has been received completely."""
        self._request_began_at = None
        self._is_between_requests = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the next request if it has been received already: as uvicorn does, but without its timer."""
        self._idle_since = self.loop.time()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return

        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Start a task for a request whose headers are complete, or refuse the request without one.

        Under overload most requests are refused, so refusals have to be cheap.
        """
        is_refused = self._can_refuse_here(cycle) and self._refuse_if_overloaded(cycle)
        if not is_refused:
            self._is_refused = False
            super()._start_asgi_task(cycle, app)

    def _refuse_if_overloaded(self, cycle: RequestResponseCycle) -> bool:
        """Refuse a request if there is no capacity for it, and return whether it was refused.

        The connection of a client that returns too early is not read for a while if refusals take too much time.
        """
        started_at = time.perf_counter()
        response = self._refuse(cycle.scope)
        if response is None:
            return False

        # A refusal asks the client to come back after a second at the earliest.
        has_returned_too_early = self._is_refused and self.loop.time() - self._idle_since < RETRY_SECONDS[0]
        self._is_refused = True

        self._send_refusal(cycle, response)
        refusal_seconds = time.perf_counter() - started_at
        is_within_budget = self._limits.refusals.spend(self.loop.time(), refusal_seconds)
        has_limits = self._client_key is not None

        if has_returned_too_early and has_limits and not is_within_budget:
            # The delay is random, so that not all clients are read again at once.
            delay_seconds = random.uniform(*RETRY_SECONDS)  # noqa: S311
            self._pause_reading(delay_seconds)
        return True

    def _send_refusal(self, cycle: RequestResponseCycle, response: Response) -> None:
        """Send the response to a request for which no task has been started; the connection stays open."""
        headers = [*cycle.default_headers, *response.raw_headers]
        self.transport.write(_encode_response(response.status_code, headers, response.body))

        cycle.response_started = True
        cycle.response_complete = True
        self.on_response_complete()

    def _can_refuse_here(self, cycle: RequestResponseCycle) -> bool:
        """Return whether a refusal needs neither the application nor the end of the connection.

        Pipelined requests, which do not wait for a response, are refused by the application, which then closes.
        """
        is_pipelined = bool(self.pipeline) or self._pause_timer is not None
        is_last = not cycle.keep_alive or self._is_stopping
        return not is_pipelined and not is_last and cycle.scope["method"] != "HEAD"

    def _pause_reading(self, delay_seconds: float) -> None:
        """Leave what the client sends in the kernel for this time."""
        self.flow.pause_reading()
        self._pause_timer = self.loop.call_later(delay_seconds, self._resume_reading)

    def _resume_reading(self) -> None:
        """Read again what the client sends, which counts as idle from now on and not since its last response."""
        self._pause_timer = None
        self._idle_since = self.loop.time()
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def close_after_next_response(self) -> None:
        """Make the next response the last one if it has not begun; an idle client may send one more request soon."""
        if self.is_idle:
            self._idle_since = self.loop.time()
        elif not self.cycle.response_started:
            self.cycle.keep_alive = False

    def shutdown(self) -> None:
        """Close the connection, unless it has been asked already to close after its next response."""
        if not self._is_stopping:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse input that is not HTTP, for which there is no request that the application could refuse."""
        if not self.pipeline and (self.is_idle or not self.cycle.response_started):
            self.transport.write(_NOT_HTTP)
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers and stop counting the connection."""
        self._check_timer.cancel()
        if self._pause_timer is not None:
            self._pause_timer.cancel()

        self._count_as_slow(is_slow=False)
        if self._is_counted:
            self._limits.remove_connection(self._client_key)
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def is_reusable(self) -> bool:
        """Whether the client may expect to send another request on this connection."""
        return not self.transport.is_closing() and (self.is_idle or self.cycle.keep_alive)

    @property
    def _is_stopping(self) -> bool:
        """Whether the server is stopping."""
        stop_event: asyncio.Event | None = self.app_state.get(STOP_EVENT_KEY)
        return stop_event is not None and stop_event.is_set()

    def _check(self) -> None:
        """Abort or close the connection if there is a reason to, and check again after a second."""
        reason = self._check_pace() or self._close_reason()
        if reason in _ABORT_REASONS:
            self._abort(reason)
            return

        if reason and not self.transport.is_closing():
            CLOSED_CONNECTIONS.labels(reason).inc()
            self.transport.close()  # the rest of the response is still sent, and its pace checked
        self._check_timer = self.loop.call_later(CHECK_SECONDS, self._check)

    def _check_pace(self) -> str | None:
        """Record how many bytes have moved since the last check, and return why the client is too slow, if it is.

        The reason is "unread" if the client does not read its response, "unsent" if it does not send the rest of a
        refused body, and "too_many_slow" if too many connections of its address are slow.
        """
        previous_counters = self._counters
        self._counters = SocketCounters.read(self.transport.get_extra_info("socket"))
        if self._counters is None:
            return None  # the system does not count the bytes of a connection

        if self._reads_too_slowly(self._counters):
            return "unread"
        if self._sends_too_slowly(self._counters):
            return "unsent"

        is_slow = previous_counters is not None and self._is_slow_since(previous_counters, self._counters)
        may_stay_open = self._count_as_slow(is_slow=is_slow)
        return None if may_stay_open else "too_many_slow"

    def _reads_too_slowly(self, counters: SocketCounters) -> bool:
        """Record the progress of the response, and return whether the client reads below the minimum rate."""
        return self._write_pace.record_progress(
            self.loop.time(),
            moved_bytes=counters.acknowledged_bytes,
            outstanding_bytes=self._unsent_bytes(counters),
        )

    def _sends_too_slowly(self, counters: SocketCounters) -> bool:
        """Record the progress of a refused body, and return whether the client sends it below the minimum rate.

        Bodies that the application waits for are not checked here, because `LimitedBody` does that.
        """
        is_dropping_body = self._is_receiving and self._has_headers and self.is_idle
        return self._read_pace.record_progress(
            self.loop.time(),
            moved_bytes=counters.received_bytes,
            outstanding_bytes=SLOW_BYTES if is_dropping_body else 0,
        )

    def _is_slow_since(self, previous_counters: SocketCounters, counters: SocketCounters) -> bool:
        """Return whether a transfer is under way that has moved few bytes since the last check."""
        is_sending = self._unsent_bytes(counters) > 0
        is_receiving = self._is_receiving and not self.flow.read_paused
        moved_bytes = counters.moved_bytes - previous_counters.moved_bytes
        return (is_sending or is_receiving) and moved_bytes < SLOW_BYTES

    def _unsent_bytes(self, counters: SocketCounters) -> int:
        """Return how many bytes of the response are in the buffers of the kernel and the transport."""
        buffered_bytes: int = self.transport.get_write_buffer_size()
        return counters.unsent_bytes + buffered_bytes

    @property
    def _is_receiving(self) -> bool:
        """Whether the client has begun to send a request, and has not sent all of it."""
        return self._request_began_at is not None

    def _close_reason(self) -> str | None:
        """Return why a connection on which the server waits for its client must be closed, or None if it may stay open.

        The reason is "headers" if the client has not sent all headers of a request in time, and "idle" if it has not
        sent another request.
        """
        if not self.is_idle or has_input(self.transport.get_extra_info("socket")):
            return None

        request_began_at = self._request_began_at
        has_sent_nothing = self.scope is None
        if self._is_stopping and has_sent_nothing:
            request_began_at = None  # the first request of a new connection is no longer expected

        awaited_input = AwaitedInput(
            idle_since=self._idle_since,
            request_began_at=request_began_at,
            has_headers=self._has_headers,
            is_refused=self._is_refused and self._client_key is not None,
            is_stopping=self._is_stopping,
        )
        return awaited_input.overdue_reason(self.loop.time())

    def _count_as_slow(self, *, is_slow: bool) -> bool:
        """Count this connection among the slow ones or not, and return whether it may stay open."""
        if is_slow == self._is_slow:
            return True

        self._is_slow = is_slow
        if is_slow:
            return self._limits.add_slow(self._client_key)
        self._limits.remove_slow(self._client_key)
        return True

    def _abort(self, reason: str) -> None:
        """Reset the connection, so that a response which its client does not read does not stay in memory."""
        CLOSED_CONNECTIONS.labels(reason).inc()
        connection = self.transport.get_extra_info("socket")

        # With a linger time of zero, closing drops what has not been sent.
        linger_option = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_option)
        self.transport.abort()
