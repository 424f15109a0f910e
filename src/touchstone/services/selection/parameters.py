"""Parsing and documentation of parameters, which are named values in a query string or in a JSON object.

Each parameter is declared once. The declaration both parses its values and describes them in the OpenAPI document, so
the documentation always matches the accepted values.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias
from urllib.parse import unquote_to_bytes

from touchstone.core.attributes import INT53_MAX
from touchstone.core.comma_lists import split_at_commas
from touchstone.core.errors import ConflictingValues, FieldError, Invalid, InvalidValue, Location
from touchstone.http.request_models import PLAIN_INTEGER, require_clean_text
from touchstone.http.spelling_suggestions import unknown_name_error, unknown_value_error

ParameterValue: TypeAlias = int | float | bool | str | tuple[str, ...]
ParameterValues: TypeAlias = dict[str, ParameterValue]

MAX_TEXT_LENGTH: Final = 1000
MAX_WORDS: Final = 200
MAX_QUERY_BYTES: Final = 64 * 1024
MAX_REPORTED_NAME_LENGTH: Final = 80
# Adding it to a float changes only -0.0. NumPy refuses to draw from [-x, x] if x is -0.0.
_POSITIVE_ZERO: Final = 0.0
_NUMBER: Final = re.compile(r"-?[0-9]{1,17}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?")
_FLAG_BY_STRING: Final = {"true": True, "false": False, "1": True, "0": False}


class ParameterType(StrEnum):
    """The type of the value of a parameter."""

    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"  # true or false; in a query string also 1 or 0, in upper or lower case
    TEXT = "text"
    WORDS = "words"  # a list: one string with commas, repeated (a value may then contain commas), or a JSON array
    CHOICE = "choice"  # one of `choices`


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A named value in a query string or in a JSON object.

    Attributes:
        name: the main name.
        type: the type of the value.
        description: the description in the OpenAPI document.
        aliases: alternative names, which are deprecated.
        minimum, maximum: the inclusive bounds of a number, or None.
        max_length: the maximum length of a string, or of each word in a list.
        choices: the values of the type `CHOICE`.
        default: the value if the parameter is not given, or None.
        is_correct_word: a function that validates each word of a list, or None to allow all words.
    """

    name: str
    type: ParameterType
    description: str
    aliases: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    max_length: int = MAX_TEXT_LENGTH
    choices: tuple[str, ...] = ()
    default: ParameterValue | None = None
    is_correct_word: Callable[[str], bool] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All names of the parameter, beginning with the main name."""
        return (self.name, *self.aliases)

    def integer_in(self, values: "ParameterValues", default: int | None = None) -> int:
        """Return the value of this integer if it is given, or else `default` or the default of the parameter."""
        value = values.get(self.name, self.default if default is None else default)
        assert isinstance(value, int)
        return value

    def number_in(self, values: "ParameterValues") -> float:
        """Return the value of this number parameter, or its default if it is not given."""
        value = values.get(self.name, self.default)
        assert isinstance(value, float)
        return value

    def flag_in(self, values: "ParameterValues") -> bool:
        """Return the value of this flag, or its default if it is not given."""
        value = values.get(self.name, self.default)
        assert isinstance(value, bool)
        return value

    def text_in(self, values: "ParameterValues", default: str | None = None) -> str:
        """Return the value of this text or choice if it is given, or else `default` or the default of the parameter."""
        value = values.get(self.name, self.default if default is None else default)
        assert isinstance(value, str)
        return value

    def parse_strings(self, strings: Sequence[str], location: Location) -> ParameterValue | None:
        """Parse the strings given for this parameter in a query string, or return None if all are empty.

        Args:
            strings: the decoded strings. A list is given as one string with commas or as several strings. All other
                values are given as one string.
            location: the path of the parameter in the request, for error messages.

        Raises:
            InvalidValue, UnknownName: a string is not a valid value of this parameter, or several strings are given for
                a parameter that is not a list.
        """
        is_list = self.type is ParameterType.WORDS
        if len(strings) > 1 and not is_list:
            raise InvalidValue(FieldError(location, "given_twice", {"count": len(strings)}))
        if not any(strings):
            return None

        if is_list:
            words = split_at_commas(strings[0]) if len(strings) == 1 else strings
            return self._validate_words(words, location)

        parse = _STRING_PARSERS[self.type]
        return self._validate(parse(strings[0]), location)

    def parse_json(self, value: object, location: Location) -> ParameterValue | None:
        """Parse the JSON value given for this parameter, or return None if it is null or empty.

        Args:
            value: the JSON value. A list may also be given as one string with commas.
            location: the path of the parameter in the request, for error messages.

        Raises:
            InvalidValue, UnknownName: the value is not a valid value of this parameter.
        """
        if value is None or value == "" or value == []:
            return None

        if self.type is not ParameterType.WORDS:
            convert = _JSON_CONVERTERS[self.type]
            return self._validate(convert(value), location)

        words = split_at_commas(value) if isinstance(value, str) else value
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InvalidValue(FieldError(location, "words_expected"))
        return self._validate_words(words, location)

    def documentation(self, name: str) -> dict[str, Any]:
        """Return the OpenAPI description of the parameter under one of its names, marking aliases as deprecated."""
        if name == self.name:
            return {"description": self.description}

        return {"description": f"Another name of `{self.name}`.", "deprecated": True}

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the values of this parameter."""
        schema = dict(_SCHEMAS[self.type])
        keywords: dict[str, Any] = {"minimum": self.minimum, "maximum": self.maximum, "default": self.default}
        schema |= {keyword: value for keyword, value in keywords.items() if value is not None}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.type is ParameterType.TEXT:
            schema["maxLength"] = self.max_length

        return schema

    def _validate(self, value: ParameterValue | None, location: Location) -> ParameterValue:
        """Return the value after checking it against the bounds and choices of this parameter.

        A value that could not be converted to the type of the parameter is passed as None, and refused.

        Raises:
            InvalidValue, UnknownName: the value has another type, is out of bounds, or is not one of the choices.
        """
        if isinstance(value, str):
            _check_string(value, location, self.max_length)
            if self.type is ParameterType.CHOICE and value not in self.choices:
                raise unknown_value_error(value, self.choices, *location)
            return value

        if value is None or not self._is_in_bounds(value):
            raise self._invalid_value(value, location)
        return value

    def _validate_words(self, words: Iterable[str], location: Location) -> tuple[str, ...] | None:
        """Return the distinct words of a list, stripped of surrounding spaces, or None if all are empty.

        Raises:
            InvalidValue: there are too many words, or a word is invalid or cannot be stored.
        """
        stripped_words = [word.strip() for word in words if word.strip()]
        for word in stripped_words:
            _check_string(word, location, self.max_length)
            if self.is_correct_word is not None and not self.is_correct_word(word):
                raise InvalidValue(
                    FieldError(location, f"{self.name}_expected", {"value": word[:MAX_REPORTED_NAME_LENGTH]})
                )

        distinct_words = tuple(dict.fromkeys(stripped_words))
        if len(distinct_words) > MAX_WORDS:
            raise InvalidValue(FieldError(location, "too_long", {"max_length": MAX_WORDS}))
        return distinct_words or None

    def _is_in_bounds(self, value: Any) -> bool:
        """Return whether a number is within the bounds of this parameter."""
        if self.minimum is not None and value < self.minimum:
            return False

        return self.maximum is None or value <= self.maximum

    def _invalid_value(self, value: ParameterValue | None, location: Location) -> InvalidValue:
        """Return the error for a value that is out of bounds or of the wrong type (given as None).

        The message contains the choices or the bounds, except for the bounds of exactly representable integers, which
        would not help the reader.
        """
        if self.type is ParameterType.CHOICE:
            return InvalidValue(FieldError(location, "choice_expected", {"choices": ", ".join(self.choices)}))
        if self.maximum == INT53_MAX and isinstance(value, int) and value > INT53_MAX:
            return InvalidValue(FieldError(location, "number_too_large", {"maximum": INT53_MAX}))

        stated_minimum = None if self.minimum == -INT53_MAX else self.minimum
        stated_maximum = None if self.maximum == INT53_MAX else self.maximum
        # The message key consists of the type and the expectation, for example `integer_between`.
        if stated_minimum is None:
            expectation = "expected"
        elif stated_maximum is None:
            expectation = "from"
        else:
            expectation = "between"

        facts = {"minimum": stated_minimum, "maximum": stated_maximum}
        return InvalidValue(FieldError(location, f"{self.type}_{expectation}", facts))


