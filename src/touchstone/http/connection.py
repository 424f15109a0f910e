"""A connection of the HTTP server, with deadlines and limits, and with refusals that need no task."""

import asyncio
import functools
import random
import socket
import struct
import time
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from touchstone.core.errors import BadRequest, HeadersTooLarge, Overloaded, ServiceError
from touchstone.core.metrics import CLOSED_CONNECTIONS
from touchstone.http.connection_deadlines import AwaitedInput
from touchstone.http.connection_limits import SLOW_BYTES, ConnectionLimits, Pace
from touchstone.http.error_rendering import render_error
from touchstone.http.error_responses import request_locale
from touchstone.http.joined_writes import JoiningTransport
from touchstone.http.responses import JsonResponse
from touchstone.http.stop_event import STOP_EVENT_KEY
from touchstone.http.tcp_sockets import SocketCounters, has_input, limit_unsent_bytes
from touchstone.messages.locales import DEFAULT_LOCALE

CHECK_SECONDS: Final = 1.0
# A refusal asks its client to retry after this time.
RETRY_SECONDS: Final = 1.0
# If a client retries earlier, its connection may be paused for a random time in this range.
PAUSE_SECONDS: Final = (1.0, 2.0)
# The parser refuses longer addresses, because it stores positions in them as 16-bit numbers.
MAX_ADDRESS_BYTES: Final = 2**16 - 1
# Reasons for which a connection is reset instead of closed after its response.
_ABORT_REASONS: Final = frozenset({"unread", "unsent", "too_many_slow"})
# Returns the response to a request with the given scope if it is refused, or None if the application must be called.
QuickRefusal = Callable[[Any], Response | None]


def _encode_response(status: int, headers: Iterable[tuple[bytes, bytes]], body: bytes | memoryview) -> bytes:
    """Encode a complete HTTP/1.1 response."""
    header_lines = [b"%b: %b\r\n" % header for header in headers]
    return b"".join((STATUS_LINE[status], *header_lines, b"\r\n", body))


def _encode_last_response(error: ServiceError, locale: str = DEFAULT_LOCALE) -> bytes:
    """Encode an error response that closes the connection."""
    headers = {**error.headers, "Connection": "close"}
    response = JsonResponse(render_error(error, locale), error.status, headers)
    return _encode_response(error.status, response.raw_headers, response.body)


@functools.cache
def _encode_parser_refusal(locale: str, *, is_address_too_long: bool) -> bytes:
    """Encode the response to input that the HTTP parser refuses."""
    return _encode_last_response(HeadersTooLarge() if is_address_too_long else BadRequest(), locale)


_TOO_MANY_CONNECTIONS: Final = _encode_last_response(Overloaded(retry_after=1))


