"""The cookies of the pages: session tokens, device token, external sign-in, language, theme and last ranking.

Scripts cannot read them (HttpOnly), browsers do not send them with the forms of other sites (SameSite=Lax), and on a
site with https, they are never sent over an unencrypted connection (Secure).
"""

import re
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from touchstone.client.external_sign_in_calls import STATE_COOKIE
from touchstone.core.identity import Headers
from touchstone.http.cookie_attributes import cookie_attributes
from touchstone.web.addresses import HOME

SESSION_ACCESS: Final = "touchstone_access"
SESSION_REFRESH: Final = "touchstone_refresh"
DEVICE: Final = "touchstone_device"
EXTERNAL_SIGN_IN: Final = STATE_COOKIE
LANGUAGE: Final = "touchstone_language"
THEME: Final = "touchstone_theme"
LAST_RANKING: Final = "touchstone_ranking"

THEMES: Final = ("auto", "light", "dark")
_DEFAULT_THEME: Final = "auto"
_DAY_SECONDS: Final = 86_400
_YEAR_SECONDS: Final = 365 * _DAY_SECONDS
_MAX_RANKING_LENGTH: Final = 2000  # well below the 4096 bytes that browsers accept in a cookie
_EXTERNAL_SIGN_IN_SECONDS: Final = 600
# An identity provider sends the reader back to the API, which also has to see this cookie.
_EXTERNAL_SIGN_IN_PATH: Final = "/"

_DEVICE_PATTERN: Final = re.compile(r"[A-Za-z0-9._~-]{1,1000}")
_SIGNED_TOKEN_PATTERN: Final = re.compile(r"[A-Za-z0-9._-]{1,4000}")
_RANKING_PATTERN: Final = re.compile(r"\?[A-Za-z0-9%&=+._*~-]+")
_ACCESS_PATTERN: Final = re.compile(rb"(?:^|; ?)%s=([^; ]+)" % SESSION_ACCESS.encode())


@dataclass(frozen=True, slots=True)
class SessionTokens:
    """The tokens of a signed-in browser; an empty access token must be renewed before use."""

    access: str
    refresh: str


def read_session(request: Request) -> SessionTokens | None:
    """Return the tokens that the browser sent, or None if nobody is signed in.

    An access token that cannot be sent in a header is ignored.
    """
    refresh_token = request.cookies.get(SESSION_REFRESH, "")
    if not refresh_token:
        return None

    access_token = request.cookies.get(SESSION_ACCESS, "")
    is_well_formed = _SIGNED_TOKEN_PATTERN.fullmatch(access_token) is not None
    return SessionTokens(access_token if is_well_formed else "", refresh_token)


def write_session(response: Response, request: Request, tokens: SessionTokens, *, days: int) -> None:
    """Store the tokens in the browser for `days` days, which is how long an unused session lasts."""
    _set_cookie(response, request, SESSION_ACCESS, tokens.access, seconds=days * _DAY_SECONDS)
    _set_cookie(response, request, SESSION_REFRESH, tokens.refresh, seconds=days * _DAY_SECONDS)


def delete_session(response: Response) -> None:
    """Delete the tokens in the browser."""
    for name in (SESSION_ACCESS, SESSION_REFRESH):
        response.delete_cookie(name, path=HOME)


def authorization_headers(scope: Scope) -> Headers:
    """Return the access token in a browser's cookies as an `Authorization` header, or [] if there is none.

    API clients send this header themselves. With it, code that is written for the API can identify the reader of a
    page.
    """
    for name, value in scope["headers"]:
        if name != b"cookie":
            continue

        token_match = _ACCESS_PATTERN.search(value)
        if token_match:
            return [(b"authorization", b"Bearer " + token_match[1])]
    return []


def read_device(request: Request) -> str | None:
    """Return the token of a browser that has signed in before, or None if there is no valid token."""
    value = request.cookies.get(DEVICE, "")
    return value if _DEVICE_PATTERN.fullmatch(value) else None


def read_external_sign_in(request: Request) -> str | None:
    """Return the token of a sign-in that has begun at an identity provider, or None if there is no valid token."""
    value = request.cookies.get(EXTERNAL_SIGN_IN, "")
    return value if _SIGNED_TOKEN_PATTERN.fullmatch(value) else None


def write_external_sign_in(response: Response, request: Request, token: str) -> None:
    """Store the token of a sign-in that has begun at an identity provider, which may take ten minutes."""
    attributes = cookie_attributes(request, path=_EXTERNAL_SIGN_IN_PATH, seconds=_EXTERNAL_SIGN_IN_SECONDS)
    response.set_cookie(EXTERNAL_SIGN_IN, token, **attributes)


def delete_external_sign_in(response: Response) -> None:
    """Delete the token of a sign-in at an identity provider, which has been completed or refused."""
    response.delete_cookie(EXTERNAL_SIGN_IN, path=_EXTERNAL_SIGN_IN_PATH)


def read_theme(request: Request) -> str:
    """Return the theme selected in this browser. The theme `auto` follows the system."""
    theme = request.cookies.get(THEME)
    return theme if theme in THEMES else _DEFAULT_THEME


def write_preference(response: Response, request: Request, name: str, value: str) -> None:
    """Store the cookie `name` in the browser for a year."""
    _set_cookie(response, request, name, value, seconds=_YEAR_SECONDS)


def write_last_ranking(response: Response, request: Request, query: str) -> None:
    """Store the query of the ranking until the browser is closed.

    If the query is too long for a cookie, the stored query is deleted instead.
    """
    if len(query) > _MAX_RANKING_LENGTH:
        delete_last_ranking(response)
    elif query != request.cookies.get(LAST_RANKING, ""):
        _set_cookie(response, request, LAST_RANKING, query, seconds=None)


def delete_last_ranking(response: Response) -> None:
    """Delete the query of the last ranking in the browser."""
    response.delete_cookie(LAST_RANKING, path=HOME)


def last_ranking_address(request: Request) -> str:
    """Return the address of the last ranking that was shown, or the start page if none is stored."""
    query = request.cookies.get(LAST_RANKING, "")
    return HOME + query if _RANKING_PATTERN.fullmatch(query) else HOME


def _set_cookie(response: Response, request: Request, name: str, value: str, *, seconds: int | None) -> None:
    """Set a cookie that is only sent with requests for our pages and that scripts cannot read.

    It expires after `seconds`, or when the browser is closed if `seconds` is None.
    """
    response.set_cookie(name, value, **cookie_attributes(request, path=HOME, seconds=seconds))
