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
    """A named value that a caller may give; the bounds are inclusive.

    `is_correct_word` says of each word of a list whether it is one of this parameter, if not every text is.
    """

    name: str
    type: ParameterType
    description: str
    aliases: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    max_length: int = MAX_TEXT
    choices: tuple[str, ...] = ()
    default: ParameterValue | None = None
    is_correct_word: Callable[[str], bool] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All names under which the value may be given."""
        return (self.name, *self.aliases)

    def integer_in(self, values: "ParameterValues", default: int | None = None) -> int:
        """Return the value of this integer parameter among parsed values, or else a default.

        A `default` that is given takes precedence over the one of the parameter.
        """
        effective_default = self.default if default is None else default
        value = values.get(self.name, effective_default)
        assert isinstance(value, int)
        return value

    def parse_texts(self, texts: Sequence[str], location: Location) -> ParameterValue | None:
        """Return the value that a query string gives to this parameter, or None if it gives only empty texts.

        A list may be written as one text with commas or as several texts; any other parameter must occur once.
        `location` is named in errors.

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

        value = _PARSE_TEXT[self.type](texts[0])
        return self._validate(value, location)

    def parse_json(self, value: object, location: Location) -> ParameterValue | None:
        """Return the value that a JSON object gives to this parameter, or None if it is null or empty.

        A list may also be written as one text with commas. `location` is named in errors.

        Raises:
            InvalidValue, UnknownName: the value is not one of this parameter.
        """
        if value is None or value == "" or value == []:
            return None

        if self.type is not ParameterType.WORDS:
            converted_value = _PARSE_JSON[self.type](value)
            return self._validate(converted_value, location)

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
        """Return the JSON Schema of its values."""
        schema = dict(_SCHEMAS[self.type])
        keywords: dict[str, Any] = {"minimum": self.minimum, "maximum": self.maximum, "default": self.default}
        schema |= {keyword: value for keyword, value in keywords.items() if value is not None}
        if self.choices:
            schema["enum"] = list(self.choices)
        if self.type is ParameterType.TEXT:
            schema["maxLength"] = self.max_length

        return schema

    def _validate(self, value: ParameterValue | None, location: Location) -> ParameterValue:
        """Check the bounds and choices of this parameter, and return the value.

        `value` is None if what the caller has given is not of the parameter's type.

        Raises:
            InvalidValue, UnknownName: the value has another type, is out of bounds, or is not one of the choices.
        """
        if isinstance(value, str):
            _check_text(value, location, self.max_length)
            if self.type is ParameterType.CHOICE and value not in self.choices:
                raise unknown_value_error(value, self.choices, *location)
            return value

        if value is None or not self._is_in_bounds(value):
            raise self._invalid_value(value, location)
        return value

    def _validate_words(self, words: Iterable[str], location: Location) -> tuple[str, ...] | None:
        """Return the words of a list without spaces around them and without repetitions, or None if all are empty.

        Raises:
            InvalidValue: there are too many words, or one of them cannot be stored.
        """
        stripped_words = [word.strip() for word in words if word.strip()]
        for word in stripped_words:
            _check_text(word, location, self.max_length)
            if self.is_correct_word is not None and not self.is_correct_word(word):
                raise InvalidValue(FieldError(location, f"{self.name}_expected", {"value": word[:MAX_REPORTED_NAME]}))

        distinct_words = tuple(dict.fromkeys(stripped_words))
        if len(distinct_words) > MAX_ITEMS:
            raise InvalidValue(FieldError(location, "too_long", {"max_length": MAX_ITEMS}))
        return distinct_words or None

    def _is_in_bounds(self, value: Any) -> bool:
        """Return whether a number is neither below the minimum nor above the maximum; a missing bound allows all."""
        if self.minimum is not None and value < self.minimum:
            return False

        return self.maximum is None or value <= self.maximum

    def _invalid_value(self, value: ParameterValue | None, location: Location) -> InvalidValue:
        """Return the error for a value that is out of bounds, or not of the parameter's type (None).

        It tells the caller what is expected: one of the choices, or a number within bounds. Bounds that only keep
        integers exact are not mentioned, because they say nothing to a person.
        """
        if self.type is ParameterType.CHOICE:
            return InvalidValue(FieldError(location, "choice_expected", {"choices": ", ".join(self.choices)}))
        if self.maximum == INT53_MAX and isinstance(value, int) and value > INT53_MAX:
            return InvalidValue(FieldError(location, "number_too_large", {"maximum": INT53_MAX}))

        stated_minimum = None if self.minimum == -INT53_MAX else self.minimum
        stated_maximum = None if self.maximum == INT53_MAX else self.maximum
        # Together with the type, this is the key of the message, for example `integer_between`.
        if stated_minimum is None:
            expectation = "expected"
        elif stated_maximum is None:
            expectation = "from"
        else:
            expectation = "between"

        facts = {"minimum": stated_minimum, "maximum": stated_maximum}
        return InvalidValue(FieldError(location, f"{self.type}_{expectation}", facts))


