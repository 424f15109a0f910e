"""Conversion of API calls to HTTP requests, and the options of the HTTP client that sends them."""

import ssl
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Final, TypedDict
from urllib.parse import urlsplit

import httpx2

from touchstone.client.call import Call, query_pairs
from touchstone.client.identity import Identity
from touchstone.client.json_values import json_value

CONNECT_TIMEOUT_SECONDS: Final = 5.0
LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})


class HttpClientOptions(TypedDict):
    """The options shared by the synchronous and the asynchronous HTTP client."""

    base_url: str
    timeout: httpx2.Timeout
    verify: ssl.SSLContext | bool
    trust_env: bool
    cookies: CookieJar


def http_client_options(base_url: str, timeout_seconds: float) -> HttpClientOptions:
    """Return the options of an HTTP client for the server at `base_url`.

    A server on this machine is called directly, even if environment variables configure a proxy. The variables
    SSL_CERT_FILE and SSL_CERT_DIR, which name trusted certificates, apply to every server.
    """
    url = urlsplit(base_url)
    is_local_server = url.hostname in LOOPBACK_HOSTS

    # Several callers may share one HTTP client, which must not send the cookies of one caller for another.
    jar_without_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))

    return HttpClientOptions(
        base_url=base_url,
        timeout=httpx2.Timeout(timeout_seconds, connect=CONNECT_TIMEOUT_SECONDS),
        verify=httpx2.create_ssl_context() if url.scheme == "https" else True,
        trust_env=not is_local_server,
        cookies=jar_without_cookies,
    )


def build_request(
    http_client: httpx2.Client | httpx2.AsyncClient, call: Call[Any], identity: Identity
) -> httpx2.Request:
    """Return the HTTP request for a call to the API, on behalf of the caller with this identity.

    Headers of the call take precedence over headers of the identity. The address of the caller becomes the request
    extension `client`. Only an application in the same process receives it, because it is not sent over the network.
    """
    identity_headers = identity.headers(with_token=not call.public)
    headers = {**identity_headers, **call.headers}
    extensions = {"client": identity.address} if identity.address else None

    return http_client.build_request(
        call.method,
        call.path,
        params=list(query_pairs(call.query)) or None,
        json=json_value(call.json),
        content=call.content,
        files=call.files,
        headers=headers,
        extensions=extensions,
        timeout=_call_timeout(call, http_client.timeout),
    )


def _call_timeout(call: Call[Any], client_timeout: httpx2.Timeout) -> httpx2.Timeout:
    """Return the time limits of the client, extended if the service may need longer for this call."""
    is_long_enough = client_timeout.read is None or client_timeout.read >= call.min_timeout_seconds
    if is_long_enough:
        return client_timeout
    return httpx2.Timeout(call.min_timeout_seconds, connect=client_timeout.connect)