class ParameterTable:
    """The parameters of a request or of a JSON object."""

    def __init__(self, *parameters: Parameter) -> None:
        self.parameters = parameters
        self.by_name: Mapping[str, Parameter] = {
            name: parameter for parameter in parameters for name in parameter.names
        }

    def parse_query(self, query_string: bytes) -> ParameterValues:
        """Parse a query string, and return its values by the main names of the parameters.

        Raises:
            Invalid: the query string is too long or not UTF-8.
            UnknownName, InvalidValue: a name or a value is invalid.
            ConflictingValues: two names of one parameter have different values.
        """
        if not query_string:
            return {}

        strings_by_name = split_query(query_string)
        return self._parse_members(strings_by_name, ("query",), Parameter.parse_strings)

    def parse_json(self, members: object, *location: str) -> ParameterValues:
        """Parse a JSON object, and return its values by the main names of the parameters.

        Args:
            members: the JSON object.
            location: the path of the object in the request, for example `"body", "filters"`.

        Raises:
            Invalid: `members` is not a JSON object.
            UnknownName, InvalidValue: a name or a value is invalid.
            ConflictingValues: two names of one parameter have different values.
        """
        if not isinstance(members, dict):
            raise Invalid(FieldError(location, "dict_type"))

        return self._parse_members(members, location, Parameter.parse_json)

    def openapi(self) -> list[dict[str, Any]]:
        """Return the OpenAPI descriptions of all names, including aliases, as query parameters."""
        return [_openapi_parameter(parameter, name) for parameter in self.parameters for name in parameter.names]

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of a JSON object with all names, including aliases, as members."""
        properties = {
            name: _nullable_schema(parameter) | parameter.documentation(name)
            for parameter in self.parameters
            for name in parameter.names
        }
        return {"type": "object", "properties": properties, "additionalProperties": False}

    def _parse_members(
        self,
        members: Mapping[str, Any],
        container: Location,
        parse: Callable[[Parameter, Any, Location], ParameterValue | None],
    ) -> ParameterValues:
        """Parse the members of a request, and return their values by the main names of the parameters.

        Args:
            members: the unparsed values by name or alias.
            container: the path of the members in the request, for error messages.
            parse: the method of `Parameter` that parses a member, and returns None if it is empty.

        Raises:
            UnknownName, InvalidValue: a name or a value is invalid.
            ConflictingValues: two names of one parameter have different values.
        """
        values: ParameterValues = {}
        given_names: dict[str, str] = {}  # the name in the request, by main name

        for name, member in members.items():
            parameter = self.by_name.get(name)
            if parameter is None:
                raise unknown_name_error(name, self.by_name, *container, name[:MAX_REPORTED_NAME_LENGTH])

            location = (*container, name)
            value = parse(parameter, member, location)
            if value is None:
                continue

            given_name = given_names.setdefault(parameter.name, name)
            first_value = values.setdefault(parameter.name, value)
            if not is_same_value(first_value, value):
                raise ConflictingValues(at=location, name=name, other=given_name)

        return values


def is_same_value(first: ParameterValue, second: ParameterValue) -> bool:
    """Return whether two values of one parameter are equal, ignoring the order of words."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return set(first) == set(second)

    return first == second


