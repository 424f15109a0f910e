"""The rules for retrying calls and renewing expired tokens.

The functions perform no I/O, so that the synchronous and the asynchronous client can share them. They are generators
that yield steps (send, renew, pause). A client performs each step, and sends its result back to the generator.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import httpx2

from touchstone.client.call import Call
from touchstone.client.errors import (
    NO_RESPONSE,
    TouchstoneError,
    connection_error,
    error_from_response,
    retry_after_seconds,
)
from touchstone.client.identity import Identity

T = TypeVar("T")

MAX_ATTEMPTS: Final = 3
TEMPORARY_STATUSES: Final = frozenset({429, 502, 503, 504})  # statuses after which another attempt may succeed
FIRST_RETRY_DELAY_SECONDS: Final = 0.2  # doubled after each attempt
MAX_RETRY_AFTER_SECONDS: Final = 5.0  # longer waits are left to the caller
# How long a service may be away while somebody waits for a job, which survives a restart of the service.
MAX_OUTAGE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class SendCall:
    """A step that sends a call; its result is the response, or the error if there was no response."""

    call: Call[Any]


@dataclass(frozen=True, slots=True)
class RenewTokens:
    """A step that renews the tokens; its result is whether the caller now has a new access token.

    No request is sent if another call has replaced `expired_token` in the meantime.
    """

    expired_token: str | None


@dataclass(frozen=True, slots=True)
class Pause:
    """A step that waits; its result is None."""

    seconds: float


Step = SendCall | RenewTokens | Pause
StepResult = httpx2.Response | httpx2.RequestError | bool | None
Steps = Generator[Step, StepResult, T]


def is_temporary(error: TouchstoneError) -> bool:
    """Return whether another attempt may succeed, because the service did not answer or is temporarily unavailable."""
    return error.status == NO_RESPONSE or error.status in TEMPORARY_STATUSES


def send_with_retries(call: Call[T], identity: Identity) -> Steps[T]:
    """Return the content of the response to a call, which is sent again after temporary failures.

    An expired access token is renewed once. A call that changes nothing is attempted up to `MAX_ATTEMPTS` times while
    the service cannot be reached or is temporarily unavailable.

    This generator yields the steps for a client to perform, and receives their results.

    Raises:
        TouchstoneError: the service refused the call or did not respond.
    """
    has_renewed_tokens = False

    for attempt in range(1, MAX_ATTEMPTS + 1):
        token = identity.token
        result = yield SendCall(call)

        if not has_renewed_tokens and _is_token_expired(result, call, identity):
            has_renewed_tokens = True
            has_new_token = yield RenewTokens(expired_token=token)
            if has_new_token:
                result = yield SendCall(call)

        delay_seconds = _seconds_until_retry(result, call, attempt)
        if delay_seconds is None:
            break
        yield Pause(delay_seconds)

    return read_result(result, call)


def read_result(result: StepResult, call: Call[T]) -> T:
    """Return the content of the response to a call, converted to the result type of the call.

    Raises:
        TouchstoneError: the service refused the call or did not respond.
    """
    if isinstance(result, httpx2.RequestError):
        raise connection_error(result, changes_data=not call.repeatable) from result

    assert isinstance(result, httpx2.Response), "a call that was sent has a response or an error"
    if not result.is_success and result.status_code not in call.other_statuses:
        raise error_from_response(result)
    return call.read(result)


def _is_token_expired(result: StepResult, call: Call[Any], identity: Identity) -> bool:
    """Return whether the service rejected the access token of a call, and the token can be renewed."""
    is_unauthorized = isinstance(result, httpx2.Response) and result.status_code == 401
    return is_unauthorized and not call.public and identity.refresh_token is not None


def _seconds_until_retry(result: StepResult, call: Call[Any], attempt: int) -> float | None:
    """Return the number of seconds to wait before sending a call again, or None if its result is final.

    `attempt` is the number of attempts so far. The service can request a delay with the header `Retry-After`. Without
    this header, the delay doubles after each attempt.
    """
    if attempt == MAX_ATTEMPTS or not _may_send_again(result, call):
        return None

    default_delay = FIRST_RETRY_DELAY_SECONDS * 2.0 ** (attempt - 1)
    if not isinstance(result, httpx2.Response):
        return default_delay

    requested_delay = retry_after_seconds(result)
    if requested_delay is None:
        return default_delay
    if requested_delay > MAX_RETRY_AFTER_SECONDS:
        return None
    return requested_delay


def _may_send_again(result: StepResult, call: Call[Any]) -> bool:
    """Return whether a call failed temporarily, and can be repeated without making a change twice."""
    if isinstance(result, httpx2.RequestError):
        return call.repeatable

    is_temporary_error = isinstance(result, httpx2.Response) and result.status_code in TEMPORARY_STATUSES
    return is_temporary_error and (call.repeatable or call.unchanged_on_error)
