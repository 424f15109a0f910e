"""The choice of a language: the one selected in this browser, else the one that the browser prefers."""

from starlette.requests import Request

from touchstone.messages.locales import LOCALES, preferred_locale
from touchstone.web.cookies import LANGUAGE


def selected_language(request: Request) -> str | None:
    """Return the language that was selected in this browser, if any."""
    language = request.cookies.get(LANGUAGE)
    return language if language in LOCALES else None


def negotiate_language(request: Request) -> str:
    """Return the language in which to answer a request."""
    return selected_language(request) or preferred_locale(request.headers.get("accept-language"))
