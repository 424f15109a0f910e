"""Signing in and out, making an account, and everything about one's own: profile, picture, password, sessions."""

import contextlib
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import TouchstoneError
from touchstone.client.call import given
from touchstone.core.errors import NotFound, Unauthorized
from touchstone.messages.locales import LOCALES
from touchstone.web import cookies
from touchstone.web.forms import RETURNED, misfit, returned_form, secret, sent_file, written
from touchstone.web.page_context import Visit, page
from touchstone.web.rendering import address

_MINE: Final = "/app/account"
_PROFILE: Final = ("pseudo", "given_name", "family_name")
# In this order: most browsers also call themselves by the names further down.
_BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("python", "Python"),
    ("curl/", "curl"),
)
_SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)
_UNTOUCHED: Final = FormData()
_PICTURE_LIMIT: Final = 2 * 1024 * 1024


async def _sign_in(visit: Visit) -> Response:
    if visit.request.method == "GET":
        if visit.signed is not None:
            return visit.go(cookies.local(visit.request.query_params.get("next")))
        return visit.part("sign_in.html", user=None, **_entrance(visit))
    form = await visit.form()
    email = written(form, "email")
    try:
        await visit.api.login(email, secret(form, "password"))
    except TouchstoneError as problem:
        return visit.part(
            "sign_in.html", status=problem.status, user=None, **_entrance(visit, form, problem=problem, email=email)
        )
    return await _welcome(visit, form)


async def _welcome(visit: Visit, form: FormData) -> Response:
    visit.follow_language(await visit.api.get_me())
    if unsent := returned_form(written(form, "unsent")):
        return visit.part("returned_form.html", user=None, unsent=unsent, returned=RETURNED)
    return visit.go(cookies.local(written(form, "next")))


def _entrance(visit: Visit, form: FormData | None = None, **more: Any) -> dict[str, Any]:
    query = visit.request.query_params
    onward = cookies.local(written(form, "next") if form else query.get("next"))
    visit.place = address(visit.request.url.path, next=onward, done=query.get("done"))
    return {
        "next": onward,
        "done": query.get("done"),
        "registration": visit.desk.settings.registration == "open",
        "problem": None,
        "unsent": written(form, "unsent") if form else "",
        "email": "",
        "pseudo": written(form, "pseudo") if form else "",
        **more,
    }


async def _register(visit: Visit) -> Response:
    if visit.request.method == "GET":
        if visit.signed is not None:
            return visit.go(cookies.local(visit.request.query_params.get("next")))
        return visit.part("register.html", user=None, **_entrance(visit))
    form = await visit.form()
    email, pseudo, password = written(form, "email"), written(form, "pseudo"), secret(form, "password")
    try:
        # Only a language that was chosen is the account's: the browser's may be another one tomorrow.
        profile = {"pseudo": pseudo or None, "locale": cookies.chosen_language(visit.request)}
        await visit.api.register(email, password, **given(**profile))
        await visit.api.login(email, password)
    except TouchstoneError as problem:
        return visit.part(
            "register.html", status=problem.status, user=None, **_entrance(visit, form, problem=problem, email=email)
        )
    return await _welcome(visit, form)


async def _reset(visit: Visit) -> Response:
    token = visit.request.query_params.get("token", "")
    problem = None
    if visit.request.method == "POST":
        form = await visit.form()
        token = written(form, "token")
        try:
            await visit.api.reset_password(token, secret(form, "password"))
            return visit.go("/app/sign-in", done="reset")
        except TouchstoneError as refusal:
            problem = refusal
    return visit.part("reset.html", status=problem.status if problem else 200, user=None, token=token, problem=problem)


async def _sign_out(visit: Visit) -> Response:
    try:
        await visit.api.logout()
    except TouchstoneError as problem:
        if problem.status != Unauthorized.status:
            raise
    visit.sign_out()
    answer = visit.go("/app/sign-in", done="signed_out")
    answer.delete_cookie(cookies.RANKING, path=cookies.HOME)
    return answer


