"""The identity of a caller: tokens, language, and the address behind the calls."""

from collections.abc import Callable
from dataclasses import dataclass, field

from touchstone.client.call import require_header_text
from touchstone.client.models import Tokens


@dataclass(slots=True)
class Identity:
    """The caller that a client represents in its calls.

    Attributes:
        token: the access token; without one, calls are anonymous.
        refresh_token: the token that is exchanged for a new access token when the current one has expired.
        locale: the language of error messages, `fr` or `en`; the service chooses if it is None.
        address: the host and the port of the user's browser, for an application in the same process.
        user_agent: the User-Agent of the user's browser.
        device: the device token of the last sign-in on this device.
        on_tokens: a function that receives the new tokens after each renewal, for example to save them.
    """

    # Notebooks and logs store what they show, so the text form leaves out all tokens.
    token: str | None = field(default=None, repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    locale: str | None = None
    address: tuple[str, int] | None = None
    user_agent: str | None = None
    device: str | None = field(default=None, repr=False)
    on_tokens: Callable[[Tokens], None] | None = None

    def replace_tokens(self, tokens: Tokens) -> None:
        """Use new tokens for all later calls, and pass them to `on_tokens`.

        If the service omits the refresh token or the device token, the previous one stays in use.
        """
        self.token = tokens.access_token
        self.refresh_token = tokens.refresh_token or self.refresh_token
        self.device = tokens.device or self.device

        if self.on_tokens is not None:
            self.on_tokens(tokens)

    def discard_tokens(self) -> None:
        """Discard the tokens, so that later calls are anonymous."""
        self.token = None
        self.refresh_token = None

    def headers(self, *, with_token: bool) -> dict[str, str]:
        """Return the headers that identify the caller, with the access token only if `with_token` is true.

        Raises:
            ValueError: the locale or the token contains a character that no header may contain, such as a line break.
        """
        headers = {}
        if self.locale is not None:
            headers["Accept-Language"] = require_header_text(self.locale, "locale")
        if self.user_agent is not None:
            headers["User-Agent"] = self.user_agent
        if with_token and self.token is not None:
            headers["Authorization"] = f"Bearer {require_header_text(self.token, 'token')}"
        return headers
