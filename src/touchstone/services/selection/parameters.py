"""Parsing and documenting of parameters: named values in a query string or in a JSON object.

Each parameter is declared once. The same declaration parses its values and describes them in the OpenAPI document, so
that what is documented is what is accepted.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias
from urllib.parse import unquote_to_bytes

from touchstone.core.attributes import INT53_MAX
from touchstone.core.errors import ConflictingValues, FieldError, Invalid, InvalidValue, Location
from touchstone.http.request_models import require_clean_text
from touchstone.http.spelling_suggestions import unknown_name_error, unknown_value_error

ParameterValue: TypeAlias = int | float | bool | str | tuple[str, ...]
ParameterValues: TypeAlias = dict[str, ParameterValue]

MAX_TEXT: Final = 1000
MAX_ITEMS: Final = 200
MAX_QUERY_BYTES: Final = 64 * 1024
MAX_REPORTED_NAME: Final = 80
# Plain decimal digits only: int() would also accept "1_000", " 1" and the digits of other scripts.
_INTEGER: Final = re.compile(r"-?[0-9]{1,300}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,17}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?")
_FLAGS: Final = {"true": True, "false": False, "1": True, "0": False}


class ParameterType(StrEnum):
    """The type of the value of a parameter."""

    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"  # true or false; in a query string also 1 or 0, in upper or lower case
    TEXT = "text"
    WORDS = "words"  # a list: comma-separated, repeated (a value may then contain commas), or a JSON array
    CHOICE = "choice"  # one of `choices`


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A named value that a caller may give; the bounds are inclusive."""

    name: str
    type: ParameterType
    description: str
    aliases: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    default: ParameterValue | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which the value may be given."""
        return (self.name, *self.aliases)

    def integer_in(self, values: "ParameterValues", default: int | None = None) -> int:
        """Return the value of an integer parameter among parsed values, or else the default."""
        value = values.get(self.name, self.default if default is None else default)
        assert isinstance(value, int)
        return value

    def parse_texts(self, texts: Sequence[str], location: Location) -> ParameterValue | None:
        """Return the value of the texts given for it in a query string, or None if all of them are empty.

        Raises:
            InvalidValue, UnknownName: a text is not a value of this parameter.
        """
        if self.type is not ParameterType.WORDS and len(texts) > 1:
            raise InvalidValue(FieldError(location, "given_twice", {"count": len(texts)}))
        if not any(texts):
            return None

        if self.type is ParameterType.WORDS:
            words = texts[0].split(",") if len(texts) == 1 else texts
            return self._validate_words(words, location)

        return self._validate(_PARSE_TEXT[self.type](texts[0]), location)

    def parse_json(self, value: object, location: Location) -> ParameterValue | None:
        """Return the value given for it in a JSON object, or None if it is null, an empty text or an empty list.

        Raises:
            InvalidValue, UnknownName: it is not a value of this parameter.
        """
        if value is None or value == "" or value == []:
            return None

        if self.type is not ParameterType.WORDS:
            return self._validate(_PARSE_JSON[self.type](value), location)

        words = value.split(",") if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InvalidValue(FieldError(location, "words_expected"))
        return self._validate_words(words, location)

    def documentation(self, name: str) -> dict[str, Any]:
        """Return how the OpenAPI document describes it under one of its names; aliases are deprecated."""
        if name == self.name:
            return {"description": self.description}

        return {"description": f"Another name of `{self.name}`.", "deprecated": True}

    def schema(self) -> dict[str, Any]:
        """Return its JSON Schema."""
        keywords: dict[str, Any] = {"minimum": self.minimum, "maximum": self.maximum, "default": self.default}
        schema = dict(_SCHEMAS[self.type])
        schema |= {keyword: value for keyword, value in keywords.items() if value is not None}
        if self.choices:
            schema["enum"] = list(self.choices)

        return schema

    def _validate(self, value: ParameterValue | None, location: Location) -> ParameterValue:
        """Return the value if it fits; None stands for a value of another type."""
        if isinstance(value, str):
            _check_text(value, location)
            if self.type is ParameterType.CHOICE and value not in self.choices:
                raise unknown_value_error(value, self.choices, *location)
            return value

        if value is None or not self._is_in_bounds(value):
            raise self._invalid_value(value, location)
        return value

    def _validate_words(self, words: Iterable[str], location: Location) -> tuple[str, ...] | None:
        """Return the different words without surrounding spaces, or None if all of them are empty."""
        stripped = [word.strip() for word in words if word.strip()]
        for word in stripped:
            _check_text(word, location)

        distinct = tuple(dict.fromkeys(stripped))
        if len(distinct) > MAX_ITEMS:
            raise InvalidValue(FieldError(location, "too_long", {"max_length": MAX_ITEMS}))
        return distinct or None

    def _is_in_bounds(self, value: Any) -> bool:
        if self.minimum is not None and value < self.minimum:
            return False

        return self.maximum is None or value <= self.maximum

    def _invalid_value(self, value: ParameterValue | None, location: Location) -> InvalidValue:
        """Return the error for a value of another type or out of bounds; it states the bounds that matter."""
        if self.type is ParameterType.CHOICE:
            return InvalidValue(FieldError(location, "choice_expected", {"choices": ", ".join(self.choices)}))
        if self.maximum == INT53_MAX and isinstance(value, int) and value > INT53_MAX:
            return InvalidValue(FieldError(location, "number_too_large", {"maximum": INT53_MAX}))

        # Bounds at the limit of exact integers say nothing to a person.
        minimum = None if self.minimum == -INT53_MAX else self.minimum
        maximum = None if self.maximum == INT53_MAX else self.maximum
        if minimum is None:
            expectation = "expected"
        elif maximum is None:
            expectation = "from"
        else:
            expectation = "between"
        return InvalidValue(
            FieldError(location, f"{self.type}_{expectation}", {"minimum": minimum, "maximum": maximum})
        )


class Parameters:
    """A table of parameters that may be given together."""

    def __init__(self, *rows: Parameter) -> None:
        self.rows = rows
        self.by_name: Mapping[str, Parameter] = {name: parameter for parameter in rows for name in parameter.names}

    def parse_query(self, query_string: bytes) -> ParameterValues:
        """Return the values in a query string, each under the main name of its parameter.

        Raises:
            UnknownName, InvalidValue: a name or a value does not fit.
            ConflictingValues: two names of one parameter have different values.
        """
        if not query_string:
            return {}

        texts = split_query(query_string)
        return self._collect(texts, ("query",), lambda parameter, name, at: parameter.parse_texts(texts[name], at))

    def parse_json(self, members: object, *location: str) -> ParameterValues:
        """Return the values in a JSON object, each under the main name of its parameter.

        `location` says where the object is in the request, for example `"body", "filters"`.

        Raises:
            Invalid: it is not a JSON object.
            UnknownName, InvalidValue: a name or a value does not fit.
            ConflictingValues: two names of one parameter have different values.
        """
        if not isinstance(members, dict):
            raise Invalid(FieldError(location, "dict_type"))

        return self._collect(members, location, lambda parameter, name, at: parameter.parse_json(members[name], at))

    def openapi(self) -> list[dict[str, Any]]:
        """Return the description of all names as query parameters."""
        return [_openapi_parameter(parameter, name) for parameter in self.rows for name in parameter.names]

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of a JSON object with all names as members."""
        properties = {
            name: _nullable_schema(parameter) | parameter.documentation(name)
            for parameter in self.rows
            for name in parameter.names
        }
        return {"type": "object", "properties": properties, "additionalProperties": False}

    def _collect(
        self,
        names: Iterable[str],
        container: Location,
        parse: Callable[[Parameter, str, Location], ParameterValue | None],
    ) -> ParameterValues:
        values: ParameterValues = {}
        names_used: dict[str, str] = {}
        for name in names:
            parameter = self.by_name.get(name)
            if parameter is None:
                raise unknown_name_error(name, self.by_name, *container, name[:MAX_REPORTED_NAME])

            value = parse(parameter, name, (*container, name))
            if value is None:
                continue

            first_name = names_used.setdefault(parameter.name, name)
            if not is_same_value(values.setdefault(parameter.name, value), value):
                raise ConflictingValues(at=(*container, name), name=name, other=first_name)

        return values


