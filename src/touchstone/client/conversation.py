"""How a call is carried out, without any input or output: when to renew the tokens, try again, wait, or give up.

A conversation yields steps and is sent their outcome; the synchronous and the asynchronous client only perform them.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, TypedDict, TypeVar
from urllib.parse import urlsplit

import httpx2

from touchstone.client.call import Call, parameters
from touchstone.client.errors import refused, retry_after, unreachable
from touchstone.client.job_calls import get_job
from touchstone.client.models import Job, Tokens

T = TypeVar("T")
ATTEMPTS: Final = 3
PASSING: Final = frozenset({429, 502, 503, 504})  # refusals that may be gone at the next attempt
LONGEST_PAUSE: Final = 5.0  # seconds; a service that asks for more is asked again by a person
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
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
    """Who calls, and how: shared by all calls of one client.

    Attributes:
        token, refresh_token: as the sign-in gave them.
        locale: `fr` or `en`; by default the service's own choice.
        address: host and port of the person behind the call, for an app in the same process only.
        user_agent: of the person behind the call.
        device: as the last sign-in on this device gave it.
        on_tokens: told the new tokens after each renewal, to keep them somewhere.
    """

    token: str | None = None
    refresh_token: str | None = None
    locale: str | None = None
    address: tuple[str, int] | None = None
    user_agent: str | None = None
    device: str | None = None
    on_tokens: Callable[[Tokens], None] | None = None

    def keep(self, tokens: Tokens) -> None:
        """Use these tokens from now on."""
        self.token = tokens.access_token
        self.refresh_token = tokens.refresh_token or self.refresh_token
        self.device = tokens.device or self.device
        if self.on_tokens is not None:
            self.on_tokens(tokens)

    def forget(self) -> None:
        """Call without a token from now on."""
        self.token = self.refresh_token = None


@dataclass(frozen=True, slots=True)
class Send:
    """Send the call; the outcome is its response, or why there is none."""

    call: Call[Any]


@dataclass(frozen=True, slots=True)
class Renew:
    """Renew the tokens, unless another call has done so since `stale` was sent; the outcome is whether it worked."""

    stale: str | None


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait; no outcome."""

    seconds: float


Step = Send | Renew | Pause
Outcome = httpx2.Response | httpx2.RequestError | bool | None
Conversation = Generator[Step, Outcome, T]


def conversation(call: Call[T], identity: Identity) -> Conversation[T]:
    """Carry out one call: renew an expired token once, try a repeatable call again while it may help.

    Raises:
        TouchstoneError: refused, or not answered.
    """
    renewed = False
    for attempt in range(1, ATTEMPTS + 1):
        sent = identity.token
        outcome = yield Send(call)
        if not renewed and _expired(outcome, call, identity):
            renewed = True
            if (yield Renew(sent)):
                outcome = yield Send(call)
        pause = _pause(outcome, call, attempt)
        if pause is None:
            return settled(outcome, call)
        yield Pause(pause)
    raise AssertionError("the last attempt never pauses")


def settled(outcome: Outcome, call: Call[T]) -> T:
    """What a call came to.

    Raises:
        TouchstoneError: refused, or not answered.
    """
    if isinstance(outcome, httpx2.RequestError):
        raise unreachable(outcome) from outcome
    assert isinstance(outcome, httpx2.Response)
    if outcome.is_error:
        raise refused(outcome)
    return call.read(outcome)


def waiting(job: Job, identity: Identity, report: Callable[[Job], None] | None = None) -> Conversation[Job]:
    """Look at a job until it is done, more and more seldom; `report` sees every look."""
    pause = FIRST_POLL
    while True:
        job = yield from conversation(get_job(job.kind, job.id), identity)
        if report is not None:
            report(job)
        if job.done:
            return job
        yield Pause(pause)
        pause = min(pause * 1.5, LONGEST_POLL)


def request_for(http: httpx2.Client | httpx2.AsyncClient, call: Call[Any], identity: Identity) -> httpx2.Request:
    """The HTTP request of a call, as this identity makes it."""
    return http.build_request(
        call.method,
        call.path,
        params=list(parameters(call.query)) or None,
        json=call.json,
        content=call.content,
        files=call.files,
        headers={**_headers(identity, call.public), **call.headers},
        extensions={"client": identity.address} if identity.address else None,
    )


class HttpOptions(TypedDict):
    """How both kinds of HTTP client are set up."""

    base_url: str
    timeout: httpx2.Timeout
    trust_env: bool
    cookies: CookieJar


def options(base_url: str, timeout: float) -> HttpOptions:
    """The set-up for a server; what runs on this machine is never asked through a proxy."""
    local = (urlsplit(base_url).hostname or "") in LOOPBACK
    # One HTTP client may be shared by several people: it must not send the cookies of one with the calls of another.
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    return HttpOptions(
        base_url=base_url,
        timeout=httpx2.Timeout(timeout, connect=5.0),
        trust_env=not local,
        cookies=no_cookies,
    )


def _headers(identity: Identity, public: bool) -> dict[str, str]:
    bearer = None if public or identity.token is None else f"Bearer {identity.token}"
    headers = {"Authorization": bearer, "Accept-Language": identity.locale, "User-Agent": identity.user_agent}
    return {name: value for name, value in headers.items() if value is not None}


def _expired(outcome: Outcome, call: Call[Any], identity: Identity) -> bool:
    unauthorized = isinstance(outcome, httpx2.Response) and outcome.status_code == 401
    return unauthorized and not call.public and identity.refresh_token is not None


def _pause(outcome: Outcome, call: Call[Any], attempt: int) -> float | None:
    if attempt == ATTEMPTS or not call.repeatable:
        return None
    usual = FIRST_RETRY * 2.0 ** (attempt - 1)
    if isinstance(outcome, httpx2.RequestError):
        return usual
    if isinstance(outcome, httpx2.Response) and outcome.status_code in PASSING:
        asked = retry_after(outcome)
        return usual if asked is None else asked if asked <= LONGEST_PAUSE else None
    return None
