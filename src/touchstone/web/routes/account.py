"""The account page: profile, picture, password, identity providers, sessions and uploaded files."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import TouchstoneError
from touchstone.core.errors import NotFound, Unauthorized
from touchstone.web import cookies
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import file_field, invalid_field, password_field, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint
from touchstone.web.session_expiry import SIGN_IN
from touchstone.web.views.user_agent import describe_user_agent

_ACCOUNT: Final = "/app/account"
_PROFILE_FIELDS: Final = ("pseudo", "given_name", "family_name")
_MAX_PICTURE_BYTES: Final = 2 * 1024 * 1024
_PNG_SIGNATURE: Final = b"\x89PNG"


async def account_page(ctx: PageContext) -> Response:
    """Show the account page."""
    return await _render_account(ctx)


async def _render_account(
    ctx: PageContext, error: TouchstoneError | None = None, section: str = "", form: FormData | None = None
) -> Response:
    """Return the account page.

    Args:
        ctx: the request.
        error: the error in the submitted form, which the page shows in the section of this form.
        section: the section of the submitted form; empty if there is no error.
        form: the submitted form, which the page shows again after an error.
    """
    return await ctx.render(
        "account.html",
        error=error,
        section=section,
        form=form if form is not None else FormData(),
        sessions=await ctx.api.list_sessions(),
        uploads=await ctx.api.list_files(),
        device=describe_user_agent,
        provider_labels={provider.name: provider.label for provider in ctx.state.settings.oidc_providers},
    )


async def change_account(ctx: PageContext) -> Response:
    """Execute the submitted form of one section, and show the account page again.

    A new password ends all sessions of the account, so the reader is sent to the sign-in page instead.
    """
    section = ctx.path_params["section"]
    if section not in _SECTION_ACTIONS:
        raise NotFound

    form = await ctx.form()
    try:
        await ctx.require_new_form()
        await _SECTION_ACTIONS[section](ctx, form)
    except TouchstoneError as error:
        if error.status == Unauthorized.status:
            raise
        return await _render_account(ctx, error, section, form)

    if section == "password":
        ctx.sign_out()
        return ctx.redirect(SIGN_IN, done=FlashMessage.PASSWORD_CHANGED)

    response = ctx.redirect(_ACCOUNT, done=FlashMessage(section))
    if section == "profile":
        cookies.write_preference(response, ctx.request, cookies.LANGUAGE, text_field(form, "locale"))
    return response


async def _save_profile(ctx: PageContext, form: FormData) -> None:
    changes: Any = {name: text_field(form, name) or None for name in _PROFILE_FIELDS}
    changes["locale"] = text_field(form, "locale")
    await ctx.api.update_me(**changes)


async def _change_password(ctx: PageContext, form: FormData) -> None:
    current_password = password_field(form, "current_password")
    new_password = password_field(form, "new_password")
    await ctx.api.change_password(current_password, new_password)


async def _save_picture(ctx: PageContext, form: FormData) -> None:
    picture = file_field(form, "picture")
    if picture is None:
        raise invalid_field(ctx.text("picture_missing"), "picture")

    # Reading one byte more than allowed is enough for the API to refuse a picture that is too large.
    content = await picture.read(_MAX_PICTURE_BYTES + 1)
    await ctx.api.set_picture(content)


async def _delete_picture(ctx: PageContext, _: FormData) -> None:
    await ctx.api.delete_picture()


async def _delete_file(ctx: PageContext, form: FormData) -> None:
    await ctx.api.delete_file(text_field(form, "file"))


async def _end_session(ctx: PageContext, form: FormData) -> None:
    await ctx.api.delete_session(text_field(form, "session"))


async def _unlink_provider(ctx: PageContext, form: FormData) -> None:
    await ctx.api.delete_oauth_account(text_field(form, "oauth_account"))


# The functions that execute the forms, by the name of the section in the address. The name is also the key of the flash
# message that confirms the action.
_SECTION_ACTIONS: Final[dict[str, Callable[[PageContext, FormData], Awaitable[None]]]] = {
    "profile": _save_profile,
    "password": _change_password,
    "picture": _save_picture,
    "no-picture": _delete_picture,
    "session": _end_session,
    "provider": _unlink_provider,
    "file": _delete_file,
}


async def profile_picture(ctx: PageContext) -> Response:
    """Return the picture of the signed-in user."""
    content = await ctx.api.get_picture()
    media_type = "image/png" if content.startswith(_PNG_SIGNATURE) else "image/webp"
    return Response(content, media_type=media_type)


ROUTES: Final = (
    Route(_ACCOUNT, page_endpoint(account_page)),
    Route("/app/account/picture", page_endpoint(profile_picture)),
    Route("/app/account/{section:str}", page_endpoint(change_account, form_page=_ACCOUNT), methods=["POST"]),
)
