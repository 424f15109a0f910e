"""The configured identity providers, and the keys that sign the cookies of a sign-in."""

import asyncio

from touchstone.core.identity_provider_errors import IdentityProviderNotFound
from touchstone.core.settings import Settings
from touchstone.services.gateway.oidc.provider_client import ProviderClient
from touchstone.services.gateway.oidc.signed_tokens import SignedTokens
from touchstone.services.gateway.public_routes import API
from touchstone.services.gateway.signing_key import derive_key


class IdentityProviders:
    """The clients of all configured providers, created once per process.

    Attributes:
        state_tokens: signs the states of sign-ins that have begun.
        link_tokens: signs the identities that wait to be linked to an account.
    """

    def __init__(self, settings: Settings, signing_key: bytes) -> None:
        self.state_tokens = SignedTokens(derive_key(signing_key, "states of external sign-ins"))
        self.link_tokens = SignedTokens(derive_key(signing_key, "links to external identities"))
        self._public_url = settings.public_url
        self._clients = {provider.name: ProviderClient(provider) for provider in settings.oidc_providers}

    def find(self, name: str) -> ProviderClient:
        """Return the client of the provider with this name.

        Raises:
            IdentityProviderNotFound: there is none.
        """
        client = self._clients.get(name)
        if client is None:
            raise IdentityProviderNotFound
        return client

    def redirect_uri(self, name: str) -> str:
        """Return the address to which a provider sends users back.

        It has to be registered at the provider. It is never built from the Host header, which the client can choose.
        """
        return f"{self._public_url}{API}/auth/oidc/{name}/callback"

    async def close(self) -> None:
        """Close the connections to all providers."""
        await asyncio.gather(*(client.close() for client in self._clients.values()))