def is_same_value(first: ParameterValue, second: ParameterValue) -> bool:
    """Return whether two values of one parameter mean the same; the order of words does not matter."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return set(first) == set(second)

    return first == second


def split_query(query_string: bytes) -> dict[str, list[str]]:
    """Return the names in a query string with their values, in the order in which they come.

    Raises:
        Invalid: the query string is too long, or not UTF-8 after decoding.
    """
    if len(query_string) > MAX_QUERY_BYTES:
        raise Invalid(FieldError(("query",), "query_too_long", {"maximum": MAX_QUERY_BYTES}))

    texts: dict[str, list[str]] = {}
    for pair in query_string.split(b"&"):
        if pair:
            name, _, value = pair.partition(b"=")
            texts.setdefault(_decode(name), []).append(_decode(value))

    return texts


def _decode(encoded: bytes) -> str:
    try:
        return unquote_to_bytes(encoded.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as error:
        raise Invalid(FieldError(("query",), "not_utf8")) from error


def _check_text(text: str, location: Location) -> None:
    """Raise InvalidValue if a text is too long or contains characters that cannot be stored."""
    try:
        require_clean_text(text)
    except ValueError as error:
        raise InvalidValue(FieldError(location, "unclean_text")) from error

    if len(text) > MAX_TEXT:
        raise InvalidValue(FieldError(location, "string_too_long", {"max_length": MAX_TEXT}))


def _integer_from_text(text: str) -> int | None:
    return int(text) if _INTEGER.fullmatch(text) else None


def _number_from_text(text: str) -> float | None:
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def _flag_from_text(text: str) -> bool | None:
    # In upper or lower case: several programming languages write their booleans with a capital.
    return _FLAGS.get(text.lower())


def _integer_from_json(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)

    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number_from_json(value: object) -> float | None:
    if isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT53_MAX:
        return float(value)

    return None


def _flag_from_json(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _text_from_json(value: object) -> str | None:
    return value if isinstance(value, str) else None


_PARSE_TEXT: Final[Mapping[ParameterType, Callable[[str], ParameterValue | None]]] = {
    ParameterType.INTEGER: _integer_from_text,
    ParameterType.NUMBER: _number_from_text,
    ParameterType.FLAG: _flag_from_text,
    ParameterType.TEXT: str,
    ParameterType.CHOICE: str,
}
_PARSE_JSON: Final[Mapping[ParameterType, Callable[[object], ParameterValue | None]]] = {
    ParameterType.INTEGER: _integer_from_json,
    ParameterType.NUMBER: _number_from_json,
    ParameterType.FLAG: _flag_from_json,
    ParameterType.TEXT: _text_from_json,
    ParameterType.CHOICE: _text_from_json,
}
_SCHEMAS: Final[Mapping[ParameterType, Mapping[str, Any]]] = {
    ParameterType.INTEGER: {"type": "integer"},
    ParameterType.NUMBER: {"type": "number"},
    ParameterType.FLAG: {"type": "boolean"},
    ParameterType.TEXT: {"type": "string", "maxLength": MAX_TEXT},
    ParameterType.WORDS: {"type": "array", "items": {"type": "string", "maxLength": MAX_TEXT}, "maxItems": MAX_ITEMS},
    ParameterType.CHOICE: {"type": "string"},
}


def _openapi_parameter(parameter: Parameter, name: str) -> dict[str, Any]:
    description = {
        "name": name,
        "in": "query",
        "required": False,
        **parameter.documentation(name),
        "schema": parameter.schema(),
    }
    if parameter.type is ParameterType.WORDS:
        description |= {"style": "form", "explode": False}

    return description


def _nullable_schema(parameter: Parameter) -> dict[str, Any]:
    """Return the schema of a member of a JSON object: null means "not given", and a list may be one text."""
    schemas = [parameter.schema()]
    if parameter.type is ParameterType.WORDS:
        schemas.append({"type": "string", "maxLength": MAX_TEXT})

    return {"anyOf": [*schemas, {"type": "null"}]}
