"""API calls for signing in, the caller's account, and the administration of accounts."""

from collections.abc import Mapping
from typing import Final, TypedDict, Unpack
from uuid import UUID

import httpx2
import msgspec

from touchstone.client.call import Call, build_path, read_bytes, read_json, read_nothing, without_none
from touchstone.client.fields import ProfileFields
from touchstone.client.models import (
    Health,
    HiddenDataset,
    HiddenDatasetPage,
    ResetToken,
    Session,
    Tokens,
    User,
    UserPage,
)

DEVICE_COOKIE: Final = "touchstone_device"
LINK_COOKIE: Final = "touchstone_link"
PICTURE_SIGNATURES: Final[Mapping[bytes, str]] = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg"}
_read_tokens: Final = read_json(Tokens)


class AccountChanges(TypedDict, total=False):
    """The fields of an account that an administrator may change."""

    is_active: bool
    is_curator: bool


def sign_in(email: str, password: str, device: str | None = None, *, link: str | None = None) -> Call[Tokens]:
    """Exchange an e-mail address and a password for tokens.

    Args:
        email: the e-mail address.
        password: the password.
        device: the token that an earlier sign-in on the same device has returned, if there was one. A known device can
            sign in even while its network address is locked out.
        link: the token of an account at an identity provider to link, which a sign-in there has returned.
    """
    body = {"username": email, "password": password}
    headers = cookie_header({DEVICE_COOKIE: device, LINK_COOKIE: link})
    return Call("POST", build_path("auth", "login"), read_sign_in, json=body, headers=headers, public=True)


def cookie_header(cookies: Mapping[str, str | None]) -> dict[str, str]:
    """Return the header that sends these cookies, without those that are None or empty, or no header."""
    pairs = [f"{name}={value}" for name, value in cookies.items() if value]
    return {"Cookie": "; ".join(pairs)} if pairs else {}


def read_sign_in(response: httpx2.Response) -> Tokens:
    """Return the tokens in the response to a sign-in, with the device token from its cookie."""
    tokens = _read_tokens(response)
    return msgspec.structs.replace(tokens, device=response.cookies.get(DEVICE_COOKIE))


def renew(refresh_token: str) -> Call[Tokens]:
    """Exchange a single-use refresh token for new tokens."""
    body = {"refresh_token": refresh_token}
    return Call("POST", build_path("auth", "refresh"), read_json(Tokens), json=body, public=True)


def revoke(refresh_token: str) -> Call[None]:
    """End the session of a refresh token; nothing happens if it has already ended."""
    body = {"refresh_token": refresh_token}
    session_has_ended = frozenset({httpx2.codes.UNAUTHORIZED})
    return Call("POST", build_path("auth", "logout"), read_nothing, json=body, other_statuses=session_has_ended)


def register(email: str, password: str, **profile: Unpack[ProfileFields]) -> Call[User]:
    """Create an account, if the service allows registration."""
    body = {"email": email, "password": password, **profile}
    return Call("POST", build_path("auth", "register"), read_json(User), json=body, public=True)


def reset_password(token: str, password: str) -> Call[None]:
    """Set a new password with a reset token."""
    body = {"token": token, "password": password}
    return Call("POST", build_path("auth", "reset-password"), read_nothing, json=body, public=True)


def get_me() -> Call[User]:
    """Return the account of the caller."""
    return Call("GET", build_path("users", "me"), read_json(User))


def update_me(**changes: Unpack[ProfileFields]) -> Call[User]:
    """Change the profile of the caller."""
    return Call("PATCH", build_path("users", "me"), read_json(User), json=changes)


def change_password(current_password: str, new_password: str) -> Call[None]:
    """Change the password of the caller and end all their sessions."""
    body = {"current_password": current_password, "new_password": new_password}
    return Call("PATCH", build_path("users", "me", "password"), read_nothing, json=body)


def get_picture() -> Call[bytes]:
    """Return the profile picture of the caller."""
    return Call("GET", build_path("users", "me", "picture"), read_bytes)


def set_picture(content: bytes) -> Call[None]:
    """Set the profile picture of the caller, a PNG, JPEG or WebP file of up to 2 MB."""
    media_type = "image/webp"
    for signature, signed_type in PICTURE_SIGNATURES.items():
        if content.startswith(signature):
            media_type = signed_type

    headers = {"Content-Type": media_type}
    return Call("PUT", build_path("users", "me", "picture"), read_nothing, content=content, headers=headers)


def delete_picture() -> Call[None]:
    """Delete the profile picture of the caller."""
    return Call("DELETE", build_path("users", "me", "picture"), read_nothing)


def list_sessions() -> Call[list[Session]]:
    """List the sessions of the caller."""
    return Call("GET", build_path("users", "me", "sessions"), read_json(list[Session]))


def delete_session(session_id: str | UUID) -> Call[None]:
    """End one session of the caller."""
    return Call("DELETE", build_path("users", "me", "sessions", session_id), read_nothing)


def delete_oauth_account(oauth_account_id: str | UUID) -> Call[None]:
    """Unlink the account of the caller from an account at an identity provider."""
    return Call("DELETE", build_path("users", "me", "oauth-accounts", oauth_account_id), read_nothing)


def page_users(*, q: str | None = None, page: int = 1, page_size: int = 12) -> Call[UserPage]:
    """Return one page of all accounts, or of those whose e-mail address contains `q`; administrators only."""
    query = {"q": q, "page": page, "page_size": page_size}
    return Call("GET", build_path("admin", "users"), read_json(UserPage), query=query)


def update_user(user_id: str | UUID, **changes: Unpack[AccountChanges]) -> Call[User]:
    """Change an account; administrators only."""
    return Call("PATCH", build_path("admin", "users", user_id), read_json(User), json=changes)


def reset_user(user_id: str | UUID) -> Call[ResetToken]:
    """Issue a password reset token for an account; administrators only."""
    return Call("POST", build_path("admin", "users", user_id, "reset-token"), read_json(ResetToken))


def hide_dataset(dataset_id: int | str | UUID, *, hidden: bool, reason: str | None = None) -> Call[HiddenDataset]:
    """Hide a record from everyone except its creator, or show it again. Only administrators may do so."""
    path = build_path("admin", "datasets", dataset_id, "hidden")
    return Call("PUT", path, read_json(HiddenDataset), json={"hidden": hidden, **without_none(reason=reason)})


def page_hidden_datasets(*, page: int = 1, page_size: int = 12) -> Call[HiddenDatasetPage]:
    """Return one page of the hidden records; administrators only."""
    query = {"page": page, "page_size": page_size}
    return Call("GET", build_path("admin", "datasets", "hidden"), read_json(HiddenDatasetPage), query=query)


def get_health() -> Call[Health]:
    """Return the state of the service and of each of its resources."""
    return Call("GET", "/health/ready", read_json(Health), public=True)
