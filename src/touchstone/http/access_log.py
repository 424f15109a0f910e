"""The access log with a line for each request, and the metrics that count requests."""

import functools
import logging
import math
import time
from typing import Final

import structlog
from starlette.types import Scope

from touchstone.core.errors import Overloaded
from touchstone.core.metrics import REQUEST_COUNTER, REQUEST_SECONDS
from touchstone.http.request_tracking import TrackedRequest

CLIENT_DISCONNECTED: Final = 499  # logged as the status if the client disconnected before the response, but never sent
OVERLOAD_LOG_SECONDS: Final = 1.0
MAX_LOGGED_METHOD: Final = 16  # characters
MAX_LOGGED_PATH: Final = 300
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
log = structlog.get_logger("touchstone.access")

_request_counter: Final = functools.cache(REQUEST_COUNTER.labels)


class AccessLog:
    """The access log of one listener, which also counts its requests in the metrics."""

    def __init__(self) -> None:
        """Bind the logger once, because doing so for each request would take longer than a fast handler."""
        self._log: structlog.typing.FilteringBoundLogger = log.bind()
        self._logs_requests = self._log.is_enabled_for(logging.INFO)
        self._refused_since_log = 0
        self._overload_logged_at = -math.inf

    def record(self, request: TrackedRequest) -> None:
        """Count a finished request in the metrics, and write it to the log.

        The query string of the URL is not logged, because it may contain personal data.
        """
        elapsed_seconds = time.perf_counter() - request.started_at
        status = CLIENT_DISCONNECTED if request.is_abandoned else request.status

        _request_counter(_method_label(request.method), status).inc()
        REQUEST_SECONDS.observe(elapsed_seconds)
        if not self._logs_requests:
            return

        client = request.scope.get("client")
        self._log.info(
            "request",
            request_id=request.id,
            method=request.method[:MAX_LOGGED_METHOD],
            path=request.scope["path"][:MAX_LOGGED_PATH],
            client=client[0] if client else None,
            user=str(request.user_id) if request.user_id else None,
            status=status,
            ms=round(elapsed_seconds * 1000, 2),
        )

    def record_refusal(self, scope: Scope, started_at: float, *, running_count: int) -> None:
        """Count a request that was refused under overload.

        All refusals within a second are logged together.

        Args:
            scope: the ASGI scope of the request.
            started_at: the value of `time.perf_counter` when the request arrived.
            running_count: the number of running requests.
        """
        _request_counter(_method_label(scope["method"]), Overloaded.status).inc()
        REQUEST_SECONDS.observe(time.perf_counter() - started_at)
        self._refused_since_log += 1

        is_log_due = started_at - self._overload_logged_at >= OVERLOAD_LOG_SECONDS
        if is_log_due:
            log.warning("overloaded", refused=self._refused_since_log, working=running_count)
            self._refused_since_log = 0
            self._overload_logged_at = started_at


def _method_label(method: str) -> str:
    """Return the metric label of a method.

    Unknown methods share one label, so that clients cannot create labels.
    """
    return method if method in _METHODS else "OTHER"
