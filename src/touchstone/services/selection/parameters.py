"""Named values that a caller may give: one row each, read from a query string or from a JSON object.

The same rows describe themselves in the OpenAPI document, so what is documented is what is read.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, TypeAlias
from urllib.parse import unquote_to_bytes

from touchstone.core.attributes import INT53_MAX
from touchstone.core.errors import ConflictingValues, FieldError, Invalid, InvalidValue, Location
from touchstone.http.request_models import require_clean_text
from touchstone.http.unknown_names import unknown_name_error, unknown_value_error

Value: TypeAlias = int | float | bool | str | tuple[str, ...]
Values: TypeAlias = dict[str, Value]

MAX_TEXT: Final = 1000
MAX_ITEMS: Final = 200
MAX_QUERY_BYTES: Final = 64 * 1024
# Plain decimal digits only: int() would also take "1_000", " 1" and the digits of other scripts.
_INTEGER: Final = re.compile(r"-?[0-9]{1,300}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,17}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?")
_FLAGS: Final = {"true": True, "false": False, "1": True, "0": False}


class Form(StrEnum):
    """What the value of a parameter looks like."""

    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"  # true or false; in a query string also 1 or 0, and in any case
    TEXT = "text"
    WORDS = "words"  # a list: comma-separated, or repeated (then a value may hold commas), or a JSON array
    CHOICE = "choice"  # one of `choices`


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One named value: its form, bounds (inclusive), other names, default, and a sentence for the documents."""

    name: str
    form: Form
    description: str
    aliases: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    default: Value | None = None

    @property
    def bounds(self) -> tuple[int | None, int | None]:
        """The smallest and the largest value that fit."""
        return self.minimum, self.maximum

    @property
    def names(self) -> tuple[str, ...]:
        """Every name by which it may be given."""
        return (self.name, *self.aliases)

    def from_query(self, name: str, given: Sequence[str]) -> Value | None:
        """The value written in a query string under `name`; None when only empty ones were given.

        Raises:
            InvalidValue, UnknownName: it does not fit.
        """
        if self.form is not Form.WORDS and len(given) > 1:
            raise self._misfit(name, ("query",), "given_twice", count=len(given))
        if not any(given):
            return None
        if self.form is Form.WORDS:
            return self._words(name, ("query",), given[0].split(",") if len(given) == 1 else given)
        return self._checked(name, ("query",), _FROM_TEXT[self.form](given[0]))

    def from_json(self, name: str, given: object, *, at: Location = ("body",)) -> Value | None:
        """The value that a JSON object has under `name`; None for null, an empty text and an empty list.

        Raises:
            InvalidValue, UnknownName: it does not fit.
        """
        if given is None or given == "" or given == []:
            return None
        if self.form is not Form.WORDS:
            return self._checked(name, at, _FROM_JSON[self.form](given))
        if isinstance(given, str):
            given = given.split(",")
        if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
            raise self._misfit(name, at, "words_expected")
        return self._words(name, at, given)

    def _checked(self, name: str, at: Location, value: Value | None) -> Value:
        if isinstance(value, str):
            value = self._text(name, at, value)
            if self.form is Form.CHOICE and value not in self.choices:
                raise unknown_value_error(value, self.choices, *at, name)
        elif value is None or not self._in_bounds(value):
            raise self._out_of_bounds(name, at, value)
        return value

    def _in_bounds(self, value: Any) -> bool:
        low, high = self.minimum, self.maximum
        return (low is None or value >= low) and (high is None or value <= high)

    def _out_of_bounds(self, name: str, at: Location, value: Value | None) -> InvalidValue:
        """Return the refusal of a value of another form or outside the bounds, which are named where they help."""
        if self.form is Form.CHOICE:
            return self._misfit(name, at, "choice_expected", choices=", ".join(self.choices))
        if self.maximum == INT53_MAX and isinstance(value, int) and value > INT53_MAX:
            return self._misfit(name, at, "number_too_large", maximum=INT53_MAX)
        low, high = (bound if bound is not None and abs(bound) < INT53_MAX else None for bound in self.bounds)
        kind = "expected" if low is None else "from" if high is None else "between"
        return self._misfit(name, at, f"{self.form}_{kind}", minimum=low, maximum=high)

    def _words(self, name: str, at: Location, given: Sequence[str]) -> Value | None:
        words = tuple(dict.fromkeys(self._text(name, at, word.strip()) for word in given if word.strip()))
        if len(words) > MAX_ITEMS:
            raise self._misfit(name, at, "too_long", max_length=MAX_ITEMS)
        return words or None

    def _text(self, name: str, at: Location, value: str) -> str:
        try:
            require_clean_text(value)
        except ValueError as problem:
            raise self._misfit(name, at, "unclean_text") from problem
        if len(value) > MAX_TEXT:
            raise self._misfit(name, at, "string_too_long", max_length=MAX_TEXT)
        return value

    def _misfit(self, name: str, at: Location, kind: str, **facts: Any) -> InvalidValue:
        return InvalidValue(FieldError((*at, name), kind, facts))

    def about(self, name: str) -> dict[str, Any]:
        """Return what the documents say about it under one of its names: an alias is accepted, but deprecated."""
        if name == self.name:
            return {"description": self.description}
        return {"description": f"Another name of `{self.name}`.", "deprecated": True}

    def schema(self) -> dict[str, Any]:
        """Its JSON Schema."""
        schema: dict[str, Any] = dict(_SCHEMAS[self.form])
        extra = {"minimum": self.minimum, "maximum": self.maximum, "default": self.default}
        schema |= {key: value for key, value in extra.items() if value is not None}
        return schema | ({"enum": list(self.choices)} if self.choices else {})


