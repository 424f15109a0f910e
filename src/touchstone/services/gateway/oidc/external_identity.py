"""The identity of a user at an identity provider."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, TypeAdapter, ValidationError

from touchstone.core.identity_provider import IdentityProvider
from touchstone.core.identity_provider_errors import EmailNotVerified, InvalidIdentity
from touchstone.http.request_models import SHORT_TEXT, Name, ShortText
from touchstone.services.gateway.schemas import Email

_SUBJECT: Final = TypeAdapter(Annotated[ShortText, Field(min_length=1)])
_EMAIL: Final = TypeAdapter(Email)
_NAME: Final = TypeAdapter(Name)


@dataclass(frozen=True, slots=True)
class ExternalIdentity:
    """A user as a provider knows them.

    Attributes:
        provider: the name of the provider.
        subject: the id of the user at the provider, which never changes.
        email: the address, which the provider has verified.
        given_name, family_name: the names, if the provider has sent usable ones.
    """

    provider: str
    subject: str
    email: str
    given_name: str | None = None
    family_name: str | None = None

    @classmethod
    def from_claims(cls, provider: IdentityProvider, claims: Mapping[str, Any]) -> "ExternalIdentity":
        """Return the identity in verified claims of a provider.

        Raises:
            EmailNotVerified: there is no e-mail address, or the provider has not verified it.
            InvalidIdentity: the id of the user or the address is not valid.
        """
        # Some providers send the string "true" instead of a Boolean.
        if claims.get("email") is None or claims.get("email_verified") not in (True, "true"):
            raise EmailNotVerified(provider=provider.label)

        try:
            subject = _SUBJECT.validate_python(claims["sub"], strict=True)
            email = _EMAIL.validate_python(claims["email"], strict=True)
        except ValidationError as error:
            raise InvalidIdentity from error

        return cls(
            provider=provider.name,
            subject=subject,
            email=email,
            given_name=_usable_name(claims.get("given_name")),
            family_name=_usable_name(claims.get("family_name")),
        )


def _usable_name(name: object) -> str | None:
    """Return a name, or None if it cannot be stored. The user can add it later."""
    if not isinstance(name, str):
        return None
    try:
        return _NAME.validate_python(name[:SHORT_TEXT])
    except ValidationError:
        return None
