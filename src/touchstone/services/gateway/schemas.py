"""Request and response bodies of the routes of the gateway."""

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self, cast, get_args
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from touchstone.http.request_models import (
    SHORT_TEXT,
    Flag,
    Name,
    QueryInteger,
    RequestModel,
    require_clean_text,
    strip_text,
)
from touchstone.messages.locales import DEFAULT_LOCALE
from touchstone.services.gateway.passwords import MAX_LENGTH, MIN_LENGTH
from touchstone.services.gateway.public_routes import API
from touchstone.services.gateway.session_store import SessionRecord
from touchstone.services.gateway.user_store import OAuthAccountRecord, UserRecord

PICTURE_PATH: Final = f"{API}/users/me/picture"
# The pattern of the HTML standard ("valid e-mail address"), extended to letters of all scripts.
_LABEL: Final = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_EMAIL: Final = re.compile(rf"[\w.!#$%&'*+/=?^`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*")
Locale = Literal["fr", "en"]


def _compose_characters(value: Any) -> Any:
    """Compose the characters of a string (NFC), because the pattern matches no decomposed accents."""
    return unicodedata.normalize("NFC", value) if isinstance(value, str) else value


def _check_email(value: str) -> str:
    """Check that a value has the form of an e-mail address, and return it unchanged.

    Raises:
        PydanticCustomError: it does not have this form.
    """
    if not _EMAIL.fullmatch(value):
        raise PydanticCustomError("email", "an e-mail address is expected")
    return value


def _hide_default(schema: dict[str, Any]) -> None:
    """Remove the default from a JSON schema, because a field that is not sent is not changed."""
    schema.pop("default")


Email = Annotated[
    str,
    Field(max_length=SHORT_TEXT, json_schema_extra={"format": "email"}),
    BeforeValidator(strip_text),
    BeforeValidator(_compose_characters),
    AfterValidator(require_clean_text),
    AfterValidator(_check_email),
]
Password = Annotated[str, Field(max_length=MAX_LENGTH), AfterValidator(require_clean_text)]
NewPassword = Annotated[
    str,
    Field(
        max_length=100 * MAX_LENGTH,
        description="Neither the e-mail address nor one of the most common passwords.",
        # These limits are only documented. A password that exceeds them is refused as weak, not as an invalid value.
        json_schema_extra={"minLength": MIN_LENGTH, "maxLength": MAX_LENGTH},
    ),
    AfterValidator(require_clean_text),
]
Token = Annotated[str, Field(max_length=SHORT_TEXT), AfterValidator(require_clean_text)]
OAuth2Field = Annotated[str, Field(description="Accepted from OAuth 2 clients, and ignored.")]


class Registration(RequestModel):
    """A new account."""

    email: Email
    password: NewPassword
    pseudo: Name | None = None
    given_name: Name | None = None
    family_name: Name | None = None
    locale: Locale | None = None


class Login(RequestModel):
    """A sign-in: `username` is the e-mail address, in any case."""

    username: Annotated[str, Field(max_length=MAX_LENGTH), AfterValidator(require_clean_text)]
    password: Password


class LoginForm(Login):
    """The form of a sign-in; the other fields of an OAuth 2 password form are ignored."""

    grant_type: OAuth2Field = ""
    scope: OAuth2Field = ""
    client_id: OAuth2Field = ""
    client_secret: OAuth2Field = ""


class RefreshToken(RequestModel):
    """A refresh token."""

    refresh_token: Token


class PasswordReset(RequestModel):
    """A new password, and the reset token."""

    token: Token
    password: NewPassword


class PasswordChange(RequestModel):
    """The current password, and the new one."""

    current_password: Password
    new_password: NewPassword


class ProfileChange(RequestModel):
    """The fields of the profile to change; null clears a field."""

    pseudo: Name | None = None
    given_name: Name | None = None
    family_name: Name | None = None
    locale: Locale = Field("fr", description="Preferred language.", json_schema_extra=_hide_default)