class Parameters:
    """A table of parameters, read together."""

    def __init__(self, *rows: Parameter) -> None:
        self.rows = rows
        self.by_name: Mapping[str, Parameter] = {name: row for row in rows for name in row.names}

    def from_query(self, raw: bytes) -> Values:
        """The values in a query string, under their own names.

        Raises:
            UnknownName, InvalidValue, ConflictingValues: a name or value does not fit, or two names disagree.
        """
        given = parse_query(raw)
        return self._read(given, lambda row, name: row.from_query(name, given[name]), ("query",)) if given else {}

    def from_json(self, given: Mapping[str, object], *, at: Location = ("body",)) -> Values:
        """The values in a JSON object, under their own names.

        Raises:
            UnknownName, InvalidValue, ConflictingValues: a name or value does not fit, or two names disagree.
        """
        return self._read(given, lambda row, name: row.from_json(name, given[name], at=at), at)

    def _read(
        self, given: Mapping[str, object], read: Callable[[Parameter, str], Value | None], at: Location
    ) -> Values:
        found: Values = {}
        names: dict[str, str] = {}
        for name in given:
            row = self.by_name.get(name)
            if row is None:
                raise unknown_name_error(name, self.by_name, *at, name[:80])
            value = read(row, name)
            if value is not None:
                merge(found, row.name, value, at=(*at, name), names=(name, names.setdefault(row.name, name)))
        return found

    def openapi(self) -> list[dict[str, Any]]:
        """Return their description as query parameters, one for each name."""
        return [
            {
                "name": name,
                "in": "query",
                "required": False,
                **row.about(name),
                "schema": row.schema(),
                **({"style": "form", "explode": False} if row.form is Form.WORDS else {}),
            }
            for row in self.rows
            for name in row.names
        ]

    def json_schema(self) -> dict[str, Any]:
        """Return their description as the members of one JSON object, one for each name."""
        members = {name: _nullable(row) | row.about(name) for row in self.rows for name in row.names}
        return {"type": "object", "properties": members, "additionalProperties": False}


def merge(found: Values, name: str, value: Value, *, at: Location, names: tuple[str, str]) -> None:
    """Put a value in, unless another one is there already.

    Raises:
        ConflictingValues: the two differ; `names` are what the caller called them.
    """
    there = found.setdefault(name, value)
    same = set(there) == set(value) if isinstance(there, tuple) and isinstance(value, tuple) else there == value
    if not same:
        raise ConflictingValues(at=at, name=names[0], other=names[1])


def parse_query(raw: bytes) -> dict[str, list[str]]:
    """Names and their values in a query string (form encoding), in the order in which they come.

    Raises:
        Invalid: it is very long, or not UTF-8 after decoding.
    """
    if len(raw) > MAX_QUERY_BYTES:
        raise Invalid(FieldError(("query",), "query_too_long", {"maximum": MAX_QUERY_BYTES}))
    found: dict[str, list[str]] = {}
    for pair in raw.split(b"&") if raw else ():
        name, _, value = pair.partition(b"=")
        if pair:
            found.setdefault(_decoded(name), []).append(_decoded(value))
    return found


def _decoded(raw: bytes) -> str:
    try:
        return unquote_to_bytes(raw.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as problem:
        raise Invalid(FieldError(("query",), "not_utf8")) from problem


def _integer_text(text: str) -> int | None:
    return int(text) if _INTEGER.fullmatch(text) else None


def _number_text(text: str) -> float | None:
    value = float(text) if _NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def _integer_json(value: object) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number_json(value: object) -> float | None:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= INT53_MAX
    return float(value) if whole or isinstance(value, float) else None  # type: ignore[arg-type]


def _text_json(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _flag_text(text: str) -> bool | None:
    # In any case: several languages write their own booleans with a capital.
    return _FLAGS.get(text.lower())


def _flag_json(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


_FROM_TEXT: Final[Mapping[Form, Callable[[str], Value | None]]] = {
    Form.INTEGER: _integer_text,
    Form.NUMBER: _number_text,
    Form.FLAG: _flag_text,
    Form.TEXT: str,
    Form.CHOICE: str,
}
_FROM_JSON: Final[Mapping[Form, Callable[[object], Value | None]]] = {
    Form.INTEGER: _integer_json,
    Form.NUMBER: _number_json,
    Form.FLAG: _flag_json,
    Form.TEXT: _text_json,
    Form.CHOICE: _text_json,
}
_SCHEMAS: Final[Mapping[Form, Mapping[str, Any]]] = {
    Form.INTEGER: {"type": "integer"},
    Form.NUMBER: {"type": "number"},
    Form.FLAG: {"type": "boolean"},
    Form.TEXT: {"type": "string", "maxLength": MAX_TEXT},
    Form.WORDS: {"type": "array", "items": {"type": "string", "maxLength": MAX_TEXT}, "maxItems": MAX_ITEMS},
    Form.CHOICE: {"type": "string"},
}


def _nullable(row: Parameter) -> dict[str, Any]:
    """The schema of a filter in a JSON object: null is "not given", and a list may also be comma-separated text."""
    forms = [{"type": "string", "maxLength": MAX_TEXT}] if row.form is Form.WORDS else []
    return {"anyOf": [row.schema(), *forms, {"type": "null"}]}
