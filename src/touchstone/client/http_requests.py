"""HTTP requests built from calls, and the settings of the HTTP client that sends them."""

from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, TypedDict
from urllib.parse import urlsplit

import httpx2

from touchstone.client.call import Call, query_pairs
from touchstone.client.identity import Identity

CONNECT_TIMEOUT_SECONDS: Final = 5.0
LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class HttpClientOptions(TypedDict):
    """The options that the synchronous and the asynchronous HTTP client have in common."""

    base_url: str
    timeout: httpx2.Timeout
    trust_env: bool
    cookies: CookieJar


def http_client_options(base_url: str, timeout_seconds: float) -> HttpClientOptions:
    """Return the options of an HTTP client for the server at `base_url`.

    A server on this machine is called directly, even if the environment names a proxy.
    """
    is_on_this_machine = urlsplit(base_url).hostname in LOOPBACK_HOSTS

    # Several callers may share one HTTP client, which must not send the cookies of one with the requests of another.
    jar_without_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))

    return HttpClientOptions(
        base_url=base_url,
        timeout=httpx2.Timeout(timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
        trust_env=not is_on_this_machine,
        cookies=jar_without_cookies,
    )


def build_request(
    http_client: httpx2.Client | httpx2.AsyncClient, call: Call[Any], identity: Identity
) -> httpx2.Request:
    """Return the HTTP request for a call to the API, on behalf of the caller with this identity.

    Headers of the call take precedence over those of the identity. An application in the same process also receives
    the address of the caller, as the request extension `client`; it is not sent over the network.
    """
    identity_headers = identity.headers(with_token=not call.public)
    headers = {**identity_headers, **call.headers}
    extensions = {"client": identity.address} if identity.address else None

    return http_client.build_request(
        call.method,
        call.path,
        params=list(query_pairs(call.query)) or None,
        json=call.json,
        content=call.content,
        files=call.files,
        headers=headers,
        extensions=extensions,
        timeout=_timeout_of(call, http_client.timeout),
    )


def _timeout_of(call: Call[Any], timeout: httpx2.Timeout) -> httpx2.Timeout:
    """Return the time limits of a call: those of the client, unless the service may need longer for the call."""
    is_long_enough = timeout.read is None or timeout.read >= call.min_timeout_seconds
    if is_long_enough:
        return timeout
    return httpx2.Timeout(call.min_timeout_seconds, connect=timeout.connect)
