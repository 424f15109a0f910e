"""The pages for signing in and out, registering, and setting a new password with a reset token."""

from typing import Any, Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import TouchstoneError, account_calls
from touchstone.web import cookies
from touchstone.web.addresses import HOME, build_address, local_address
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import password_field, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.request_language import selected_language
from touchstone.web.session_expiry import SIGN_IN
from touchstone.web.unsent_forms import RESTORED_FIELD, decode_unsent_form


async def sign_in_page(ctx: PageContext) -> Response:
    """Show the sign-in form; on POST, sign in and continue to the requested page.

    A hidden field may contain a token that links the account to the identity provider with which the reader has tried
    to sign in before.
    """
    if not ctx.is_post:
        return _show_entrance(ctx, "sign_in.html")

    form = await ctx.form()
    if ctx.session is not None and text_field(form, "signed_in"):
        # The reader has signed in with an identity provider in another tab.
        return await continue_after_sign_in(ctx, form)

    sign_in = account_calls.sign_in(
        text_field(form, "email"),
        password_field(form, "password"),
        device=ctx.api.identity.device,
        link=text_field(form, "link") or None,
    )
    try:
        ctx.api.identity.replace_tokens(await ctx.api.run(sign_in))
    except TouchstoneError as error:
        return render_entrance(ctx, "sign_in.html", form, error=error)
    return await continue_after_sign_in(ctx, form)


async def register_page(ctx: PageContext) -> Response:
    """Show the registration form; on POST, create the account and continue to the requested page."""
    if not ctx.is_post:
        return _show_entrance(ctx, "register.html")

    form = await ctx.form()
    email = text_field(form, "email")
    password = password_field(form, "password")
    try:
        await ctx.api.register(email, password, **_read_profile(ctx, form))
        await ctx.api.login(email, password)
    except TouchstoneError as error:
        return render_entrance(ctx, "register.html", form, error=error)
    return await continue_after_sign_in(ctx, form)


def _read_profile(ctx: PageContext, form: FormData) -> dict[str, Any]:
    """Return the profile of a new account, with the display name and the selected language.

    The language that the browser prefers is not stored, because another browser of the user may prefer another one.
    """
    profile = {"pseudo": text_field(form, "pseudo"), "locale": selected_language(ctx.request)}
    return {name: value for name, value in profile.items() if value}


async def reset_password_page(ctx: PageContext) -> Response:
    """Show the form for a new password; on POST, set the password and redirect to the sign-in page.

    The address contains the reset token that an administrator has created for the reader. A hidden field carries it to
    the submitted form.
    """
    if not ctx.is_post:
        token = ctx.request.query_params.get("token", "")
        return ctx.render_template("reset.html", user=None, token=token)

    form = await ctx.form()
    token = text_field(form, "token")
    try:
        await ctx.api.reset_password(token, password_field(form, "password"))
    except TouchstoneError as error:
        return ctx.render_template("reset.html", error=error, user=None, token=token)
    return ctx.redirect(SIGN_IN, done=FlashMessage.PASSWORD_RESET)


async def sign_out(ctx: PageContext) -> Response:
    """End the session and redirect to the sign-in page.

    The last ranking is also deleted in the browser, because somebody else may use this computer next.
    """
    await ctx.api.logout()
    ctx.sign_out()
    response = ctx.redirect(SIGN_IN, done=FlashMessage.SIGNED_OUT)
    cookies.delete_last_ranking(response)
    return response


def _show_entrance(ctx: PageContext, template: str) -> Response:
    """Return the sign-in or registration page, or redirect a reader who is already signed in."""
    next_page = local_address(ctx.request.query_params.get("next"))
    if ctx.session is not None:
        return ctx.redirect(next_page)
    return render_entrance(ctx, template, FormData({"next": next_page}))


def render_entrance(
    ctx: PageContext, template: str, form: FormData, *, error: TouchstoneError | None = None
) -> Response:
    """Return the sign-in or registration page, filled in with the form except for the password.

    The field `next` of the form contains the page to continue with after signing in.
    """
    next_page = local_address(text_field(form, "next"))

    # The switches of language and theme lead back to this page and preserve the next page.
    flash_key = ctx.request.query_params.get("done")
    path = _REGISTER if template == "register.html" else SIGN_IN
    ctx.page_address = build_address(path, next=next_page, done=flash_key)

    return ctx.render_template(
        template,
        error=error,
        user=None,
        next=next_page,
        registration=ctx.state.settings.registration == "open",
        providers=ctx.state.settings.oidc_providers,
        link=text_field(form, "link"),
        unsent=text_field(form, "unsent"),
        email=text_field(form, "email"),
        pseudo=text_field(form, "pseudo"),
    )


async def continue_after_sign_in(ctx: PageContext, form: FormData) -> Response:
    """Redirect a reader who has just signed in to the requested page.

    If the session had expired while the reader was filling in a form, return a page that posts the form to its original
    address instead. The form is not executed there, but only shown again.
    """
    user = await ctx.api.get_me()
    ctx.adopt_language(user)

    unsent_form = decode_unsent_form(text_field(form, "unsent"))
    if unsent_form is not None:
        return ctx.render_template(
            "restored_form.html", user=None, unsent_form=unsent_form, restored_field=RESTORED_FIELD
        )
    return ctx.redirect(local_address(text_field(form, "next")))


_REGISTER: Final = "/app/register"
_FORM_METHODS: Final = ["GET", "POST"]
ROUTES: Final = (
    Route(SIGN_IN, page_endpoint(sign_in_page, is_public=True), methods=_FORM_METHODS),
    Route(_REGISTER, page_endpoint(register_page, is_public=True), methods=_FORM_METHODS),
    Route("/app/reset-password", page_endpoint(reset_password_page, is_public=True), methods=_FORM_METHODS),
    Route("/app/sign-out", page_endpoint(sign_out, is_public=True, form_page=HOME), methods=["POST"]),
)
