"""The protocol of a call without any I/O: when to renew the tokens, retry, wait, or give up.

A conversation is a generator that yields steps and receives their outcomes. The synchronous and the asynchronous client
only perform the steps.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, TypedDict, TypeVar
from urllib.parse import urlsplit

import httpx2

from touchstone.client.call import Call, query_pairs
from touchstone.client.errors import refused, retry_after, unreachable
from touchstone.client.job_calls import get_job
from touchstone.client.models import Job, Tokens

T = TypeVar("T")
ATTEMPTS: Final = 3
TEMPORARY_STATUSES: Final = frozenset({429, 502, 503, 504})  # a retry may succeed
MAX_PAUSE: Final = 5.0  # seconds; a longer Retry-After is left to the caller
LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})
FIRST_RETRY: Final = 0.2  # seconds; doubled with every attempt
FIRST_POLL, LONGEST_POLL = 0.1, 2.0  # seconds between two looks at a job


class IdentityFields(TypedDict, total=False):
    """The optional fields of an `Identity`, as keyword arguments."""

    refresh_token: str | None
    locale: str | None
    address: tuple[str, int] | None
    user_agent: str | None
    device: str | None
    on_tokens: Callable[[Tokens], None] | None


@dataclass(slots=True)
class Identity:
    """The caller of all calls of one client.

    Attributes:
        token, refresh_token: The tokens of the last sign-in or renewal.
        locale: `fr` or `en`; without it the service chooses.
        address: Host and port of the person behind the call; only for an application in the same process.
        user_agent: The User-Agent of the person behind the call.
        device: The device token of the last sign-in on this device.
        on_tokens: Called with the new tokens after each renewal, so that they can be saved.
    """

    token: str | None = None
    refresh_token: str | None = None
    locale: str | None = None
    address: tuple[str, int] | None = None
    user_agent: str | None = None
    device: str | None = None
    on_tokens: Callable[[Tokens], None] | None = None

    def keep(self, tokens: Tokens) -> None:
        """Use new tokens for the calls that follow."""
        self.token = tokens.access_token
        self.refresh_token = tokens.refresh_token or self.refresh_token
        self.device = tokens.device or self.device
        if self.on_tokens is not None:
            self.on_tokens(tokens)

    def forget(self) -> None:
        """Send the calls that follow without a token."""
        self.token = self.refresh_token = None


@dataclass(frozen=True, slots=True)
class Send:
    """A step that sends the call; its outcome is the response, or the error that prevented one."""

    call: Call[Any]


@dataclass(frozen=True, slots=True)
class Renew:
    """A step that renews the tokens unless another call has replaced `stale`; its outcome says whether that worked."""

    stale: str | None


@dataclass(frozen=True, slots=True)
class Pause:
    """A step that waits; it has no outcome."""

    seconds: float


Step = Send | Renew | Pause
Outcome = httpx2.Response | httpx2.RequestError | bool | None
Conversation = Generator[Step, Outcome, T]


def carry_out(call: Call[T], identity: Identity) -> Conversation[T]:
    """Send a call; renew an expired token once, and retry a repeatable call that failed temporarily.

    Raises:
        TouchstoneError: The service rejected the call or did not respond.
    """
    has_renewed = False
    for attempt in range(1, ATTEMPTS + 1):
        token = identity.token
        outcome = yield Send(call)

        if not has_renewed and _is_token_expired(outcome, call, identity):
            has_renewed = True
            if (yield Renew(token)):
                outcome = yield Send(call)

        delay = _seconds_until_retry(outcome, call, attempt)
        if delay is None:
            return read_outcome(outcome, call)
        yield Pause(delay)
    raise AssertionError("the last attempt is not followed by a retry")


def read_outcome(outcome: Outcome, call: Call[T]) -> T:
    """Return what the response to a call contains.

    Raises:
        TouchstoneError: The service rejected the call or did not respond.
    """
    if isinstance(outcome, httpx2.RequestError):
        raise unreachable(outcome) from outcome

    assert isinstance(outcome, httpx2.Response)
    if outcome.is_error:
        raise refused(outcome)
    return call.read(outcome)


def wait_for_job(job: Job, identity: Identity, report: Callable[[Job], None] | None = None) -> Conversation[Job]:
    """Poll a job with growing intervals until it is done; call `report` with the job after each poll."""
    delay = FIRST_POLL
    while True:
        job = yield from carry_out(get_job(job.kind, job.id), identity)
        if report is not None:
            report(job)
        if job.done:
            return job

        yield Pause(delay)
        delay = min(delay * 1.5, LONGEST_POLL)


def build_request(http: httpx2.Client | httpx2.AsyncClient, call: Call[Any], identity: Identity) -> httpx2.Request:
    """Return the HTTP request of a call with the headers of the identity."""
    return http.build_request(
        call.method,
        call.path,
        params=list(query_pairs(call.query)) or None,
        json=call.json,
        content=call.content,
        files=call.files,
        headers={**_headers(identity, call.public), **call.headers},
        extensions={"client": identity.address} if identity.address else None,
    )


class HttpOptions(TypedDict):
    """The options that both kinds of HTTP client share."""

    base_url: str
    timeout: httpx2.Timeout
    trust_env: bool
    cookies: CookieJar


def http_options(base_url: str, timeout: float) -> HttpOptions:
    """Return the options of an HTTP client for a server; a server on this machine is called without a proxy."""
    is_local = (urlsplit(base_url).hostname or "") in LOOPBACK_HOSTS
    # Several people may share one HTTP client, which must not send the cookies of one with the calls of another.
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    return HttpOptions(
        base_url=base_url,
        timeout=httpx2.Timeout(timeout, connect=5.0),
        trust_env=not is_local,
        cookies=no_cookies,
    )


def _headers(identity: Identity, public: bool) -> dict[str, str]:
    headers = {"Accept-Language": identity.locale, "User-Agent": identity.user_agent}
    if identity.token is not None and not public:
        headers["Authorization"] = f"Bearer {identity.token}"
    return {name: value for name, value in headers.items() if value is not None}


def _is_token_expired(outcome: Outcome, call: Call[Any], identity: Identity) -> bool:
    is_unauthorized = isinstance(outcome, httpx2.Response) and outcome.status_code == 401
    return is_unauthorized and not call.public and identity.refresh_token is not None


def _seconds_until_retry(outcome: Outcome, call: Call[Any], attempt: int) -> float | None:
    if attempt == ATTEMPTS or not call.repeatable:
        return None

    backoff = FIRST_RETRY * 2.0 ** (attempt - 1)
    if isinstance(outcome, httpx2.RequestError):
        return backoff
    if not isinstance(outcome, httpx2.Response) or outcome.status_code not in TEMPORARY_STATUSES:
        return None

    requested = retry_after(outcome)
    if requested is None:
        return backoff
    return requested if requested <= MAX_PAUSE else None
