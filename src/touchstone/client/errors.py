"""The exception of the client, for calls that were rejected or got no response."""

from typing import Any

import httpx2
import msgspec


class TouchstoneError(Exception):
    """The service refused a call, or could not be reached.

    Attributes:
        status: HTTP status; 0 when no answer came.
        code: stable English key of the refusal; `unreachable` when no answer came, `unreadable` when the answer is
            not one of this service.
        detail: one sentence for people, in the language that was asked for.
        errors: one entry `{loc, msg, type}` for each thing that is wrong with the request.
        retry_after: seconds after which another attempt makes sense, when the service said so.
    """

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        errors: list[dict[str, Any]] | None = None,
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(status, code, detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors or []
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.detail} ({self.status} {self.code})" if self.status else self.detail


class _Refusal(msgspec.Struct):
    detail: str
    code: str
    errors: list[dict[str, Any]] = []


def refused(response: httpx2.Response) -> TouchstoneError:
    """Return the exception for a response with a status of 400 or above."""
    after = retry_after(response)
    try:
        body = msgspec.json.decode(response.content, type=_Refusal)
    except (msgspec.DecodeError, httpx2.ResponseNotRead):
        sentence = f"The server answered {response.status_code} {response.reason_phrase}".rstrip() + "."
        return TouchstoneError(response.status_code, "unreadable", sentence, retry_after=after)
    return TouchstoneError(response.status_code, body.code, body.detail, body.errors, retry_after=after)


def unreachable(problem: httpx2.RequestError) -> TouchstoneError:
    """Return the exception for a call that got no response."""
    try:
        where = f"{problem.request.url.scheme}://{problem.request.url.netloc.decode('ascii')}"
    except RuntimeError:  # the request was never built
        where = "the server"
    reason = str(problem) or type(problem).__name__
    return TouchstoneError(0, "unreachable", f"{where} cannot be reached: {reason}")


def retry_after(response: httpx2.Response) -> float | None:
    """Return the seconds of the Retry-After header; None if it is missing or a date."""
    value = response.headers.get("retry-after", "")
    return float(value) if value.isascii() and value.isdigit() else None
