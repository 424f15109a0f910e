"""Parsing the lines of a bulk import, with the same rules as for requests that create a single record.

A fast decoder parses and validates each line in one step. It may reject valid lines, but never accepts invalid ones.
If it rejects a line, the line is validated again with the pydantic schema for single records, whose error is reported.
"""

from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace
from pydantic import ValidationError

from touchstone.core.attributes import ATTRIBUTES, BY_NAME, Attribute, Kind
from touchstone.core.errors import NotJson
from touchstone.core.text import is_blank
from touchstone.http.error_responses import invalid_body
from touchstone.http.json_body import parse_json
from touchstone.http.request_models import LONG_TEXT, MAX_WORD, SHORT_TEXT
from touchstone.services.selection.bulk.body_lines import BodyLine
from touchstone.services.selection.bulk.line_errors import LineError
from touchstone.services.selection.datasets.declared_record import DeclaredRecord
from touchstone.services.selection.datasets.schemas import (
    MAX_FILE_PATH,
    MAX_WORDS,
    SERVICE_FIELDS,
    DatasetImport,
    DatasetImportBody,
)
from touchstone.services.selection.json_fields import MAX_JSON_BYTES, MAX_JSON_DEPTH

# A number may become longer when it is encoded again: `1e15` becomes `1000000000000000.0`.
_MAX_GROWTH: Final = 8
_WORDS_COLUMNS: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.WORDS)


def _text_type(max_length: int, min_length: int = 0) -> Any:
    """Return the type of a string in a line."""
    return Annotated[str, Meta(min_length=min_length, max_length=max_length)]


def _attribute_type(attribute: Attribute) -> Any:
    """Return the type of an attribute in a line.

    It does not include the upper limit for years, which depends on the date.
    """
    if attribute.kind in (Kind.INTEGER, Kind.PERCENTAGE):
        number_type = int if attribute.kind is Kind.INTEGER else float
        return Annotated[number_type, Meta(ge=attribute.minimum, le=attribute.maximum)]

    word_type = _text_type(MAX_WORD, min_length=1)
    words_type = Annotated[list[word_type], Meta(max_length=MAX_WORDS)]  # type: ignore[valid-type]
    types: dict[Kind, Any] = {Kind.TEXT: _text_type(LONG_TEXT), Kind.WORDS: words_type, Kind.FLAG: bool}
    return types[attribute.kind]


def _line_fields() -> list[tuple[str, Any] | tuple[str, Any, Any]]:
    """Return the fields of a line with their types and, for optional fields, their defaults."""
    required_fields = [
        ("name", _text_type(SHORT_TEXT, min_length=1)),
        ("description", _text_type(LONG_TEXT)),
        ("file_path", _text_type(MAX_FILE_PATH)),
        ("file_type", _text_type(SHORT_TEXT)),
    ]
    attribute_fields = [
        (attribute.name, _attribute_type(attribute) | None, None)
        for attribute in ATTRIBUTES
        if attribute.name != "dataset_name"
    ]
    return [
        *required_fields,
        ("dataset_name", str | UnsetType, UNSET),
        ("visibility", Literal["public", "private"] | UnsetType, UNSET),
        ("metadata", dict[str, Any] | None, None),
        *attribute_fields,
        *((name, msgspec.Raw, msgspec.Raw()) for name in sorted(SERVICE_FIELDS)),
    ]


_ValidLine: Final[Any] = msgspec.defstruct(
    "_ValidLine", _line_fields(), forbid_unknown_fields=True, frozen=True, gc=False
)
_TRUE: Final = b"true"
_DECODER: Final = msgspec.json.Decoder(_ValidLine)
# Returns the attributes of a line in the order of `ATTRIBUTES`. A line contains `dataset_name` as `name`.
_attribute_values: Final = attrgetter(*("name" if name == "dataset_name" else name for name in BY_NAME))


class RecordParser:
    """Parses the lines of one import."""

    def __init__(self, max_bytes: int) -> None:
        """Create a parser for lines of at most `max_bytes` bytes, which is also the limit for single records."""
        self._max_bytes = max_bytes
        current_year = datetime.now(UTC).year
        self._last_valid_year = current_year + 1

    def parse(self, line: BodyLine) -> DeclaredRecord:
        """Return the record that a line declares.

        Raises:
            LineError: the line is longer than allowed, or not JSON.
            ServiceError: the line is not a valid record; the error is the same as for a single record.
        """
        if line.content is None:
            raise LineError.too_long(self._max_bytes)

        try:
            return self.parse_quickly(line.content) or parse_with_schema(line.content)
        except NotJson as error:
            raise LineError.not_json(line.content, error.__cause__) from None

    def parse_quickly(self, content: bytes) -> DeclaredRecord | None:
        """Return the record that a line declares, or None if the line must be validated with the schema."""
        if _needs_schema(content):
            return None
        try:
            line = _DECODER.decode(content)
        except (msgspec.ValidationError, ValueError, RecursionError):
            return None

        if not self._is_certainly_valid(line):
            return None

        return DeclaredRecord(
            visibility=None if line.visibility is UNSET else line.visibility,
            is_hidden=line.visibility == "private" and bytes(line.hidden) == _TRUE,
            description=line.description,
            file_path=line.file_path,
            file_type=line.file_type,
            attribute_values=_attribute_values(line),
            metadata=line.metadata,
        )

    def _is_certainly_valid(self, line: Any) -> bool:
        """Return whether a decoded line also satisfies the rules that its type cannot express."""
        has_other_name = line.dataset_name is not UNSET and line.dataset_name != line.name
        if has_other_name:
            return False
        if line.year is not None and line.year > self._last_valid_year:
            return False

        if not _is_valid_name(line.name):
            return False
        return all(_is_valid_name(word) for column in _WORDS_COLUMNS for word in getattr(line, column) or ())


def _is_valid_name(text: str) -> bool:
    """Return whether a name or a word shows something, and has no white space around it."""
    return text == text.strip() and not is_blank(text)


def parse_with_schema(content: bytes) -> DeclaredRecord:
    """Return the record that a line declares, validated with the schema for single records.

    Raises:
        NotJson, Invalid: the line is not valid; the error is the same as for a single record.
    """
    value = parse_json(content)
    try:
        body: DatasetImportBody = DatasetImport.model_validate(value)
    except ValidationError as error:
        raise invalid_body(error) from None

    is_hidden = body.visibility == "private" and value.get("hidden") is True
    return replace(DeclaredRecord.from_body(body), is_hidden=is_hidden)


def _needs_schema(content: bytes) -> bool:
    """Return whether a line may violate rules that the fast decoder does not check.

    These rules forbid escaped NUL characters, and `metadata` that is too long or too deeply nested.
    """
    # Few lines contain a backslash, and searching for a single byte is fast.
    has_escaped_nul = b"\\" in content and b"\\u0000" in content
    could_be_too_deep = content.count(b"{") + content.count(b"[") > MAX_JSON_DEPTH
    could_be_too_long = len(content) * _MAX_GROWTH > MAX_JSON_BYTES
    return has_escaped_nul or could_be_too_deep or could_be_too_long
