"""The context of a request to a page, with the API client of the reader and response helpers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from touchstone.client import AsyncTouchstone, Identity, Tokens, TouchstoneError, User
from touchstone.core.errors import Invalid
from touchstone.core.full_disk import report_full_disk
from touchstone.core.settings import Settings
from touchstone.http.request_tracking import REQUEST_ID
from touchstone.learning.charts.svg_converter import SvgConverter
from touchstone.web import cookies
from touchstone.web.addresses import build_address, request_address
from touchstone.web.declarer_cache import DeclarerCache
from touchstone.web.flash_messages import flash_message
from touchstone.web.forms import text_field
from touchstone.web.invalid_fields import FORM_NAME, mark_invalid_fields
from touchstone.web.localizer import Localizer
from touchstone.web.public_records import PublicRecords
from touchstone.web.readable_errors import field_messages, localize_error
from touchstone.web.request_language import response_language, selected_language
from touchstone.web.slider_positions import WeightProfiles
from touchstone.web.template_renderer import TemplateRenderer
from touchstone.web.unsent_forms import RESTORED_FIELD, is_password_field

_OK: Final = 200
_SEE_OTHER: Final = 303
# The error code that makes a page show a restored form. The page has the status 200, because nothing has gone wrong.
_RESTORED_FORM: Final = "restored_form"
_MAX_USER_AGENT_LENGTH: Final = 500


@dataclass(slots=True)
class PagesState:
    """The objects that all requests to the pages share.

    Attributes:
        settings: the settings of the service.
        templates: the templates in all languages.
        client: the client of the API; each request uses a copy with its own tokens.
        public_records: the records that everybody may read; None if readers always have to sign in.
        svg_converter: converts SVG pictures in child processes.
        declarers: a cache of the declarers of recently shown datasets.
        criteria: the criteria and profiles as the API describes them; None until a page needs them.
        weight_profiles: the weight profiles in `criteria`; None until a page needs them.
    """

    settings: Settings
    templates: TemplateRenderer
    client: AsyncTouchstone
    public_records: PublicRecords | None = None
    svg_converter: SvgConverter = field(default_factory=SvgConverter)
    declarers: DeclarerCache = field(default_factory=DeclarerCache)
    criteria: Mapping[str, Any] | None = None
    weight_profiles: WeightProfiles | None = None


class PageContext:
    """One request to a page, with the API client of the reader and the response helpers.

    Attributes:
        request: the request.
        state: the objects that all requests share.
        session: the tokens that the browser sent; None if nobody is signed in.
        api: the API client, with the reader's tokens and language.
        locale: the language of the response.
        page_address: the page to show again after the reader has switched the language or the theme.
    """

    def __init__(self, request: Request, *, page_address: str | None = None) -> None:
        """Read the session and the language from the request, and create the API client of the reader.

        Args:
            request: the request.
            page_address: the page to show again after the reader has switched the language or the theme. The default
                is the address of the request, which is wrong for handlers that only receive a form.
        """
        self.request = request
        self.state: PagesState = request.app.state.pages
        self.session = cookies.read_session(request)
        self.locale = response_language(request)
        self.page_address = page_address or request_address(request)
        self.api = self._create_client()

        # These attributes change while the request is handled, and determine the cookies of the response.
        self._user: User | None = None
        self._is_signed_out = False
        self._renewed_session: cookies.SessionTokens | None = None
        self._account_language: str | None = None

    def _create_client(self) -> AsyncTouchstone:
        """Return an API client that acts on behalf of the reader.

        It forwards the reader's network address and browser, so that the API applies its rate limits to the reader and
        lists the right browser among the reader's sessions.
        """
        request = self.request
        user_agent = request.headers.get("user-agent", "")[:_MAX_USER_AGENT_LENGTH]

        network_address = None
        if request.client:
            network_address = (request.client.host, request.client.port)

        identity = Identity(
            locale=self.locale,
            address=network_address,
            user_agent=user_agent or None,
            device=cookies.read_device(request),
            on_tokens=self._store_renewed_tokens,
        )
        if self.session is not None:
            identity.token = self.session.access or None
            identity.refresh_token = self.session.refresh

        return self.state.client.with_identity(identity)

    def _store_renewed_tokens(self, tokens: Tokens) -> None:
        """Store renewed tokens until the cookies of the response are written."""
        self._renewed_session = cookies.SessionTokens(tokens.access_token, tokens.refresh_token or "")

    @property
    def is_post(self) -> bool:
        """Whether the request submits a form."""
        return self.request.method == "POST"

    @property
    def localizer(self) -> Localizer:
        """The localizer for the language of the response."""
        return self.state.templates.localizer(self.locale)

    @property
    def path_params(self) -> dict[str, Any]:
        """The path parameters."""
        return self.request.path_params

    @property
    def query_pairs(self) -> list[tuple[str, str]]:
        """The query parameters in their order, as pairs of name and value."""
        return self.request.query_params.multi_items()

    def text(self, key: str, **placeholders: Any) -> str:
        """Return the message with this key in the language of the response."""
        return self.localizer.text(key, **placeholders)

    async def form(self) -> FormData:
        """Return the submitted form, or an empty form if the request has none.

        Raises:
            StorageFull: there is no space for the files of the form.
        """
        with report_full_disk():  # The parser stores large files on the disk.
            return await self.request.form()

    async def require_new_form(self) -> None:
        """Raise an error if the form was restored after signing in, and not just submitted by the reader.

        If the session expires before a form is submitted, the form is posted again after signing in. It must not be
        executed then, because the reader has not confirmed it.

        Raises:
            TouchstoneError: the form was restored. Its page shows it again, with this error as an explanation.
        """
        if text_field(await self.form(), RESTORED_FIELD):
            raise TouchstoneError(Invalid.status, _RESTORED_FORM, self.text("form_returned"))

    async def criteria(self) -> Mapping[str, Any]:
        """Return the criteria and profiles as the API describes them.

        They are requested from the API only once, because they never change while the service runs.
        """
        if self.state.criteria is None:
            self.state.criteria = await self.api.get_criteria()
        return self.state.criteria

    async def weight_profiles(self) -> WeightProfiles:
        """Return the named weight profiles, with the criteria that they weight."""
        if self.state.weight_profiles is None:
            self.state.weight_profiles = WeightProfiles.from_description(await self.criteria())
        return self.state.weight_profiles

    async def load_user(self) -> User | None:
        """Return the signed-in user, or None if nobody is signed in.

        The response then uses the language of the account. The user is requested from the API at most once.
        """
        if self.session is None or self._is_signed_out:
            return self._user
        if self._user is None:
            self._user = await self.api.get_me()
            self.adopt_language(self._user)
        return self._user

    def adopt_language(self, user: User) -> None:
        """Respond in the language of the user's account, unless a language was selected in this browser.

        For an account without a selected language, the API returns the language of the request, which is `locale`.
        """
        if selected_language(self.request) is None and user.locale != self.locale:
            self.locale = user.locale
            self._account_language = user.locale

    async def render(self, template: str, /, **context: Any) -> Response:
        """Return a page for the signed-in user. The arguments are the same as for `render_template`."""
        user = await self.load_user()
        return self.render_template(template, user=user, **context)

    def render_template(
        self,
        template: str,
        /,
        *,
        error: TouchstoneError | None = None,
        status: int | None = None,
        field_problems: Mapping[str, str] | None = None,
        **context: Any,
    ) -> Response:
        """Return a page from a template, without loading the user.

        Args:
            template: the name of the template.
            error: an error to show, as the template variable `problem`. Its fields are marked in the form.
            status: the HTTP status. The default is the status of the error, or 200 without an error.
            field_problems: the messages about invalid fields by field name; ignored if there is an error.
            context: the template variables. The submitted form is called `form`. The variable `user`, which every
                page needs, is None for a page without the menu of the account.
        """
        messages = field_problems or {}
        problem: TouchstoneError | None = None
        if error is not None:
            messages = field_messages(error, self.localizer)
            problem = localize_error(error, self.localizer)
            status = _error_page_status(error, status)

        form: FormData = context.get("form") or FormData()
        variables = {
            "is_unsaved": problem is not None and _contains_input(form),
            "here": self.page_address,
            "is_answer": self.is_post,
            "path": self.request.url.path,
            "theme": cookies.read_theme(self.request),
            "ranking_address": cookies.last_ranking_address(self.request),
            "done": flash_message(self.request),
            "problem": problem,
            "address_notes": (),
            "request_id": self.request.headers.get(REQUEST_ID.decode(), ""),
            **context,
        }
        html = self.state.templates.render(template, self.locale, **variables)
        if messages:
            html = mark_invalid_fields(html, self.request.url.path, messages, text_field(form, FORM_NAME))

        response = HTMLResponse(html, status_code=status or _OK)
        if problem is not None and problem.retry_after is not None:
            response.headers["Retry-After"] = str(round(problem.retry_after))
        return response

    def redirect(self, path: str, **query: Any) -> Response:
        """Redirect the browser to another page.

        The page shows the flash message with the key in the parameter `done`, if there is one.
        """
        return RedirectResponse(build_address(path, **query), status_code=_SEE_OTHER)

    def sign_out(self) -> None:
        """Drop the session, so that `write_cookies` deletes its tokens in the browser."""
        self._is_signed_out = True
        self._user = None
        self._renewed_session = None

    @property
    def is_signed_out(self) -> bool:
        """Whether the session ended during this request."""
        return self._is_signed_out

    def write_cookies(self, response: Response) -> Response:
        """Add the cookies that changed during the request to the response, and return the response.

        They hold the tokens of the session, the token that identifies this browser to the API, and the language of the
        account. The browser is also told not to store the page.
        """
        if self._renewed_session is not None:
            lifetime_days = self.state.settings.refresh_token_days
            cookies.write_session(response, self.request, self._renewed_session, days=lifetime_days)
        elif self._is_signed_out:
            cookies.delete_session(response)

        device = self.api.identity.device
        if device is not None and device != cookies.read_device(self.request):
            cookies.write_preference(response, self.request, cookies.DEVICE, device)

        if self._account_language is not None:
            cookies.write_preference(response, self.request, cookies.LANGUAGE, self._account_language)

        # Without this header, somebody else at this computer could read the page after the reader has signed out.
        response.headers.setdefault("cache-control", "no-store")
        return response


def _error_page_status(error: TouchstoneError, status: int | None) -> int:
    """Return the given HTTP status for a page with an error, or by default the status of the error."""
    if error.code == _RESTORED_FORM:
        return _OK
    return status or error.status


def _contains_input(form: FormData) -> bool:
    """Return whether a form that is shown again contains input of the reader; passwords are never shown again."""
    return bool(form) and not any(map(is_password_field, form))
