"""The language of the response to a request.

A language that the reader has selected in this browser takes precedence over the preference that the browser states.
`localizer` then writes texts, numbers and dates in that language; the texts themselves are in `messages`.
"""

from starlette.requests import Request

from touchstone.messages.accept_language import preferred_locale
from touchstone.messages.locales import LOCALES
from touchstone.web.cookies import LANGUAGE


def selected_language(request: Request) -> str | None:
    """Return the language that the reader has selected in this browser, or None if none was selected."""
    language = request.cookies.get(LANGUAGE)
    return language if language in LOCALES else None


def response_language(request: Request) -> str:
    """Return the language of the response: the selected language, or else the one that the browser prefers."""
    accept_language = request.headers.get("accept-language")
    return selected_language(request) or preferred_locale(accept_language)
