"""The switches of language and theme in the head of every page."""

import contextlib
from typing import Final

from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import TouchstoneError
from touchstone.messages.locales import LOCALES
from touchstone.web import cookies
from touchstone.web.addresses import HOME, local_address
from touchstone.web.forms import text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint


async def save_preferences(ctx: PageContext) -> Response:
    """Store the language or the theme that the reader has selected, and return to the page.

    Both are stored in the browser. The language of a signed-in reader is also stored in the account, so that it applies
    in other browsers as well.
    """
    form = await ctx.form()
    language = text_field(form, "language")
    theme = text_field(form, "theme")
    response = ctx.redirect(local_address(text_field(form, "next")))

    if language in LOCALES:
        cookies.write_preference(response, ctx.request, cookies.LANGUAGE, language)
        if ctx.session is not None:
            # The cookie is enough for this browser, so the request succeeds even if the API is unavailable.
            with contextlib.suppress(TouchstoneError):
                await ctx.api.update_me(locale=language)  # type: ignore[arg-type]

    if theme in cookies.THEMES:
        cookies.write_preference(response, ctx.request, cookies.THEME, theme)
    return response


ROUTES: Final = (
    Route("/app/preferences", page_endpoint(save_preferences, is_public=True, form_page=HOME), methods=["POST"]),
)
