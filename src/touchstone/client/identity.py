"""The caller on whose behalf a client sends its calls, and that caller's tokens."""

from collections.abc import Callable
from dataclasses import dataclass

from touchstone.client.models import Tokens


@dataclass(slots=True)
class Identity:
    """The caller on whose behalf a client sends its calls.

    Attributes:
        token: The access token; without one, calls are anonymous.
        refresh_token: The token that is exchanged for a new access token when that has expired.
        locale: The language of error messages, `fr` or `en`; if it is None, the service chooses.
        address: Host and port of the person behind the call; only an application in the same process sees it.
        user_agent: The User-Agent of the person behind the call.
        device: The device token of the last sign-in on this device.
        on_tokens: A function that is called with the new tokens after each renewal, so that they can be saved.
    """

    token: str | None = None
    refresh_token: str | None = None
    locale: str | None = None
    address: tuple[str, int] | None = None
    user_agent: str | None = None
    device: str | None = None
    on_tokens: Callable[[Tokens], None] | None = None

    def replace_tokens(self, tokens: Tokens) -> None:
        """Use new tokens for all later calls, and pass them to `on_tokens`.

        The service may leave out the refresh token or the device token; the previous one then stays in use.
        """
        self.token = tokens.access_token
        self.refresh_token = tokens.refresh_token or self.refresh_token
        self.device = tokens.device or self.device

        if self.on_tokens is not None:
            self.on_tokens(tokens)

    def discard_tokens(self) -> None:
        """Send all later calls anonymously."""
        self.token = None
        self.refresh_token = None

    def headers(self, *, with_token: bool) -> dict[str, str]:
        """Return the request headers that identify the caller; `with_token` adds the access token if there is one."""
        headers = {}
        if self.locale is not None:
            headers["Accept-Language"] = self.locale
        if self.user_agent is not None:
            headers["User-Agent"] = self.user_agent
        if with_token and self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        return headers
