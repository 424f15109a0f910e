"""The language of the response to a request.

A language that the reader has selected on our pages takes precedence over the preferences of the browser. `localizer`
formats messages, numbers and dates in that language.
"""

from starlette.requests import Request

from touchstone.http.error_responses import request_locale
from touchstone.messages.locales import LOCALES
from touchstone.web.cookies import LANGUAGE


def selected_language(request: Request) -> str | None:
    """Return the language that the reader has selected in this browser, or None if none was selected."""
    language = request.cookies.get(LANGUAGE)
    return language if language in LOCALES else None


def response_language(request: Request) -> str:
    """Return the selected language, or the language that the browser prefers if none was selected."""
    return selected_language(request) or request_locale(request.scope)