async def _preferences(visit: Visit) -> Response:
    form = await visit.form()
    answer = visit.go(cookies.local(written(form, "next")))
    language, theme = written(form, "language"), written(form, "theme")
    if language in LOCALES:
        cookies.keep_for_a_year(answer, visit.request, cookies.LANGUAGE, language)
        await _remember(visit, language)
    if theme in cookies.THEMES:
        cookies.keep_for_a_year(answer, visit.request, cookies.THEME, theme)
    return answer


async def _remember(visit: Visit, language: str) -> None:
    """Keep the language in the profile too, of whoever is signed in: the browser's choice stands without it."""
    if visit.signed is not None:
        with contextlib.suppress(TouchstoneError):
            await visit.api.update_me(locale=language)  # type: ignore[arg-type]


def device(user_agent: str | None) -> str:
    """The browser and the system in a User-Agent, as people call them; empty when neither is known."""
    text = user_agent or ""
    found = (next((name for mark, name in table if mark in text), None) for table in (_BROWSERS, _SYSTEMS))
    return " · ".join(name for name in found if name)


async def _account(
    visit: Visit, problem: TouchstoneError | None = None, about: str = "", form: FormData = _UNTOUCHED
) -> Response:
    return await visit.page(
        "account.html",
        status=problem.status if problem else 200,
        sessions=await visit.api.list_sessions(),
        uploads=await visit.api.list_files(),
        device=device,
        done=visit.request.query_params.get("done"),
        problem=problem,
        about=about,
        form=form,
    )


async def _change(visit: Visit) -> Response:
    about = visit.request.path_params["about"]
    if about not in _CHANGES:
        raise NotFound
    try:
        await visit.check_sent()
        await _CHANGES[about](visit, await visit.form())
    except TouchstoneError as problem:
        if problem.status == Unauthorized.status:
            raise
        return await _account(visit, problem, about, await visit.form())
    if about == "password":
        visit.sign_out()
        return visit.go("/app/sign-in", done="password")
    answer = visit.go(_MINE, done=about)
    if about == "profile":
        cookies.keep_for_a_year(answer, visit.request, cookies.LANGUAGE, written(await visit.form(), "locale"))
    return answer


async def _change_profile(visit: Visit, form: FormData) -> None:
    changes = {name: written(form, name) or None for name in _PROFILE}
    await visit.api.update_me(**changes, locale=written(form, "locale"))  # type: ignore[arg-type]


async def _change_password(visit: Visit, form: FormData) -> None:
    await visit.api.change_password(secret(form, "current_password"), secret(form, "new_password"))


async def _change_picture(visit: Visit, form: FormData) -> None:
    sent = sent_file(form, "picture")
    if sent is None:
        raise misfit(visit.speech.text("picture_missing"), "picture")
    # One byte more than is allowed: the API then says itself that it is too much.
    await visit.api.set_picture(await sent.read(_PICTURE_LIMIT + 1))


async def _drop_picture(visit: Visit, form: FormData) -> None:
    await visit.api.delete_picture()


async def _drop_file(visit: Visit, form: FormData) -> None:
    await visit.api.delete_file(written(form, "file"))


async def _end_session(visit: Visit, form: FormData) -> None:
    await visit.api.delete_session(written(form, "session"))


_CHANGES: Final = {
    "profile": _change_profile,
    "password": _change_password,
    "picture": _change_picture,
    "no-picture": _drop_picture,
    "session": _end_session,
    "file": _drop_file,
}


async def _picture(visit: Visit) -> Response:
    content = await visit.api.get_picture()
    return Response(content, media_type="image/png" if content.startswith(b"\x89PNG") else "image/webp")


_FORM: Final = ["GET", "POST"]
ROUTES: Final = (
    Route("/app/sign-in", page(_sign_in, everyone=True), methods=_FORM),
    Route("/app/register", page(_register, everyone=True), methods=_FORM),
    Route("/app/reset-password", page(_reset, everyone=True), methods=_FORM),
    Route("/app/sign-out", page(_sign_out, everyone=True, back=cookies.HOME), methods=["POST"]),
    Route("/app/preferences", page(_preferences, everyone=True, back=cookies.HOME), methods=["POST"]),
    Route(_MINE, page(_account)),
    Route("/app/account/picture", page(_picture)),
    Route("/app/account/{about:str}", page(_change, back=_MINE), methods=["POST"]),
)
