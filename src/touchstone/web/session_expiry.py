"""Responses to requests without a valid session, which ask readers to sign in and preserve submitted forms."""

from typing import Final

from starlette.responses import Response

from touchstone.core.errors import Unauthorized
from touchstone.web.addresses import HOME
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.page_context import PageContext
from touchstone.web.unsent_forms import encode_unsent_form

SIGN_IN: Final = "/app/sign-in"


async def require_sign_in(ctx: PageContext) -> Response:
    """Send a reader without a valid session to the sign-in page, which leads back to the requested page.

    A redirect would lose a submitted form. The response to a form is therefore the sign-in page itself, which holds the
    form in a hidden field. After signing in, the reader sees the form again on its page.
    """
    if ctx.is_post:
        encoded_form = encode_unsent_form(ctx.request, await ctx.form())
        return ctx.render_template(
            "sign_in.html",
            status=Unauthorized.status,
            user=None,
            next=ctx.page_address,
            done=FlashMessage.UNSAVED,
            registration=False,
            providers=ctx.state.settings.oidc_providers,
            link="",
            email="",
            unsent=encoded_form,
        )

    next_page = None if ctx.page_address == HOME else ctx.page_address
    message = FlashMessage.EXPIRED if ctx.is_signed_out else None
    return ctx.redirect(SIGN_IN, next=next_page, done=message)