class ConnectionProtocol(HttpToolsProtocol):
    """uvicorn's protocol with deadlines, limits per client address, and the application's error format.

    Each connection is checked once a second. It is closed if the headers of a request are late, if the client reads its
    response or sends the rest of a refused body below the minimum rate, or if it has been idle for too long. Bodies
    that the application reads have their own limits in `http/request_bodies.py`. uvicorn's keep-alive timer is not
    sufficient, because any byte stops it, so an incomplete request would keep its connection open forever.

    Requests that `refuse` answers never reach the application. If a client then repeats the same bytes, it is refused
    without parsing them again. If refusals still take too much time, connections of clients that ignore `Retry-After`
    are not read for a while.
    """

    def __init__(self, *arguments: Any, limits: ConnectionLimits, refuse: QuickRefusal, **options: Any) -> None:
        """Create the protocol for one connection.

        Args:
            *arguments: positional arguments for uvicorn's protocol.
            limits: the limits of the listener.
            refuse: returns the response if a request must be refused, or None otherwise.
            **options: keyword arguments for uvicorn's protocol.
        """
        super().__init__(*arguments, **options)
        self._limits = limits
        self._refuse = refuse
        self._last_request_refused = False
        self._refused_input: bytes | None = None
        self._request_count = 0
        self._is_between_requests = True
        self._pause_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Start the checks of a new connection, or refuse it if there are too many connections.

        If a client opens many connections in a short time, they are read after a delay.
        """
        joining_transport = JoiningTransport(transport, self.loop)
        super().connection_made(cast("asyncio.Transport", joining_transport))
        now = self.loop.time()

        self._idle_since = now
        self._request_began_at: float | None = now  # the first request is expected immediately
        self._has_headers = False

        self._counters: SocketCounters | None = None
        self._read_pace = Pace(self._limits.minimum_rate)
        self._write_pace = Pace(self._limits.minimum_rate)
        self._is_slow = False
        # The random delay spreads the checks of connections that were opened at the same time.
        first_check_seconds = random.uniform(0, CHECK_SECONDS)  # noqa: S311
        self._check_timer = self.loop.call_later(first_check_seconds, self._enforce_limits)

        self._client_key = self._limits.client_key(self.client)
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
        """Parse the received bytes, unless they only repeat a request that has just been refused."""
        is_repetition = data == self._refused_input and self._can_refuse_directly(self.cycle)
        if is_repetition and self._refuse_if_overloaded(self.cycle):
            return

        began_between_requests = self._is_between_requests
        previous_request_count = self._request_count
        super().data_received(data)

        ended_between_requests = self._is_between_requests
        has_one_request = self._request_count == previous_request_count + 1
        is_whole_request = began_between_requests and ended_between_requests and has_one_request
        self._refused_input = data if is_whole_request and self._last_request_refused else None

    def on_message_begin(self) -> None:
        """Record when a request begins, because its headers must be complete in time."""
        self._request_count += 1
        self._is_between_requests = False
        self._request_began_at = self._request_began_at or self.loop.time()
        self._has_headers = False
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start the request, and close the connection after its response if the server is stopping."""
        self._has_headers = True
        super().on_headers_complete()
        if self._is_stopping:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Record that the request has been received completely."""
        self._request_began_at = None
        self._is_between_requests = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the next pipelined request, but unlike uvicorn no keep-alive timer."""
        self._idle_since = self.loop.time()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return

        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """Start a task for a request with complete headers, or refuse the request without starting a task.

        Most requests are refused under overload, so refusals have to be cheap.
        """
        is_refused = self._can_refuse_directly(cycle) and self._refuse_if_overloaded(cycle)
        if not is_refused:
            self._last_request_refused = False
            super()._start_asgi_task(cycle, app)

    def _refuse_if_overloaded(self, cycle: RequestResponseCycle) -> bool:
        """Refuse a request if there is no capacity for it.

        If refusals exceed their time budget, clients that retry too early are not read from for a while.

        Returns:
            True if the request was refused.
        """
        started_at = time.perf_counter()
        response = self._refuse(cycle.scope)
        if response is None:
            return False

        is_early_retry = self._last_request_refused and self.loop.time() - self._idle_since < RETRY_SECONDS
        self._last_request_refused = True

        self._send_refusal(cycle, response)
        refusal_seconds = time.perf_counter() - started_at
        is_within_budget = self._limits.refusals.charge(self.loop.time(), refusal_seconds)
        is_rate_limited = self._client_key is not None

        if is_early_retry and is_rate_limited and not is_within_budget:
            # The delay is random, so that not all clients are read again at the same time.
            delay_seconds = random.uniform(*PAUSE_SECONDS)  # noqa: S311
            self._pause_reading(delay_seconds)
        return True

    def _send_refusal(self, cycle: RequestResponseCycle, response: Response) -> None:
        """Send the response to a request without a task, and keep the connection open."""
        headers = [*cycle.default_headers, *response.raw_headers]
        self.transport.write(_encode_response(response.status_code, headers, response.body))

        cycle.response_started = True
        cycle.response_complete = True
        self.on_response_complete()

    def _can_refuse_directly(self, cycle: RequestResponseCycle) -> bool:
        """Return whether a request can be refused while its connection stays open.

        This is not possible for pipelined requests, which the client sends without waiting for the previous response,
        for the last request of a connection, or for HEAD requests, whose responses must not have a body.
        """
        # Requests that are parsed while reading is paused were received together with an earlier request.
        is_pipelined = bool(self.pipeline) or self._pause_timer is not None
        stays_open = cycle.keep_alive and not self._is_stopping
        return stays_open and not is_pipelined and cycle.scope["method"] != "HEAD"

    def _pause_reading(self, delay_seconds: float) -> None:
        """Stop reading from the client for this time, so that its data stays in the kernel's buffer."""
        self.flow.pause_reading()
        self._pause_timer = self.loop.call_later(delay_seconds, self._resume_reading)

    def _resume_reading(self) -> None:
        """Read from the client again, and restart its idle time."""
        self._pause_timer = None
        self._idle_since = self.loop.time()
        if not self.transport.is_closing():
            self.flow.resume_reading()

    def close_after_next_response(self) -> None:
        """Close after the current response if it has not begun, or restart the idle timer."""
        if self.is_idle:
            self._idle_since = self.loop.time()
        elif not self.cycle.response_started:
            self.cycle.keep_alive = False

    def shutdown(self) -> None:
        """Close the connection, unless it is already closing after its next response."""
        if not self._is_stopping:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Refuse input that is not valid HTTP, or has too long an address. It never reaches the application."""
        if not self.pipeline and (self.is_idle or not self.cycle.response_started):
            # There is no scope before the first request has begun.
            locale = request_locale(dict(self.scope)) if self.scope else DEFAULT_LOCALE
            is_address_too_long = self.scope is not None and len(self.url) > MAX_ADDRESS_BYTES
            self.transport.write(_encode_parser_refusal(locale, is_address_too_long=is_address_too_long))
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers and stop counting the connection."""
        self._check_timer.cancel()
        if self._pause_timer is not None:
            self._pause_timer.cancel()

        self._update_slow_count(is_slow=False)
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

    def _enforce_limits(self) -> None:
        """Abort or close the connection if it violates a limit, and schedule the next check."""
        reason = self._check_pace() or self._close_reason()
        if reason in _ABORT_REASONS:
            self._abort(reason)
            return

        if reason and not self.transport.is_closing():
            CLOSED_CONNECTIONS.labels(reason).inc()
            self.transport.close()  # buffered data is still sent, and its rate is still checked
        self._check_timer = self.loop.call_later(CHECK_SECONDS, self._enforce_limits)

    def _check_pace(self) -> str | None:
        """Record the progress of the transfers, and return why the client is too slow, or None.

        Returns:
            "unread" if the client does not read its response, "unsent" if it does not send the rest of a refused body,
            "too_many_slow" if too many connections of its address are slow, or None.
        """
        previous_counters = self._counters
        self._counters = SocketCounters.read(self.transport.get_extra_info("socket"))
        if self._counters is None:
            return None  # there are no counters on this system

        if self._reads_too_slowly(self._counters):
            return "unread"
        if self._sends_too_slowly(self._counters):
            return "unsent"

        is_slow = previous_counters is not None and self._is_slow_since(previous_counters, self._counters)
        may_stay_open = self._update_slow_count(is_slow=is_slow)
        return None if may_stay_open else "too_many_slow"

    def _reads_too_slowly(self, counters: SocketCounters) -> bool:
        """Record the progress of the response. Return True if the client reads it below the minimum rate."""
        return self._write_pace.record_progress(
            self.loop.time(),
            moved_bytes=counters.acknowledged_bytes,
            outstanding_bytes=self._unsent_bytes(counters),
        )

    def _sends_too_slowly(self, counters: SocketCounters) -> bool:
        """Record the progress of a refused body. Return True if the client sends it below the minimum rate.

        Bodies that the application reads are not checked here, because `LimitedBody` does that.
        """
        is_dropping_body = self._is_receiving and self._has_headers and self.is_idle
        return self._read_pace.record_progress(
            self.loop.time(),
            moved_bytes=counters.received_bytes,
            outstanding_bytes=SLOW_BYTES if is_dropping_body else 0,
        )

    def _is_slow_since(self, previous_counters: SocketCounters, counters: SocketCounters) -> bool:
        """Return whether a transfer is in progress but has moved few bytes since the last check."""
        is_sending = self._unsent_bytes(counters) > 0
        is_receiving = self._is_receiving and not self.flow.read_paused
        moved_bytes = counters.moved_bytes - previous_counters.moved_bytes
        return (is_sending or is_receiving) and moved_bytes < SLOW_BYTES

    def _unsent_bytes(self, counters: SocketCounters) -> int:
        """Return the number of bytes of the response in the buffers of the kernel and the transport."""
        buffered_bytes: int = self.transport.get_write_buffer_size()
        return counters.unsent_bytes + buffered_bytes

    @property
    def _is_receiving(self) -> bool:
        """Whether the client has sent a part of a request."""
        return self._request_began_at is not None

    def _close_reason(self) -> str | None:
        """Return why an idle connection must be closed, or None if it may stay open.

        Returns:
            "headers" if the client has not sent all headers of a request in time, "idle" if it has not sent another
            request in time, or None.
        """
        if not self.is_idle or has_input(self.transport.get_extra_info("socket")):
            return None

        request_began_at = self._request_began_at
        has_sent_nothing = self.scope is None
        if self._is_stopping and has_sent_nothing:
            request_began_at = None  # do not wait for the first request

        awaited_input = AwaitedInput(
            idle_since=self._idle_since,
            request_began_at=request_began_at,
            has_headers=self._has_headers,
            was_refused=self._last_request_refused and self._client_key is not None,
            is_stopping=self._is_stopping,
        )
        return awaited_input.overdue_reason(self.loop.time())

    def _update_slow_count(self, *, is_slow: bool) -> bool:
        """Count this connection as slow, or stop counting it as slow.

        Returns:
            False if it must be closed, because the client has too many slow connections.
        """
        if is_slow == self._is_slow:
            return True

        self._is_slow = is_slow
        if is_slow:
            return self._limits.add_slow(self._client_key)
        self._limits.remove_slow(self._client_key)
        return True

    def _abort(self, reason: str) -> None:
        """Reset the connection and discard its buffered data."""
        CLOSED_CONNECTIONS.labels(reason).inc()
        connection = self.transport.get_extra_info("socket")

        # With a linger time of zero, the kernel drops unsent data when the socket is closed.
        linger_option = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_option)
        self.transport.abort()
