"""The identity of a caller, and the headers that pass it from the gateway to a backend."""

import re
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from touchstone.core.errors import InvalidUserId

UUID_PATTERN: Final = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
USER_ID_HEADER: Final = b"x-user-id"
USER_EMAIL_HEADER: Final = b"x-user-email"

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Caller:
    """The user who makes a request. Administrators are always curators."""

    id: UUID
    email: str = ""
    is_admin: bool = False
    is_curator: bool = False


def parse_uuid(text: str) -> UUID | None:
    """Parse a UUID in the form 8-4-4-4-12 with hexadecimal digits, or return None for any other string."""
    return UUID(text) if UUID_PATTERN.fullmatch(text) else None


def read_user_id(headers: Headers) -> UUID | None:
    """Return the user id in the `X-User-ID` header, or None if the request has no user.

    Only backends without an internal key may trust this header.

    Raises:
        InvalidUserId: the header is repeated or is not a UUID.
    """
    header_values = [value for name, value in headers if name == USER_ID_HEADER]
    if not header_values:
        return None
    if len(header_values) > 1:
        raise InvalidUserId

    user_id = parse_uuid(header_values[0].decode("latin-1"))
    if user_id is None:
        raise InvalidUserId
    return user_id
