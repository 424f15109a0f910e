"""Strict parsing of request bodies: no value may be lost silently."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.errors import Invalid
from touchstone.http.json_body import parse_json, parse_json_allowing_infinity

Parser = Callable[[bytes], Any]

PARSERS: Sequence[Parser] = (parse_json, parse_json_allowing_infinity)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-100, 100) | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize(
    ("body", "key", "count"),
    [
        (b'{"limit": 1, "limit": 2}', "limit", 2),
        (b'{"a": {"b": 1, "c": ":", "b": 1, "b": 3}}', "b", 3),
        (b'[{"a": 1}, {"\\u0061": 1, "a" : "x\\":"}]', "a", 2),
    ],
)
def test_repeated_key_is_refused(parse: Parser, body: bytes, key: str, count: int) -> None:
    """An object with a key twice is refused, because only one of its values would be used."""
    with pytest.raises(Invalid) as error:
        parse(body)
    field_error = error.value.field_errors[0]
    assert (field_error.loc, field_error.kind, field_error.facts) == (("body", key), "given_twice", {"count": count})


@pytest.mark.parametrize("parse", PARSERS)
@given(value=JSON_VALUES)
def test_distinct_keys_are_accepted(parse: Parser, value: object) -> None:
    """Colons in strings and equal keys of different objects are no repeated keys."""
    assert parse(json.dumps(value, ensure_ascii=False).encode()) == value
    assert parse(json.dumps([{"a": value}, {"a": value}]).encode()) == [{"a": value}, {"a": value}]


def test_infinity_does_not_hide_a_repeated_key() -> None:
    """Bodies with numbers that are out of range are examined, too."""
    with pytest.raises(Invalid) as error:
        parse_json_allowing_infinity(b'{"weight": NaN, "weight": 1}')
    assert error.value.field_errors[0].kind == "given_twice"
