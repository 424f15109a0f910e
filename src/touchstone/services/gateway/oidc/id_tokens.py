"""Verification of the ID tokens of identity providers (OpenID Connect Core 1.0, section 3.1.3.7)."""

from typing import Any, Final

from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError

from touchstone.core.identity_provider_errors import InvalidIdentity
from touchstone.services.gateway.oidc.provider_client import ProviderClient

# Asymmetric algorithms only. A token without a signature, or one that is signed with the public key as if it were a
# shared secret, is refused.
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
# The clocks of the provider and of this machine may differ by this time.
LEEWAY_SECONDS: Final = 60


async def verify_id_token(client: ProviderClient, id_token: str, *, nonce: str) -> dict[str, Any]:
    """Return the claims of an ID token.

    Args:
        client: the client of the provider that must have issued the token.
        id_token: the token.
        nonce: the nonce of the sign-in for which the token must have been issued.

    Raises:
        InvalidIdentity: the signature is wrong, or the token is expired, or not for this service or this sign-in.
        IdentityProviderUnavailable: the keys of the provider cannot be fetched.
    """
    client_id = client.provider.client_id
    # The library calls a required claim "essential".
    registry = jwt.JWTClaimsRegistry(
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": client.provider.issuer},
        aud={"essential": True, "value": client_id},
        sub={"essential": True},
        iat={"essential": True},
        exp={"essential": True},
        nonce={"essential": True, "value": nonce},
    )
    try:
        claims = await _verify_signature(client, id_token)
        registry.validate(claims)
    except (JoseError, ValueError, TypeError, RecursionError) as error:
        raise InvalidIdentity from error

    _check_authorized_party(claims, client_id)
    return claims


async def _verify_signature(client: ProviderClient, id_token: str) -> dict[str, Any]:
    """Return the claims of a token whose signature is valid.

    If the key of the token is unknown, the provider may have changed its keys, so they are fetched again.
    """
    try:
        return jwt.decode(id_token, await client.read_keys(), algorithms=ALGORITHMS).claims
    except InvalidKeyIdError:
        new_keys = await client.read_keys(must_be_new=True)
        return jwt.decode(id_token, new_keys, algorithms=ALGORITHMS).claims


def _check_authorized_party(claims: dict[str, Any], client_id: str) -> None:
    """Check that a token was issued to this service, and not to another client whose tokens it also accepts.

    The claim `azp` (authorized party) names the client that requested the token. It may be missing if the token has a
    single audience, which is then this service.

    Raises:
        InvalidIdentity: the token was issued to another client, or does not say to which one.
    """
    audience = claims["aud"]
    has_several_audiences = isinstance(audience, list) and len(audience) > 1
    if "azp" not in claims and not has_several_audiences:
        return

    if claims.get("azp") != client_id:
        raise InvalidIdentity
