"""The state of a sign-in at an identity provider.

It is stored in a signed cookie, so that any process of the gateway can complete the sign-in, but only in the browser in
which it began.
"""

import base64
import hashlib
import hmac
import time
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self
from urllib.parse import urlencode

from touchstone.core.identity_provider import IdentityProvider
from touchstone.services.gateway.oidc.provider_client import ProviderMetadata
from touchstone.services.gateway.random_tokens import digest_token, generate_token

COOKIE_NAME: Final = "touchstone_oidc"
LIFETIME_SECONDS: Final = 600


@dataclass(frozen=True, slots=True)
class SignInState:
    """A sign-in that has begun.

    Attributes:
        provider: the name of the provider.
        next_page: the page to continue with, or None if the sign-in did not begin on a page.
        state: returns with the code, and proves that the code belongs to this sign-in.
        nonce: returns in the ID token, and proves that the token was issued for this sign-in.
        code_verifier: the secret of PKCE (RFC 7636), without which nobody can use the code.
        expires_at: when the state expires, in seconds since 1970.
    """

    provider: str
    next_page: str | None
    state: str = field(default_factory=generate_token)
    nonce: str = field(default_factory=generate_token)
    code_verifier: str = field(default_factory=generate_token)
    expires_at: int = field(default_factory=lambda: int(time.time()) + LIFETIME_SECONDS)

    @property
    def digest(self) -> str:
        """The digest under which the state is stored when it has been used."""
        return digest_token(self.state)

    def belongs_to(self, provider: str, state: str) -> bool:
        """Return whether a response from this provider with this state belongs to this sign-in."""
        has_same_state = hmac.compare_digest(self.state.encode(), state.encode(errors="replace"))
        return has_same_state and self.provider == provider

    def authorization_url(self, provider: IdentityProvider, metadata: ProviderMetadata, redirect_uri: str) -> str:
        """Return the address at the provider where the user signs in."""
        digest = hashlib.sha256(self.code_verifier.encode()).digest()
        parameters = {
            "response_type": "code",
            "client_id": provider.client_id,
            "redirect_uri": redirect_uri,
            "scope": provider.scopes,
            "state": self.state,
            "nonce": self.nonce,
            "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
            "code_challenge_method": "S256",
        }
        separator = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{separator}{urlencode(parameters)}"

    @classmethod
    def from_claims(cls, claims: dict[str, Any]) -> Self:
        """Return the state in the claims of a token that `SignedTokens` has issued."""
        return cls(**{attribute.name: claims[attribute.name] for attribute in fields(cls)})