def split_query(query_string: bytes) -> dict[str, list[str]]:
    """Return the decoded values in a query string by name, in their original order.

    A name without `=` has an empty value.

    Raises:
        Invalid: the query string is too long, or not UTF-8 after decoding.
    """
    if len(query_string) > MAX_QUERY_BYTES:
        raise Invalid(FieldError(("query",), "query_too_long", {"maximum": MAX_QUERY_BYTES}))

    values_by_name: dict[str, list[str]] = {}
    for pair in query_string.split(b"&"):
        if pair:
            name, _, value = pair.partition(b"=")
            values_by_name.setdefault(_decode(name), []).append(_decode(value))

    return values_by_name


def _decode(encoded: bytes) -> str:
    """Decode a name or value of a URL-encoded query string, where a plus sign means a space.

    Raises:
        Invalid: the result is not UTF-8.
    """
    try:
        return unquote_to_bytes(encoded.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as error:
        raise Invalid(FieldError(("query",), "not_utf8")) from error


def _check_string(text: str, location: Location, max_length: int) -> None:
    """Check the length and the characters of a string value.

    Raises:
        InvalidValue: the string is too long or contains characters that cannot be stored.
    """
    try:
        require_clean_text(text)
    except ValueError as error:
        raise InvalidValue(FieldError(location, "unclean_text")) from error

    if len(text) > max_length:
        raise InvalidValue(FieldError(location, "string_too_long", {"max_length": max_length}))


# The following functions convert a value to the type of a parameter, or return None if it has another type.


def _integer_from_string(text: str) -> int | None:
    """Convert a string of plain decimal digits to an integer, or return None for any other string."""
    return int(text) if PLAIN_INTEGER.fullmatch(text) else None


def _number_from_string(text: str) -> float | None:
    """Convert a finite number in decimal notation to a float, or return None for any other string."""
    if not _NUMBER.fullmatch(text):
        return None

    number = float(text) + _POSITIVE_ZERO
    return number if math.isfinite(number) else None


def _flag_from_string(text: str) -> bool | None:
    """Convert `true`, `false`, `1` or `0` to a bool, or return None for any other string.

    Case is ignored, because some programming languages capitalize their booleans.
    """
    return _FLAG_BY_STRING.get(text.lower())


def _integer_from_json(value: object) -> int | None:
    """Convert a whole JSON number such as 3 or 3.0 to an integer, or return None for any other value."""
    if isinstance(value, float) and value.is_integer():
        return int(value)

    # In Python, True and False are integers.
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number_from_json(value: object) -> float | None:
    """Convert a JSON number to a float, or return None for other values and for integers beyond float precision."""
    if isinstance(value, float):
        return value + _POSITIVE_ZERO
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT53_MAX:
        return float(value)

    return None


def _flag_from_json(value: object) -> bool | None:
    """Return a boolean unchanged, or None for any other value."""
    return value if isinstance(value, bool) else None


def _string_from_json(value: object) -> str | None:
    """Return a string unchanged, or None for any other value."""
    return value if isinstance(value, str) else None


_STRING_PARSERS: Final[Mapping[ParameterType, Callable[[str], ParameterValue | None]]] = {
    ParameterType.INTEGER: _integer_from_string,
    ParameterType.NUMBER: _number_from_string,
    ParameterType.FLAG: _flag_from_string,
    ParameterType.TEXT: str,
    ParameterType.CHOICE: str,
}
_JSON_CONVERTERS: Final[Mapping[ParameterType, Callable[[object], ParameterValue | None]]] = {
    ParameterType.INTEGER: _integer_from_json,
    ParameterType.NUMBER: _number_from_json,
    ParameterType.FLAG: _flag_from_json,
    ParameterType.TEXT: _string_from_json,
    ParameterType.CHOICE: _string_from_json,
}
_SCHEMAS: Final[Mapping[ParameterType, Mapping[str, Any]]] = {
    ParameterType.INTEGER: {"type": "integer"},
    ParameterType.NUMBER: {"type": "number"},
    ParameterType.FLAG: {"type": "boolean"},
    ParameterType.TEXT: {"type": "string", "maxLength": MAX_TEXT_LENGTH},
    ParameterType.WORDS: {
        "type": "array",
        "items": {"type": "string", "maxLength": MAX_TEXT_LENGTH},
        "maxItems": MAX_WORDS,
    },
    ParameterType.CHOICE: {"type": "string"},
}


def _openapi_parameter(parameter: Parameter, name: str) -> dict[str, Any]:
    """Return the OpenAPI description of a query parameter under one of its names."""
    description = {
        "name": name,
        "in": "query",
        "required": False,
        "allowEmptyValue": True,  # an empty value counts as not given
        **parameter.documentation(name),
        "schema": parameter.schema(),
    }
    if parameter.type is ParameterType.WORDS:
        description |= {"style": "form", "explode": False}

    return description


def _nullable_schema(parameter: Parameter) -> dict[str, Any]:
    """Return the schema of a member of a JSON object, which also allows null and, for lists, a string with commas."""
    schemas = [parameter.schema()]
    if parameter.type is ParameterType.WORDS:
        schemas.append({"type": "string", "maxLength": MAX_TEXT_LENGTH})

    return {"anyOf": [*schemas, {"type": "null"}]}
