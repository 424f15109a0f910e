"""What the gateway's own routes take and give."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeVar
from uuid import UUID

from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from touchstone.http.request_models import SHORT_TEXT, Flag, Name, RequestModel, require_clean_text
from touchstone.messages.locales import DEFAULT_LOCALE
from touchstone.services.gateway.passwords import MAX_LENGTH, MIN_LENGTH
from touchstone.services.gateway.route_table import API

PICTURE_PATH: Final = f"{API}/users/me/picture"
# The form that browsers take for an address (HTML standard, "valid e-mail address"), with letters of every script.
_LABEL: Final = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_EMAIL: Final = re.compile(rf"[\w.!#$%&'*+/=?^`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*")
Locale = Literal["fr", "en"]
W = TypeVar("W", bound=RequestModel)


def _address(value: str) -> str:
    if not _EMAIL.fullmatch(value):
        raise PydanticCustomError("email", "an e-mail address is expected")
    return value


def _trimmed(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def _without_default(schema: dict[str, Any]) -> None:
    # The default stands for "not given" and is never written.
    schema.pop("default")


Email = Annotated[
    str,
    BeforeValidator(_trimmed),
    Field(max_length=SHORT_TEXT, json_schema_extra={"format": "email"}),
    AfterValidator(require_clean_text),
    AfterValidator(_address),
]
Password = Annotated[str, Field(max_length=MAX_LENGTH), AfterValidator(require_clean_text)]
NewPassword = Annotated[
    str,
    Field(
        max_length=100 * MAX_LENGTH,
        description="Neither the e-mail address nor one of the most common passwords.",
        # Refused as a weak password, with a sentence of its own, and not as an invalid value.
        json_schema_extra={"minLength": MIN_LENGTH, "maxLength": MAX_LENGTH},
    ),
    AfterValidator(require_clean_text),
]
Token = Annotated[str, Field(max_length=SHORT_TEXT), AfterValidator(require_clean_text)]


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
    """The form of a sign-in; what else an OAuth 2 password form carries is of no use here."""

    ignored: ClassVar[frozenset[str]] = frozenset({"grant_type", "scope", "client_id", "client_secret"})


class RefreshToken(RequestModel):
    """A refresh token."""

    refresh_token: Token


class PasswordReset(RequestModel):
    """A new password, and the token that allows it."""

    token: Token
    password: NewPassword


class PasswordChange(RequestModel):
    """A new password, and the one it replaces."""

    current_password: Password
    new_password: NewPassword


class ProfileChange(RequestModel):
    """The fields of one's profile to change; null clears one."""

    pseudo: Name | None = None
    given_name: Name | None = None
    family_name: Name | None = None
    locale: Locale = Field("fr", description="Preferred language.", json_schema_extra=_without_default)


class UserChange(RequestModel):
    """What an administrator changes of a user."""

    is_active: Flag = Field(description="Without it nobody signs in as this user, and whoever is signed in is out.")


class Grant(BaseModel):
    """A session's tokens."""

    access_token: str
    token_type: Literal["bearer"] = "bearer"  # noqa: S105 - the name of a scheme
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
    is_verified: bool
    pseudo: str | None
    given_name: str | None
    family_name: str | None
    locale: Locale = Field(description="Preferred language; until one is chosen, what `Accept-Language` prefers.")
    picture: str | None = Field(description="Path of the profile picture; null when there is none.")
    oauth_accounts: list[OAuthAccount]
    created_at: datetime

    @classmethod
    def of(
        cls, user: Mapping[Any, Any], accounts: Sequence[Mapping[Any, Any]], *, locale: str = DEFAULT_LOCALE
    ) -> Self:
        """Return the view of a user row and of the rows of external accounts, of which only this user's are taken.

        `locale` is the language of a user who has chosen none.
        """
        own = [dict(account) for account in accounts if account["user_id"] == user["id"]]
        picture = PICTURE_PATH if user["picture_digest"] else None
        spoken = user["locale"] or locale
        return cls.model_validate({**user, "locale": spoken, "picture": picture, "oauth_accounts": own})


class UserQuery(RequestModel):
    """Which page of the users is asked for."""

    page: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    page_size: Annotated[int, Field(ge=1, le=1000)] = 100


class UserPage(BaseModel):
    """A page of users."""

    users: list[UserView]
    total_count: int
    page: int
    page_size: int
    total_pages: int


class SessionView(BaseModel):
    """A session: one place where one is signed in."""

    id: UUID
    created_at: datetime
    used_at: datetime = Field(description="When the session was last renewed.")
    user_agent: str | None
    address: str | None
    current: bool = Field(description="Whether it is the session of this request.")


class ResetToken(BaseModel):
    """A single-use token with which a user sets a new password."""

    token: str
    expires_at: datetime


def validated(model: type[W], value: Any) -> W:
    """`value` as a `model`, refused like a body that FastAPI has checked.

    Raises:
        RequestValidationError: it is not one.
    """
    try:
        return model.model_validate(value)
    except ValidationError as problem:
        errors = [{**error, "loc": ("body", *error["loc"])} for error in problem.errors()]
        raise RequestValidationError(errors) from problem
