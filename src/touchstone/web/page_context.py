"""One request to the pages: who visits, in which language, with which client of the API; and how it is answered."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Scope

from touchstone.client import AsyncTouchstone, Tokens, TouchstoneError, User
from touchstone.core.errors import (
    BackendUnavailable,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
    ServiceError,
    Unauthorized,
)
from touchstone.core.settings import Settings
from touchstone.http.error_rendering import render_detail
from touchstone.web import cookies
from touchstone.web.error_texts import field_problems, worded
from touchstone.web.field_problems import FORM, marked
from touchstone.web.forms import RETURNED, unsent_form, written
from touchstone.web.rank_state import Vocabulary
from touchstone.web.rendering import Pages, Speech, address

SIGN_IN: Final = "/app/sign-in"
SEE_OTHER: Final = 303
HTTP_OK: Final = 200
UNSENT: Final = "unsent"

Handler = Callable[["Visit"], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(slots=True)
class Desk:
    """What all visits share: the settings, the templates, the client of the API, and the criteria once known."""

    settings: Settings
    pages: Pages
    client: AsyncTouchstone
    criteria: dict[str, Any] | None = None
    vocabulary: Vocabulary | None = None


@dataclass(slots=True)
class Visit:
    """One request, and what its handler needs to answer it."""

    request: Request
    desk: Desk
    locale: str
    signed: cookies.Signed | None
    api: AsyncTouchstone
    renewed: cookies.Signed | None = None
    ended: bool = False
    place: str | None = None
    user: User | None = field(default=None)
    account_language: str | None = None

    @classmethod
    def begin(cls, request: Request, desk: Desk) -> "Visit":
        """The visit of a request, with a client that calls the API as whoever is signed in."""
        signed = cookies.signed_in(request)
        visit = cls(request, desk, cookies.language_of(request), signed, desk.client)
        visit.api = desk.client.with_token(
            (signed.access or None) if signed else None,
            refresh_token=signed.refresh if signed else None,
            locale=visit.locale,
            address=(request.client.host, request.client.port) if request.client else None,
            user_agent=request.headers.get("user-agent", "")[:500] or None,
            device=cookies.device_of(request),
            on_tokens=visit.renew,
        )
        return visit

    def renew(self, tokens: Tokens) -> None:
        """Keep renewed tokens for the answer's cookies."""
        self.renewed = cookies.Signed(tokens.access_token, tokens.refresh_token or "")

    @property
    def speech(self) -> Speech:
        """How the visitor's language says things."""
        return self.desk.pages.speech(self.locale)

    @property
    def here(self) -> str:
        """The address of this page, to come back to: one that can be opened, also when a form was sent to another."""
        if self.place is not None:
            return self.place
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query else url.path

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The parameters of the address, in order."""
        return self.request.query_params.multi_items()

    async def form(self) -> FormData:
        """The form that was sent."""
        return await self.request.form()

    async def check_sent(self) -> None:
        """Check that the form was sent by its reader, and did not only come back after signing in again.

        Raises:
            TouchstoneError: it came back; its page shows it with this sentence.
        """
        if written(await self.form(), RETURNED):
            raise TouchstoneError(Invalid.status, UNSENT, self.speech.text("form_returned"))

    async def vocabulary(self) -> Vocabulary:
        """What weights may be given to."""
        if self.desk.vocabulary is None:
            self.desk.vocabulary = Vocabulary.of(await self.criteria())
        return self.desk.vocabulary

    async def criteria(self) -> dict[str, Any]:
        """The criteria and the profiles, which never change while the service runs."""
        if self.desk.criteria is None:
            self.desk.criteria = await self.api.get_criteria()
        return self.desk.criteria

    async def page(self, template: str, /, *, status: int = 200, **context: Any) -> Response:
        """A whole page, with the visitor's name in its head."""
        if self.signed is not None and self.user is None and not self.ended:
            self.user = await self.api.get_me()
            self.follow_language(self.user)
        return self.part(template, status=status, user=self.user, **context)

    def follow_language(self, user: User) -> None:
        """Speak the language that the account has chosen, unless another was chosen in this browser.

        The account of somebody who has chosen none names the language in which it was asked for, which is this visit's.
        """
        if cookies.chosen_language(self.request) is None and user.locale != self.locale:
            self.locale = self.account_language = user.locale

    def part(self, template: str, /, *, status: int = 200, **context: Any) -> Response:
        """A template filled for this visitor."""
        common = {"here": self.here, "path": self.request.url.path, "theme": cookies.theme_of(self.request)}
        common["ranking_address"] = cookies.ranking_of(self.request)
        headers = {}
        problems: Mapping[str, str] = context.get("field_problems") or {}
        if isinstance(problem := context.get("problem"), TouchstoneError):
            problems = field_problems(problem, self.speech)
            context["problem"] = worded(problem, self.speech)
            status = HTTP_OK if problem.code == UNSENT else status
            if problem.retry_after is not None:
                headers["Retry-After"] = str(round(problem.retry_after))
        html = self.desk.pages.render(template, self.locale, **{**common, **context})
        if problems:
            form = context.get("form")
            name = form.get(FORM, "") if form else ""
            html = marked(html, self.request.url.path, problems, name if isinstance(name, str) else "")
        return HTMLResponse(html, status_code=status, headers=headers)

    def go(self, path: str, **query: Any) -> Response:
        """Send the browser on to another page."""
        return RedirectResponse(address(path, **query), status_code=SEE_OTHER)

    def sign_out(self) -> None:
        """Forget who is signed in, in this visit and in the browser."""
        self.ended, self.user, self.renewed = True, None, None

    def settle(self, response: Response) -> Response:
        """Write the cookies that have changed."""
        if self.renewed is not None:
            cookies.keep(response, self.request, self.renewed, days=self.desk.settings.refresh_token_days)
        elif self.ended:
            cookies.forget(response)
        device = self.api.identity.device
        if device is not None and device != cookies.device_of(self.request):
            cookies.keep_for_a_year(response, self.request, cookies.DEVICE, device)
        if self.account_language is not None:
            cookies.keep_for_a_year(response, self.request, cookies.LANGUAGE, self.account_language)
        # What one person saw must not come out of a shared computer's cache after signing out.
        response.headers.setdefault("cache-control", "no-store")
        return response


