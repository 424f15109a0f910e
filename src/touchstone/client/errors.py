"""The exception of the Python client, for calls that were refused or got no response.

The client identifies errors by their codes, and does not use the error classes of the server in `core/errors.py`.
"""

import ssl
from typing import Any, Final

import httpx2
import msgspec

from touchstone.core.json_decoding import decode_json

NO_RESPONSE: Final = 0  # the status of an error without a response
# The errors of requests that may have reached the server.
_BROKEN_EXCHANGES: Final = (
    httpx2.ReadTimeout,
    httpx2.WriteTimeout,
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.RemoteProtocolError,
)


class TouchstoneError(Exception):
    """The service refused a call, could not be reached, or sent an unreadable response.

    Attributes:
        status: the HTTP status; 0 if there was no response.
        code: a stable English identifier of the error. It is `unreachable` if there was no response,
            `untrusted_certificate` if the certificate of the server cannot be verified, and `unreadable` if the
            response does not come from Touchstone.
        detail: one sentence for people, in the language of the caller.
        errors: one entry `{loc, msg, type}` for each invalid value in the request.
        retry_after: the seconds to wait before another attempt, or None if the service did not send a number.
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
        """Create the error from an HTTP status, a code for programs, and a sentence for people.

        `errors` describes each invalid value of the request, and `retry_after` is in seconds.
        """
        super().__init__(status, code, detail)

        self.status = status
        self.code = code
        self.detail = detail
        self.errors = errors or []
        self.retry_after = retry_after

    def __str__(self) -> str:
        if self.status == NO_RESPONSE:
            return self.detail
        return f"{self.detail} ({self.status} {self.code})"


class _ErrorBody(msgspec.Struct):
    """The JSON body of the error responses of the service."""

    detail: str
    code: str
    errors: list[dict[str, Any]] = []


def error_from_response(response: httpx2.Response) -> TouchstoneError:
    """Return the exception for a response whose status is not 2xx.

    The body of an error response explains the error. If the body has another form, for example because a proxy has
    responded, the exception has the code `unreadable` and only names the status. The service only redirects users who
    sign in with an identity provider, so any other redirect comes from a proxy or another service, and the exception
    names its target.
    """
    retry_after = retry_after_seconds(response)
    if not response.is_error:
        target = response.headers.get("location", "an unknown address")
        detail = f"The server answered {_status_line(response)}, which points to {target}."
        return TouchstoneError(response.status_code, "unreadable", detail, retry_after=retry_after)

    try:
        body = decode_json(response.content, _ErrorBody)
    except (msgspec.DecodeError, httpx2.ResponseNotRead):
        detail = f"The server answered {_status_line(response)}."
        return TouchstoneError(response.status_code, "unreadable", detail, retry_after=retry_after)

    return TouchstoneError(response.status_code, body.code, body.detail, body.errors, retry_after=retry_after)


def _status_line(response: httpx2.Response) -> str:
    """Return the status of a response with its reason phrase, such as `502 Bad Gateway`."""
    return f"{response.status_code} {response.reason_phrase}".rstrip()


def unreadable_response(status: int, reason: object) -> TouchstoneError:
    """Return the exception for a response that does not have the expected form, with a reason for people."""
    return TouchstoneError(status, "unreadable", f"The response of the server cannot be read: {reason}")


def impossible_id(segment: object) -> TouchstoneError:
    """Return the exception for an id or a name in a call that cannot exist."""
    return TouchstoneError(httpx2.codes.NOT_FOUND, "not_found", f"{str(segment)!r} is not an id or a name.")


def connection_error(error: httpx2.RequestError, *, changes_data: bool = False) -> TouchstoneError:
    """Return the exception for a call that got no complete response, with the address of the server and the reason.

    Args:
        error: the error of the HTTP client.
        changes_data: whether the call would have changed something, which may have happened nevertheless.
    """
    try:
        url = error.request.url
    except RuntimeError:  # The request could not even be built.
        url = httpx2.URL()

    # An address without a scheme, such as `127.0.0.1:8000`, has no host.
    server = f"{url.scheme}://{url.netloc.decode('ascii')}" if url.host else "The server"
    certificate_error = _certificate_error(error)
    if certificate_error is not None:
        reason = certificate_error.verify_message
        return TouchstoneError(NO_RESPONSE, "untrusted_certificate", f"{server} has no trusted certificate: {reason}")

    reason = str(error) or type(error).__name__
    if not isinstance(error, _BROKEN_EXCHANGES):
        problem = "cannot be reached"
    elif changes_data:
        problem = "may have carried out the request, but has not answered completely"
    else:
        problem = "has not answered completely"
    return TouchstoneError(NO_RESPONSE, "unreachable", f"{server} {problem}: {reason}")


def _certificate_error(error: BaseException) -> ssl.SSLCertVerificationError | None:
    """Return the cause of an error if it is a certificate that could not be verified."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    return cause


def retry_after_seconds(response: httpx2.Response) -> float | None:
    """Return the seconds of the Retry-After header, or None if the header is missing or contains a date."""
    value = response.headers.get("retry-after", "")
    is_number = value.isascii() and value.isdigit()
    return float(value) if is_number else None
