"""The account page: profile, picture, password, sessions and uploaded files."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import TouchstoneError
from touchstone.core.errors import NotFound, Unauthorized
from touchstone.web import cookies
from touchstone.web.flash_messages import FlashMessage
from touchstone.web.forms import file_field, invalid_field, password_field, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page
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
    ctx: PageContext, problem: TouchstoneError | None = None, section: str = "", form: FormData | None = None
) -> Response:
    """Return the account page; after an error, with the message and the form in the section that was submitted."""
    return await ctx.render(
        "account.html",
        problem=problem,
        section=section,
        form=form if form is not None else FormData(),
        sessions=await ctx.api.list_sessions(),
        uploads=await ctx.api.list_files(),
        device=describe_user_agent,
    )


async def change_account(ctx: PageContext) -> Response:
    """Execute the form of one section of the account page."""
    section = ctx.path_params["section"]
    if section not in _SECTIONS:
        raise NotFound

    form = await ctx.form()
    try:
        await ctx.require_new_form()
        await _SECTIONS[section](ctx, form)
    except TouchstoneError as error:
        if error.status == Unauthorized.status:
            raise
        return await _render_account(ctx, error, section, form)

    if section == "password":
        # Every session has ended, this one too.
        ctx.sign_out()
        return ctx.redirect(SIGN_IN, done=FlashMessage.PASSWORD_CHANGED)

    response = ctx.redirect(_ACCOUNT, done=FlashMessage(section))
    if section == "profile":
        cookies.write_preference(response, ctx.request, cookies.LANGUAGE, text_field(form, "locale"))
    return response


async def _save_profile(ctx: PageContext, form: FormData) -> None:
    changes = {name: text_field(form, name) or None for name in _PROFILE_FIELDS}
    await ctx.api.update_me(**changes, locale=text_field(form, "locale"))  # type: ignore[arg-type]


async def _change_password(ctx: PageContext, form: FormData) -> None:
    await ctx.api.change_password(password_field(form, "current_password"), password_field(form, "new_password"))


async def _save_picture(ctx: PageContext, form: FormData) -> None:
    picture = file_field(form, "picture")
    if picture is None:
        raise invalid_field(ctx.text("picture_missing"), "picture")
    # One byte more than allowed is enough for the API to refuse the picture as too large.
    await ctx.api.set_picture(await picture.read(_MAX_PICTURE_BYTES + 1))


async def _delete_picture(ctx: PageContext, _: FormData) -> None:
    await ctx.api.delete_picture()


async def _delete_file(ctx: PageContext, form: FormData) -> None:
    await ctx.api.delete_file(text_field(form, "file"))


async def _end_session(ctx: PageContext, form: FormData) -> None:
    await ctx.api.delete_session(text_field(form, "session"))


# The sections' names in the address are also the keys of their flash messages.
_SECTIONS: Final[dict[str, Callable[[PageContext, FormData], Awaitable[None]]]] = {
    "profile": _save_profile,
    "password": _change_password,
    "picture": _save_picture,
    "no-picture": _delete_picture,
    "session": _end_session,
    "file": _delete_file,
}


async def picture(ctx: PageContext) -> Response:
    """Return the user's picture."""
    content = await ctx.api.get_picture()
    media_type = "image/png" if content.startswith(_PNG_SIGNATURE) else "image/webp"
    return Response(content, media_type=media_type)


ROUTES: Final = (
    Route(_ACCOUNT, page(account_page)),
    Route("/app/account/picture", page(picture)),
    Route("/app/account/{section:str}", page(change_account, shown_on=_ACCOUNT), methods=["POST"]),
)
