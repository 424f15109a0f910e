"""The errors of the HTTP API that concern signing in with an identity provider."""

from touchstone.core.errors import BadRequest, Forbidden, NotFound, ServiceError, Unauthorized, Unavailable


class InvalidIdentity(Unauthorized):
    """The response of an identity provider does not prove the identity of the user."""

    code = "invalid_identity"


class SignInRefused(Forbidden):
    """The user or the identity provider has refused the sign-in at the provider."""

    code = "sign_in_refused"


class EmailNotVerified(Forbidden):
    """The identity provider has not verified that the e-mail address belongs to the user."""

    code = "email_not_verified"


class IdentityProviderNotFound(NotFound):
    """No identity provider with this name is configured."""

    code = "identity_provider_not_found"


class OAuthAccountNotFound(NotFound):
    """The account at an identity provider does not exist, or is linked to another user."""

    code = "oauth_account_not_found"


class LastWayToSignIn(ServiceError):
    """The user has no password, and could not sign in any more without this account at an identity provider."""

    status, code = 409, "last_way_to_sign_in"


class AccountNotLinked(ServiceError):
    """There is already an account with this e-mail address. To link it, the user must enter its password."""

    status, code = 409, "account_not_linked"


class InvalidSignInState(BadRequest):
    """The sign-in at the identity provider did not begin in this browser, took too long, or is completed already."""

    code = "invalid_sign_in_state"


class IdentityProviderUnavailable(Unavailable):
    """An identity provider does not respond, or its responses cannot be used."""

    code = "identity_provider_unavailable"

    def __init__(self, *, provider: str) -> None:
        # A sign-in cannot be repeated, so the delay is longer than our own client would wait to send a request again.
        super().__init__(retry_after=10, provider=provider)