def page(handler: Handler, *, everyone: bool = False, back: str | None = None) -> Endpoint:
    """An endpoint that answers with a page; unless it is for everyone, one has to sign in first.

    One that only takes a form cannot be opened: `back` is the page that it belongs to, with the same path parameters.
    """

    async def endpoint(request: Request) -> Response:
        visit = Visit.begin(request, request.app.state.desk)
        visit.place = back and back.format(**request.path_params)
        try:
            response = await _answered(visit, handler, everyone)
        except TouchstoneError as problem:
            response = await refused(visit, problem)
        except ServiceError as problem:
            response = await refused(visit, _as_refusal(visit, problem))
        return visit.settle(response)

    return endpoint


async def _answered(visit: Visit, handler: Handler, everyone: bool) -> Response:
    if not cookies.from_our_pages(visit.request):
        raise TouchstoneError(Forbidden.status, "forbidden", visit.speech.text("page_other_site"))
    if visit.signed is None and not everyone:
        return await to_sign_in(visit)
    return await handler(visit)


async def to_sign_in(visit: Visit) -> Response:
    """Send the visitor to sign in, and then back.

    A form that was sent after the session's end goes along inside the page, and comes back after signing in.
    """
    if visit.request.method == "POST":
        return visit.part(
            "sign_in.html",
            status=Unauthorized.status,
            user=None,
            next=visit.here,
            done="unsaved",
            registration=False,
            problem=None,
            email="",
            unsent=unsent_form(visit.request, await visit.form()),
        )
    done = "expired" if visit.ended else None
    return visit.go(SIGN_IN, next=None if visit.here == cookies.HOME else visit.here, done=done)


async def refused(visit: Visit, problem: TouchstoneError) -> Response:
    """The page that says what the API refused and what to do next."""
    if problem.status == Unauthorized.status and visit.signed is not None:
        visit.sign_out()
        return await to_sign_in(visit)
    status = problem.status or BackendUnavailable.status
    try:
        return await visit.page("error.html", status=status, problem=problem)
    except TouchstoneError:
        visit.sign_out()
        return visit.part("error.html", status=status, problem=problem, user=None)


def refusal_page(problem: ServiceError, scope: Scope, desk: Desk) -> Response:
    """The page for what is refused before any page is asked."""
    visit = Visit.begin(Request(scope), desk)
    # What is sent with a picture has no page of its own.
    visit.place = "/app/account" if scope["path"].startswith("/app/account/") else scope["path"]
    return visit.part("error.html", status=problem.status, problem=_as_refusal(visit, problem), user=None)


def _as_refusal(visit: Visit, problem: ServiceError) -> TouchstoneError:
    return TouchstoneError(problem.status, problem.code, render_detail(problem, visit.locale))


async def broken(request: Request, error: Exception) -> Response:
    """The page for a defect of ours; the edge writes it to the log."""
    visit = Visit.begin(request, request.app.state.desk)
    problem = _as_refusal(visit, InternalError())
    return visit.settle(visit.part("error.html", status=problem.status, problem=problem, user=None))


async def missing(request: Request, error: Exception) -> Response:
    """The page for an address that does not exist."""
    assert isinstance(error, HTTPException)
    visit = Visit.begin(request, request.app.state.desk)
    code = "not_found" if error.status_code == NotFound.status else "method_not_allowed"
    problem = TouchstoneError(error.status_code, code, visit.speech.text(code))
    return visit.settle(await refused(visit, problem))
