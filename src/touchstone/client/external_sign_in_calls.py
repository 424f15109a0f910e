"""API calls for signing in with an external identity provider, which only make sense in a user's browser."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpx2

from touchstone.client.account_calls import DEVICE_COOKIE, LINK_COOKIE, cookie_header, read_sign_in
from touchstone.client.call import JSON_MEDIA_TYPE, Call, build_path
from touchstone.client.errors import TouchstoneError, error_from_response
from touchstone.client.models import Tokens

STATE_COOKIE: Final = "touchstone_oidc"


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in that continues at an identity provider.

    Attributes:
        url: the address at the provider.
        state: the cookie that the browser must send when it comes back.
    """

    url: str
    state: str


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A refused sign-in, because the account must first be linked to the identity provider.

    Attributes:
        error: the refusal.
        link: the token for `account_calls.sign_in`, which links the account.
    """

    error: TouchstoneError
    link: str


def begin(provider: str, next_page: str) -> Call[PendingSignIn]:
    """Begin to sign in with an identity provider, in order to continue with a page afterwards."""
    path = build_path("auth", "oidc", provider, "login")
    return Call(
        "GET",
        path,
        _read_pending_sign_in,
        query={"next": next_page},
        public=True,
        other_statuses=frozenset({httpx2.codes.SEE_OTHER}),
    )


def _read_pending_sign_in(response: httpx2.Response) -> PendingSignIn:
    return PendingSignIn(url=response.headers["location"], state=response.cookies[STATE_COOKIE])


def complete(
    provider: str, answer: Mapping[str, str], *, state: str | None, device: str | None
) -> Call[Tokens | LinkRequest]:
    """Complete a sign-in with the answer of the identity provider, as it has sent it to the browser.

    Args:
        provider: the name of the provider.
        answer: the parameters with which the provider has sent the browser back.
        state: the cookie that `begin` has returned, or None if the browser has lost it.
        device: the token that an earlier sign-in on the same device has returned, if there was one.
    """
    headers = {"Accept": JSON_MEDIA_TYPE} | cookie_header({STATE_COOKIE: state, DEVICE_COOKIE: device})
    path = build_path("auth", "oidc", provider, "callback")
    return Call(
        "GET",
        path,
        _read_completed_sign_in,
        query=answer,
        headers=headers,
        public=True,
        other_statuses=frozenset({httpx2.codes.CONFLICT}),
    )


def _read_completed_sign_in(response: httpx2.Response) -> Tokens | LinkRequest:
    """Return the tokens, or the request to link the account.

    Raises:
        TouchstoneError: the account cannot be linked either.
    """
    if response.is_success:
        return read_sign_in(response)

    link = response.cookies.get(LINK_COOKIE)
    if link is None:
        raise error_from_response(response)
    return LinkRequest(error_from_response(response), link)
