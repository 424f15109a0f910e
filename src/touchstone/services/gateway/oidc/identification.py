"""Identification of the user who has signed in at an identity provider, from the provider's response."""

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from touchstone.core.identity_provider_errors import InvalidIdentity, InvalidSignInState, SignInRefused
from touchstone.database.engine import Database
from touchstone.services.gateway.oidc import sign_in_state_store
from touchstone.services.gateway.oidc.external_identity import ExternalIdentity
from touchstone.services.gateway.oidc.id_tokens import verify_id_token
from touchstone.services.gateway.oidc.provider_client import ProviderClient
from touchstone.services.gateway.oidc.sign_in_states import SignInState

_MAX_LENGTH: Final = 4096
_Parameter = Annotated[str, Field(max_length=_MAX_LENGTH)]
# The claims of the UserInfo endpoint that may be missing in the ID token.
_USER_CLAIMS: Final = ("email", "email_verified", "given_name", "family_name")
# The errors of a provider that do not mean that the user has been refused (RFC 6749, section 4.1.2.1).
_TEMPORARY_ERRORS: Final = frozenset({"server_error", "temporarily_unavailable"})


class ProviderAnswer(BaseModel):
    """The query parameters with which a provider redirects the browser to `callback`. Others are ignored."""

    model_config = ConfigDict(extra="ignore")

    state: _Parameter = Field("", description="The `state` with which the sign-in began.")
    code: _Parameter | None = Field(None, description="Authorization code.")
    error: _Parameter | None = Field(None, description="Why the provider issues no code, such as `access_denied`.")
    iss: _Parameter | None = Field(None, description="Issuer (RFC 9207).")


async def require_unused_state(
    database: Database, state: SignInState | None, provider: str, answer: ProviderAnswer
) -> SignInState:
    """Return the state of a sign-in that comes back from its provider for the first time.

    Raises:
        InvalidSignInState: the sign-in did not begin in this browser or at this provider, or has come back before.
    """
    if state is None or not state.belongs_to(provider, answer.state):
        raise InvalidSignInState

    async with database.writing(may_use_reserve=True) as transaction:
        await sign_in_state_store.use_state(transaction, state)
    return state


async def identify(
    client: ProviderClient, state: SignInState, answer: ProviderAnswer, redirect_uri: str
) -> ExternalIdentity:
    """Return the identity of the user who has signed in at a provider.

    Raises:
        SignInRefused: the user or the provider has refused the sign-in.
        EmailNotVerified: the provider has not verified the user's e-mail address.
        InvalidIdentity: the answer is not valid.
        IdentityProviderUnavailable: the provider does not respond properly.
    """
    await _check_issuer(client, answer)
    if answer.error in _TEMPORARY_ERRORS:
        raise client.unavailable(answer.error)
    if answer.error is not None:
        raise SignInRefused(provider=client.provider.label)
    if not answer.code:
        raise InvalidIdentity

    tokens = await client.exchange_code(answer.code, state.code_verifier, redirect_uri)
    claims = await verify_id_token(client, tokens.id_token, nonce=state.nonce)
    if "email" not in claims or "email_verified" not in claims:
        claims = claims | await _read_user_claims(client, tokens.access_token, subject=claims["sub"])
    return ExternalIdentity.from_claims(client.provider, claims)


async def _check_issuer(client: ProviderClient, answer: ProviderAnswer) -> None:
    """Check that the answer does not come from another provider (RFC 9207)."""
    metadata = await client.read_metadata()
    if answer.iss is None and not metadata.authorization_response_iss_parameter_supported:
        return

    if answer.iss != client.provider.issuer:
        raise InvalidIdentity


async def _read_user_claims(client: ProviderClient, access_token: str, *, subject: str) -> dict[str, Any]:
    """Return the claims about the user that a provider sends separately (Core, section 5.3).

    Raises:
        InvalidIdentity: the claims are about another user.
    """
    claims = await client.read_user_info(access_token)
    if claims and claims.get("sub") != subject:
        raise InvalidIdentity
    return {name: claims[name] for name in _USER_CLAIMS if name in claims}
