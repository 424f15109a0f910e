"""The cookies of the pages: who is signed in, who has been before, the language and the theme.

And which requests may change anything.

Scripts never see the tokens (HttpOnly), other sites never send them with a form (SameSite=Lax and the origin check),
and on https they travel encrypted only (Secure).
"""

import re
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from touchstone.core.identity import Headers
from touchstone.messages.locales import LOCALES, preferred_locale

ACCESS: Final = "touchstone_access"
REFRESH: Final = "touchstone_refresh"
DEVICE: Final = "touchstone_device"
LANGUAGE: Final = "touchstone_language"
THEME: Final = "touchstone_theme"
THEMES: Final = ("auto", "light", "dark")
HOME: Final = "/app/"
RANKING: Final = "touchstone_ranking"
_RANKING: Final = re.compile(r"\?[A-Za-z0-9%&=+._*~-]+")
_LONGEST_RANKING: Final = 2000
YEAR: Final = 365 * 86_400
_DEVICE_FORM: Final = re.compile(r"[A-Za-z0-9._~-]{1,1000}")
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_ACCESS_COOKIE: Final = re.compile(rb"(?:^|; ?)%s=([^; ]+)" % ACCESS.encode())


@dataclass(frozen=True, slots=True)
class Signed:
    """The tokens of a signed-in browser; an empty access token means that it has to be renewed first."""

    access: str
    refresh: str


def signed_in(request: Request) -> Signed | None:
    """The tokens that the browser sent, if any."""
    refresh = request.cookies.get(REFRESH, "")
    return Signed(request.cookies.get(ACCESS, ""), refresh) if refresh else None


def authorization_of_page(scope: Scope) -> Headers:
    """Return the header with which a page's request would ask the API; nothing where the browser sent no token."""
    for name, value in scope["headers"]:
        if name == b"cookie" and (token := _ACCESS_COOKIE.search(value)):
            return [(b"authorization", b"Bearer " + token[1])]
    return []


def keep(response: Response, request: Request, signed: Signed, *, days: int) -> None:
    """Let the browser keep the tokens for as long as the session may stay unused."""
    for name, value in ((ACCESS, signed.access), (REFRESH, signed.refresh)):
        _set(response, request, name, value, seconds=days * 86_400)


def device_of(request: Request) -> str | None:
    """Return what shows that this browser has signed in before."""
    value = request.cookies.get(DEVICE, "")
    return value if _DEVICE_FORM.fullmatch(value) else None


def forget(response: Response) -> None:
    """Let the browser drop the tokens."""
    for name in (ACCESS, REFRESH):
        response.delete_cookie(name, path=HOME)


def keep_for_a_year(response: Response, request: Request, name: str, value: str) -> None:
    """Let the browser keep a preference, or that it has signed in before, for a year."""
    _set(response, request, name, value, seconds=YEAR)


def chosen_language(request: Request) -> str | None:
    """Return the language that was chosen in this browser, if any."""
    chosen = request.cookies.get(LANGUAGE)
    return chosen if chosen in LOCALES else None


def language_of(request: Request) -> str:
    """The language chosen in this browser, else the one that it prefers."""
    return chosen_language(request) or preferred_locale(request.headers.get("accept-language"))


def keep_ranking(response: Response, request: Request, query: str) -> None:
    """Let the browser keep the address of the ranking until it is closed; one that is too long is not kept."""
    if len(query) > _LONGEST_RANKING:
        response.delete_cookie(RANKING, path=HOME)
    elif query != request.cookies.get(RANKING, ""):
        _set(response, request, RANKING, query, seconds=None)


def ranking_of(request: Request) -> str:
    """Return the address at which the ranking was left in this browser."""
    query = request.cookies.get(RANKING, "")
    return HOME + query if _RANKING.fullmatch(query) else HOME


def theme_of(request: Request) -> str:
    """The theme chosen in this browser: `auto` follows the system."""
    chosen = request.cookies.get(THEME)
    return chosen if chosen in THEMES else THEMES[0]


def from_our_pages(request: Request) -> bool:
    """Whether a request that may change something was sent by one of our own pages.

    Browsers say so in Sec-Fetch-Site or in Origin; neither can be set by another site's script.
    """
    if request.method in _SAFE:
        return True
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site == "same-origin"
    return request.headers.get("origin") == f"{request.url.scheme}://{request.headers.get('host', '')}"


def local(target: str | None) -> str:
    """A place within the pages to go on to; the start page for anything else."""
    inside = target is not None and target.startswith(HOME) and not any(c in target for c in "\\\r\n\t\x00")
    return target if inside and target is not None else HOME


def _set(response: Response, request: Request, name: str, value: str, *, seconds: int | None) -> None:
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        path=HOME,
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