class ParameterTable:
    """A table of parameters that may be given together."""

    def __init__(self, *parameters: Parameter) -> None:
        self.parameters = parameters
        self.by_name: Mapping[str, Parameter] = {
            name: parameter for parameter in parameters for name in parameter.names
        }

    def parse_query(self, query_string: bytes) -> ParameterValues:
        """Return the values in a query string, each under the main name of its parameter.

        Raises:
            Invalid: the query string is too long or not UTF-8.
            UnknownName, InvalidValue: a name or a value does not fit.
            ConflictingValues: two names of one parameter have different values.
        """
        if not query_string:
            return {}

        texts_by_name = split_query(query_string)
        return self._parse_members(texts_by_name, ("query",), Parameter.parse_texts)

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

        return self._parse_members(members, location, Parameter.parse_json)

    def openapi(self) -> list[dict[str, Any]]:
        """Return the OpenAPI description of all names as query parameters."""
        return [_openapi_parameter(parameter, name) for parameter in self.parameters for name in parameter.names]

    def json_schema(self) -> dict[str, Any]:
        """Return the schema of a JSON object with all names as members."""
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
        """Parse members of a request by their names, and return the values under the main names of the parameters.

        `parse` is the method of `Parameter` that reads a member; if it returns None, the member counts as not given.
        `container` says where the members are in the request, for errors.

        Raises:
            UnknownName, InvalidValue: a name or a value does not fit.
            ConflictingValues: two names of one parameter have different values.
        """
        values: ParameterValues = {}
        first_names: dict[str, str] = {}  # the name under which each parameter was given first

        for name, member in members.items():
            parameter = self.by_name.get(name)
            if parameter is None:
                raise unknown_name_error(name, self.by_name, *container, name[:MAX_REPORTED_NAME])

            location = (*container, name)
            value = parse(parameter, member, location)
            if value is None:
                continue

            first_name = first_names.setdefault(parameter.name, name)
            first_value = values.setdefault(parameter.name, value)
            if not is_same_value(first_value, value):
                raise ConflictingValues(at=location, name=name, other=first_name)

        return values


def is_same_value(first: ParameterValue, second: ParameterValue) -> bool:
    """Return whether two values of one parameter mean the same; the order of words does not matter."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        return set(first) == set(second)

    return first == second


def split_query(query_string: bytes) -> dict[str, list[str]]:
    """Return the decoded names in a query string with all their values, in the order in which they come.

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
    """Return a name or value of a query string without its URL encoding, in which a plus sign stands for a space.

    Raises:
        Invalid: the result is not UTF-8.
    """
    try:
        return unquote_to_bytes(encoded.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as error:
        raise Invalid(FieldError(("query",), "not_utf8")) from error


def _check_text(text: str, location: Location, max_length: int) -> None:
    """Check a text that a caller has given as a value.

    Raises:
        InvalidValue: the text is too long or contains characters that cannot be stored.
    """
    try:
        require_clean_text(text)
    except ValueError as error:
        raise InvalidValue(FieldError(location, "unclean_text")) from error

    if len(text) > max_length:
        raise InvalidValue(FieldError(location, "string_too_long", {"max_length": max_length}))


# Each of the following functions converts a value of one type, and returns None for a value of another type.


def _integer_from_text(text: str) -> int | None:
    """Return the integer that a text spells in plain decimal digits, or None."""
    return int(text) if _INTEGER.fullmatch(text) else None


def _number_from_text(text: str) -> float | None:
    """Return the finite number that a text spells in decimal notation, or None."""
    if not _NUMBER.fullmatch(text):
        return None

    number = float(text)
    return number if math.isfinite(number) else None


def _flag_from_text(text: str) -> bool | None:
    """Return the truth value that a text spells, or None.

    Case does not matter, because several programming languages write their booleans with a capital.
    """
    return _FLAGS.get(text.lower())


def _integer_from_json(value: object) -> int | None:
    """Return a JSON number without a fraction as an integer, so that 3.0 is 3, or None for any other value."""
    if isinstance(value, float) and value.is_integer():
        return int(value)

    # In Python, True and False are integers.
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number_from_json(value: object) -> float | None:
    """Return a JSON number as a float, or None for any other value and for integers that a float cannot hold."""
    if isinstance(value, float):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT53_MAX:
        return float(value)

    return None


def _flag_from_json(value: object) -> bool | None:
    """Return true or false as it is, or None for any other value."""
    return value if isinstance(value, bool) else None


def _text_from_json(value: object) -> str | None:
    """Return a text as it is, or None for any other value."""
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
    """Return the schema of a member of a JSON object: null means "not given", and a list may be one text."""
    schemas = [parameter.schema()]
    if parameter.type is ParameterType.WORDS:
        schemas.append({"type": "string", "maxLength": MAX_TEXT})

    return {"anyOf": [*schemas, {"type": "null"}]}
