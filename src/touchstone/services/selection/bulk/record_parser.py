"""Lines of a bulk import as declared records, by the rules that hold for single records.

Most lines are valid, and are parsed and checked in one step by a compiled type. That type may refuse what the schema of
single records accepts, but never the other way round. A line that it refuses is therefore given to the schema, whose
verdict counts and whose error is reported.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType
from pydantic import ValidationError

from touchstone.core.attributes import ATTRIBUTES, Attribute, Kind
from touchstone.core.errors import TooLarge
from touchstone.http.error_responses import invalid_body
from touchstone.http.json_body import parse_json
from touchstone.http.request_models import LONG_TEXT, SHORT_TEXT
from touchstone.services.selection.bulk.body_lines import BodyLine
from touchstone.services.selection.bulk.declared_record import DeclaredRecord
from touchstone.services.selection.datasets.schemas import (
    FIELDS_OF_SERVICE,
    MAX_FILE_PATH,
    MAX_WORD,
    MAX_WORDS,
    DatasetImport,
    DatasetImportBody,
)
from touchstone.services.selection.json_fields import MAX_JSON_BYTES, MAX_JSON_DEPTH

# A number may become longer when its JSON is written anew: `1e15` as `1000000000000000.0`.
_MAX_GROWTH: Final = 8
_WORDS_COLUMNS: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.kind is Kind.WORDS)
_ATTRIBUTE_NAMES: Final = tuple(attribute.name for attribute in ATTRIBUTES if attribute.name != "dataset_name")


def _text_type(max_length: int, min_length: int = 0) -> Any:
    """Return the type of a text in a line."""
    return Annotated[str, Meta(min_length=min_length, max_length=max_length)]


def _attribute_type(attribute: Attribute) -> Any:
    """Return the type of an attribute in a line; the last year that is allowed moves, and is checked afterwards."""
    if attribute.kind in (Kind.INTEGER, Kind.PERCENTAGE):
        number_type = int if attribute.kind is Kind.INTEGER else float
        return Annotated[number_type, Meta(ge=attribute.minimum, le=attribute.maximum)]

    word_type = _text_type(MAX_WORD, min_length=1)
    words_type = Annotated[list[word_type], Meta(max_length=MAX_WORDS)]  # type: ignore[valid-type]
    types: dict[Kind, Any] = {Kind.TEXT: _text_type(LONG_TEXT), Kind.WORDS: words_type, Kind.FLAG: bool}
    return types[attribute.kind]


def _fields_of_line() -> list[tuple[str, Any] | tuple[str, Any, Any]]:
    """Return the fields of a line with their types and, for those that may be left out, their defaults."""
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
        ("visibility", Literal["public", "private"], "public"),
        ("metadata", dict[str, Any] | None, None),
        *attribute_fields,
        *((name, msgspec.Raw, msgspec.Raw()) for name in sorted(FIELDS_OF_SERVICE)),
    ]


_ValidLine: Final[Any] = msgspec.defstruct("_ValidLine", _fields_of_line(), forbid_unknown_fields=True, frozen=True)
_DECODER: Final = msgspec.json.Decoder(_ValidLine)


class RecordParser:
    """Parses the lines of one import."""

    def __init__(self, max_bytes: int) -> None:
        """Prepare to parse lines of at most `max_bytes` bytes, which is also the limit for single records."""
        self._max_bytes = max_bytes
        self._last_year = datetime.now(UTC).year + 1

    def parse(self, line: BodyLine) -> DeclaredRecord:
        """Return the record that a line declares.

        Raises:
            TooLarge: the line is longer than allowed.
            NotJson: the line is not JSON.
            Invalid: the line is not a valid record; the error is the one for a single record.
        """
        if line.content is None:
            raise TooLarge(limit=self._max_bytes)

        return self.parse_quickly(line.content) or parse_by_schema(line.content)

    def parse_quickly(self, content: bytes) -> DeclaredRecord | None:
        """Return the record that a line declares, or None if only the schema can tell whether the line is valid."""
        if _needs_schema(content):
            return None
        try:
            line = _DECODER.decode(content)
        except (msgspec.ValidationError, ValueError, RecursionError):
            return None

        is_same_name = line.dataset_name is UNSET or line.dataset_name == line.name
        is_past_last_year = line.year is not None and line.year > self._last_year
        texts_without_margins = [line.name, *(word for name in _WORDS_COLUMNS for word in getattr(line, name) or ())]
        has_margins = any(text != text.strip() for text in texts_without_margins)
        if has_margins or is_past_last_year or not is_same_name:
            return None

        attributes = {name: getattr(line, name) for name in _ATTRIBUTE_NAMES}
        return DeclaredRecord(
            visibility=line.visibility,
            description=line.description,
            file_path=line.file_path,
            file_type=line.file_type,
            attributes={"dataset_name": line.name, **attributes},
            metadata=line.metadata,
        )


def parse_by_schema(content: bytes) -> DeclaredRecord:
    """Return the record that a line declares, by the schema of single records.

    Raises:
        NotJson, Invalid: what a single record with this body would be refused with.
    """
    value = parse_json(content)
    try:
        body: DatasetImportBody = DatasetImport.model_validate(value)
    except ValidationError as error:
        raise invalid_body(error) from None

    return DeclaredRecord.from_body(body)


def _needs_schema(content: bytes) -> bool:
    """Return whether a line could break a rule that the compiled type does not know.

    These are NUL characters, and JSON that is nested too deeply or takes too many bytes.
    """
    has_nul = b"\\u0000" in content or b"\x00" in content
    could_be_too_deep = content.count(b"{") + content.count(b"[") > MAX_JSON_DEPTH
    could_be_too_long = len(content) * _MAX_GROWTH > MAX_JSON_BYTES
    return has_nul or could_be_too_deep or could_be_too_long
