"""HTTP requests to an identity provider, with limits for their duration, their number and the size of responses."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
import structlog

from touchstone.core.identity_provider import IdentityProvider
from touchstone.core.identity_provider_errors import IdentityProviderUnavailable

REQUEST_SECONDS: Final = 5.0
MAX_RESPONSE_BYTES: Final = 1024 * 1024
# Requests of users who sign in occupy the service while they wait for a slow provider, so only a few may do so.
MAX_CONCURRENT: Final = 16
_CHUNK_BYTES: Final = 65_536
log = structlog.get_logger("touchstone.oidc")


@dataclass(frozen=True, slots=True)
class ProviderResponse:
    """A complete response of a provider."""

    status: int
    body: bytes


class ProviderRequests:
    """Sends requests to one provider, and reports all failures as `IdentityProviderUnavailable`."""

    def __init__(self, provider: IdentityProvider) -> None:
        self._provider = provider
        self._running_count = 0
        self._lazy_session: aiohttp.ClientSession | None = None

    @property
    def _session(self) -> aiohttp.ClientSession:
        """The HTTP client, created on first use because it needs a running event loop.

        It uses the proxy of the environment, as outgoing requests of companies often have to, but not for a provider on
        this machine.
        """
        if self._lazy_session is None:
            self._lazy_session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=REQUEST_SECONDS),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"Accept": "application/json", "Accept-Encoding": "identity"},
                auto_decompress=False,  # a small compressed response could be huge
                trust_env=urlsplit(self._provider.issuer).scheme == "https",
            )
        return self._lazy_session

    async def get(self, url: str, *, headers: Mapping[str, str] | None = None) -> ProviderResponse:
        """Return the response to a GET request.

        Raises:
            IdentityProviderUnavailable: there is no usable response, or too many requests are waiting for one.
        """
        return await self._send("GET", url, headers=headers)

    async def post_form(self, url: str, form: Mapping[str, str], *, headers: Mapping[str, str]) -> ProviderResponse:
        """Return the response to a POST request with a form.

        Raises:
            IdentityProviderUnavailable: there is no usable response, or too many requests are waiting for one.
        """
        return await self._send("POST", url, data=form, headers=headers)

    def unavailable(self, problem: str) -> IdentityProviderUnavailable:
        """Log why the provider cannot be used, and return the error for the user, which does not say why.

        The problem must not contain a secret.
        """
        log.warning("identity provider unavailable", provider=self._provider.name, problem=problem)
        return IdentityProviderUnavailable(provider=self._provider.label)

    async def close(self) -> None:
        """Close the pooled connections."""
        if self._lazy_session is not None:
            await self._lazy_session.close()

    async def _send(self, method: str, url: str, **options: Any) -> ProviderResponse:
        """Return the complete response to a request.

        Redirects are not followed, because they could lead a secret to another server.
        """
        async with self._limit_concurrency():
            try:
                async with self._session.request(method, url, allow_redirects=False, **options) as response:
                    body = await self._read_body(response)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                # A timeout is an OSError. Only the type is logged, because the text of an error may quote the response
                # and the secrets in it.
                raise self.unavailable(type(error).__name__) from error

        if response.status >= 500:
            raise self.unavailable(f"status {response.status}")
        return ProviderResponse(response.status, body)

    async def _read_body(self, response: aiohttp.ClientResponse) -> bytes:
        """Return the body of a response, unless it is longer than MAX_RESPONSE_BYTES."""
        body = b""
        async for chunk in response.content.iter_chunked(_CHUNK_BYTES):
            body += chunk
            if len(body) > MAX_RESPONSE_BYTES:
                response.close()
                raise self.unavailable("the response is too large")
        return body

    @asynccontextmanager
    async def _limit_concurrency(self) -> AsyncIterator[None]:
        """Refuse a request while too many others are waiting for the provider."""
        if self._running_count >= MAX_CONCURRENT:
            raise self.unavailable("too many requests are waiting for it")

        self._running_count += 1
        try:
            yield
        finally:
            self._running_count -= 1
