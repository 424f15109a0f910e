"""Errors in a line of a bulk import that prevent it from being read.

They have the codes of the errors in the body of a single request, but their sentences are about the line.
"""

import re
from typing import Any, Final, Self

from touchstone.core.errors import NotJson, TooLarge

# The end of the decoder's message, with the number of bytes before the problem.
_BYTES_BEFORE: Final = re.compile(r"\(byte (\d+)\)$")
_TRUNCATED: Final = "truncated"


class LineError(Exception):
    """A line that cannot be read.

    Attributes:
        code: the code of the error in the body of a single request.
        message_key: the key of the sentence.
        facts: the values for the placeholders of the sentence.
    """

    def __init__(self, code: str, message_key: str, **facts: Any) -> None:
        super().__init__(message_key)
        self.code = code
        self.message_key = message_key
        self.facts = facts

    @classmethod
    def too_long(cls, max_bytes: int) -> Self:
        """Return the error for a line of more than `max_bytes` bytes."""
        return cls(TooLarge.code, "line_exceeds_limit", limit=max_bytes)

    @classmethod
    def not_json(cls, content: bytes, reason: BaseException | None) -> Self:
        """Return the error for a line that is not JSON. `reason` is the exception of the decoder."""
        try:
            content.decode()
        except UnicodeDecodeError:
            return cls(NotJson.code, "line_not_text")

        if bytes_before := _BYTES_BEFORE.search(str(reason)):
            position = len(content[: int(bytes_before[1])].decode(errors="ignore")) + 1
            return cls(NotJson.code, "line_not_json_from", position=position)
        if _TRUNCATED in str(reason):
            return cls(NotJson.code, "line_incomplete")
        return cls(NotJson.code, "line_not_json")
