"""The configuration of the OpenID Connect providers with which users can sign in."""

import json
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

_DEFAULT_SCOPES: Final = "openid email profile"


def is_protected_url(url: str) -> bool:
    """Return whether requests to a URL cannot be intercepted, because it uses https or leads to this machine."""
    try:
        parsed_url = urlsplit(url)
        hostname = parsed_url.hostname
    except ValueError:
        return False

    if not hostname or parsed_url.username is not None:
        return False
    return parsed_url.scheme == "https" or (parsed_url.scheme == "http" and _is_loopback(hostname))


def _is_loopback(hostname: str) -> bool:
    """Return whether a host is this machine."""
    try:
        return hostname == "localhost" or ip_address(hostname).is_loopback
    except ValueError:
        return False


def _check_issuer(issuer: str) -> str:
    """Refuse issuers that cannot be trusted, or that the specification does not allow (Discovery 1.0, section 3)."""
    if not is_protected_url(issuer) or "?" in issuer or "#" in issuer:
        raise ValueError("an issuer is https://host or https://host/path; http:// only for this machine")
    return issuer


def _check_scopes(scopes: str) -> str:
    """Refuse scopes without `openid`, with which a provider would send no ID token."""
    if "openid" not in scopes.split():
        raise ValueError("the scopes must include openid")
    return scopes


class IdentityProvider(BaseModel):
    """An external service that authenticates users, and the registration of this installation there.

    Attributes:
        name: the name in the addresses for signing in, and in `oauth_accounts`.
        issuer: the address that identifies the provider, exactly as the provider writes it.
        client_id, client_secret: the credentials that the provider has issued to this installation.
        label: the name for readers, on the button of the sign-in page.
        scopes: the requested scopes, separated by blanks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,31}$")
    issuer: Annotated[str, AfterValidator(_check_issuer)]
    client_id: str = Field(min_length=1)
    client_secret: SecretStr = Field(min_length=1)
    label: str = Field(min_length=1, max_length=60)
    scopes: Annotated[str, AfterValidator(_check_scopes)] = _DEFAULT_SCOPES


def parse_identity_providers(text: str) -> tuple[IdentityProvider, ...]:
    """Return the providers in a JSON object, with the options of each provider by its name.

    Raises:
        ValueError: the text is not such an object, or an option is missing, unknown or invalid. The message does not
            contain the value of an option, because it may be a secret.
    """
    try:
        providers = json.loads(text)
    except ValueError:
        raise ValueError("the value is not JSON") from None
    if not isinstance(providers, dict):
        raise ValueError('the value is a JSON object such as {"name": {"issuer": …, "client_id": …}}')

    return tuple(_parse_provider(name, options) for name, options in providers.items())


def _parse_provider(name: str, options: Any) -> IdentityProvider:
    """Return the provider with a name and options. The label is the name by default.

    Raises:
        ValueError: an option is missing, unknown or invalid.
    """
    if not isinstance(options, Mapping):
        raise ValueError(f"{name}: the options are a JSON object")

    try:
        return IdentityProvider.model_validate({"label": name, **options, "name": name})
    except ValidationError as error:
        first_error = error.errors(include_input=False, include_url=False)[0]
        path = ".".join([name, *map(str, first_error["loc"])])
        reason = first_error["msg"].removeprefix("Value error, ")
        raise ValueError(f"{path}: {reason}") from None