class UserChange(RequestModel):
    """A change of a user by an administrator; fields that are left out stay as they are."""

    is_active: Flag = Field(
        True,
        description="If false, the user cannot sign in, and all sessions of the user end.",
        json_schema_extra=_hide_default,
    )
    is_curator: Flag = Field(
        False,
        description="A curator reviews claims about all datasets. Administrators are curators in any case.",
        json_schema_extra=_hide_default,
    )


class Grant(BaseModel):
    """The tokens of a session."""

    access_token: str
    token_type: Literal["bearer"]
    expires_in: int = Field(description="Life of the access token, in seconds.")
    refresh_token: str = Field(description="Good for one use, at `/auth/refresh`.")


class OAuthAccount(BaseModel):
    """An account at an external provider that signs this user in."""

    id: UUID
    oauth_name: str
    account_id: str
    account_email: str


class UserView(BaseModel):
    """A user, as that user and administrators see it."""

    id: UUID
    email: str
    is_active: bool
    is_superuser: bool
    is_curator: bool = Field(description="Whether the user reviews claims; true for every administrator.")
    is_verified: bool
    pseudo: str | None
    given_name: str | None
    family_name: str | None
    locale: Locale = Field(description="Preferred language; until one is chosen, what `Accept-Language` prefers.")
    picture: str | None = Field(description="Path of the profile picture; null when there is none.")
    has_password: bool = Field(description="False while the user can only sign in with an identity provider.")
    oauth_accounts: list[OAuthAccount]
    created_at: datetime

    @classmethod
    def from_record(
        cls, user: UserRecord, oauth_accounts: Sequence[OAuthAccountRecord], *, locale: str = DEFAULT_LOCALE
    ) -> Self:
        """Convert a stored user to the public view, without the password hash.

        Args:
            user: the stored user.
            oauth_accounts: the external accounts of any users. Only this user's accounts are included.
            locale: the language to return for a user who has not chosen a supported one.
        """
        user_accounts = [
            OAuthAccount.model_validate(account, from_attributes=True)
            for account in oauth_accounts
            if account.user_id == user.id
        ]

        return cls(
            id=user.id,
            email=user.email,
            is_active=user.is_active,
            is_superuser=user.is_superuser,
            is_curator=user.is_superuser or user.is_curator,
            is_verified=user.is_verified,
            pseudo=user.pseudo,
            given_name=user.given_name,
            family_name=user.family_name,
            locale=cast(Locale, user.locale if user.locale in get_args(Locale) else locale),
            picture=PICTURE_PATH if user.picture_digest else None,
            has_password=user.password_hash is not None,
            oauth_accounts=user_accounts,
            created_at=user.created_at,
        )


class UserQuery(RequestModel):
    """The page of users to return."""

    page: Annotated[QueryInteger, Field(ge=1, le=1_000_000)] = 1
    page_size: Annotated[QueryInteger, Field(ge=1, le=1000)] = 100
    q: Annotated[str, Field(max_length=320)] = Field(
        "", description="Only the users whose e-mail address contains this text, ignoring case."
    )


class UserPage(BaseModel):
    """A page of users."""

    users: list[UserView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class SessionView(BaseModel):
    """A session of the user."""

    id: UUID
    created_at: datetime
    used_at: datetime = Field(description="When the session was last renewed.")
    user_agent: str | None
    address: str | None
    current: bool = Field(description="Whether it is the session of this request.")

    @classmethod
    def from_record(cls, session: SessionRecord, *, current_id: UUID) -> Self:
        """Convert a stored session to the public view, where `current_id` is the session of the request."""
        return cls(
            id=session.id,
            created_at=session.created_at,
            used_at=session.used_at,
            user_agent=session.user_agent,
            address=session.address,
            current=session.id == current_id,
        )


class ResetToken(BaseModel):
    """A single-use token with which a user sets a new password."""

    token: str
    expires_at: datetime
