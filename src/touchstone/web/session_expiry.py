"""Responses to requests without a valid session: the sign-in page, which keeps what was submitted."""

from typing import Final

from starlette.responses import Response

from touchstone.core.errors import Unauthorized
from touchstone.web.addresses import HOME
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.page_context import PageContext
from touchstone.web.unsent_forms import encode_unsent_form

SIGN_IN: Final = "/app/sign-in"


async def require_sign_in(ctx: PageContext) -> Response:
    """Send a reader without a valid session to the sign-in page, and from there back to the page that was requested.

    A redirect would lose a form that the request has submitted. In that case, the response itself is the sign-in page:
    it keeps the form in a hidden field, and shows it again on its own page after signing in.
    """
    if ctx.is_post:
        unsent_form = encode_unsent_form(ctx.request, await ctx.form())
        return ctx.render_template(
            "sign_in.html",
            status=Unauthorized.status,
            user=None,
            next=ctx.page_address,
            done=FlashMessage.UNSAVED,
            registration=False,
            email="",
            unsent=unsent_form,
        )

    next_page = None if ctx.page_address == HOME else ctx.page_address
    message = FlashMessage.EXPIRED if ctx.is_signed_out else None
    return ctx.redirect(SIGN_IN, next=next_page, done=message)
