"""The client of one identity provider, which caches its metadata and its keys."""

import asyncio
import base64
import time
from typing import Final, TypeVar
from urllib.parse import quote_plus

import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

from touchstone.core.identity_provider import IdentityProvider, is_protected_url
from touchstone.core.identity_provider_errors import IdentityProviderUnavailable, InvalidIdentity
from touchstone.core.json_decoding import decode_json
from touchstone.services.gateway.oidc.provider_requests import ProviderRequests, ProviderResponse

CACHE_SECONDS: Final = 3600.0
# After a failure, no requests are sent to the provider for this time.
FAILURE_CACHE_SECONDS: Final = 3.0
_DISCOVERY_PATH: Final = "/.well-known/openid-configuration"
# Symmetric keys are ignored: whoever knows one could sign tokens as well as verify them.
_KEY_TYPES: Final = frozenset({"RSA", "EC"})
Content = TypeVar("Content", bound=msgspec.Struct)


class ProviderMetadata(msgspec.Struct, frozen=True):
    """The members of a provider's discovery document (Discovery 1.0, section 3) that this service uses."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False

    @property
    def endpoints(self) -> list[str]:
        """All addresses to which users or secrets are sent."""
        endpoints = [self.authorization_endpoint, self.token_endpoint, self.jwks_uri]
        return [*endpoints, self.userinfo_endpoint] if self.userinfo_endpoint else endpoints


class TokenResponse(msgspec.Struct, frozen=True):
    """The tokens that a provider issues for a code."""

    id_token: str
    access_token: str = ""


class _TokenError(msgspec.Struct, frozen=True):
    """The response to a code or to credentials that the provider does not accept."""

    error: str


class _KeyDocument(msgspec.Struct, frozen=True):
    """The keys of a provider. Their members depend on the type of each key."""

    keys: list[dict[str, object]]


class ProviderClient:
    """The client of one identity provider.

    Attributes:
        provider: the configuration of the provider.
    """

    def __init__(self, provider: IdentityProvider) -> None:
        self.provider = provider
        self._requests = ProviderRequests(provider)
        self._lock = asyncio.Lock()
        self._metadata: ProviderMetadata | None = None
        self._metadata_until = 0.0
        self._failed_until = 0.0
        self._keys: KeySet | None = None
        self._keys_until = 0.0

    async def read_metadata(self) -> ProviderMetadata:
        """Return the discovery document of the provider.

        Raises:
            IdentityProviderUnavailable: the provider does not respond, or its document cannot be used.
        """
        async with self._lock:
            now = time.monotonic()
            if self._metadata is not None and now < self._metadata_until:
                return self._metadata
            if now < self._failed_until:
                raise IdentityProviderUnavailable(provider=self.provider.label)

            try:
                self._metadata = await self._fetch_metadata()
            except IdentityProviderUnavailable:
                self._failed_until = time.monotonic() + FAILURE_CACHE_SECONDS
                raise
            self._metadata_until = time.monotonic() + CACHE_SECONDS
            return self._metadata

    async def exchange_code(self, code: str, code_verifier: str, redirect_uri: str) -> TokenResponse:
        """Return the tokens for an authorization code (RFC 6749, section 4.1.3).

        Raises:
            InvalidIdentity: the provider does not accept the code.
            IdentityProviderUnavailable: the provider does not respond properly, or does not accept our credentials.
        """
        metadata = await self.read_metadata()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": code_verifier,
            "redirect_uri": redirect_uri,
        }
        headers = {}
        methods = metadata.token_endpoint_auth_methods_supported
        only_accepts_secret_in_form = "client_secret_post" in methods and "client_secret_basic" not in methods
        if only_accepts_secret_in_form:
            form["client_id"] = self.provider.client_id
            form["client_secret"] = self.provider.client_secret.get_secret_value()
        else:
            headers["Authorization"] = self._basic_authorization()

        response = await self._requests.post_form(metadata.token_endpoint, form, headers=headers)
        if response.status == 200:
            return self._decode(response, TokenResponse)

        error = self._decode(response, _TokenError).error
        if error == "invalid_grant":
            raise InvalidIdentity
        raise self.unavailable(f"status {response.status} at the token endpoint")

    async def read_keys(self, *, must_be_new: bool = False) -> KeySet:
        """Return the keys with which the provider signs its ID tokens.

        Args:
            must_be_new: whether to fetch them even if they are cached, because a key is unknown.

        Raises:
            IdentityProviderUnavailable: the provider does not respond properly, or has no usable key.
        """
        metadata = await self.read_metadata()
        async with self._lock:
            if self._keys is not None and time.monotonic() < self._keys_until and not must_be_new:
                return self._keys

            response = await self._requests.get(metadata.jwks_uri)
            self._keys = self._import_keys(response)
            self._keys_until = time.monotonic() + CACHE_SECONDS
            return self._keys

    async def read_user_info(self, access_token: str) -> dict[str, object]:
        """Return the claims at the UserInfo endpoint, or {} without such an endpoint or an access token.

        Raises:
            IdentityProviderUnavailable: the provider does not respond properly.
        """
        metadata = await self.read_metadata()
        if metadata.userinfo_endpoint is None or not access_token:
            return {}

        headers = {"Authorization": f"Bearer {access_token}"}
        response = await self._requests.get(metadata.userinfo_endpoint, headers=headers)
        if response.status != 200:
            raise self.unavailable(f"status {response.status} at the UserInfo endpoint")
        try:
            return decode_json(response.body, dict[str, object])
        except msgspec.DecodeError as error:
            raise self.unavailable("the claims are not JSON") from error

    def unavailable(self, problem: str) -> IdentityProviderUnavailable:
        """Log why the provider cannot be used, and return the error for the user."""
        return self._requests.unavailable(problem)

    async def close(self) -> None:
        """Close the connections to the provider."""
        await self._requests.close()

    async def _fetch_metadata(self) -> ProviderMetadata:
        """Return the discovery document after checking that it belongs to the configured issuer."""
        url = self.provider.issuer.removesuffix("/") + _DISCOVERY_PATH
        metadata = self._decode(await self._requests.get(url), ProviderMetadata)

        if metadata.issuer != self.provider.issuer:
            raise self.unavailable("the discovery document has another issuer")
        if not all(is_protected_url(endpoint) for endpoint in metadata.endpoints):
            raise self.unavailable("an endpoint does not use https")
        return metadata

    def _import_keys(self, response: ProviderResponse) -> KeySet:
        """Return the keys for signatures in a response, without keys of types that are not supported."""
        keys: list[Key] = []
        for document in self._decode(response, _KeyDocument).keys:
            is_asymmetric = document.get("kty") in _KEY_TYPES
            is_for_signatures = document.get("use", "sig") == "sig"  # a key without `use` serves every purpose
            if not (is_asymmetric and is_for_signatures):
                continue
            try:
                keys.append(JWKRegistry.import_key(document))  # type: ignore[arg-type]
            except (JoseError, ValueError, TypeError, KeyError):
                continue

        if not keys:
            raise self.unavailable("it has no usable key")
        return KeySet(keys)

    def _basic_authorization(self) -> str:
        """Return our credentials as the value of an Authorization header (RFC 6749, section 2.3.1)."""
        client_id = quote_plus(self.provider.client_id)
        client_secret = quote_plus(self.provider.client_secret.get_secret_value())
        credentials = base64.b64encode(f"{client_id}:{client_secret}".encode())
        return f"Basic {credentials.decode()}"

    def _decode(self, response: ProviderResponse, content_type: type[Content]) -> Content:
        """Return the content of a JSON response."""
        try:
            return decode_json(response.body, content_type)
        except msgspec.DecodeError as error:
            problem = f"status {response.status} without a valid {content_type.__name__.lstrip('_')}"
            raise self.unavailable(problem) from error
