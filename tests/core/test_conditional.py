"""Entity tags are compared as a whole, never as substrings, and a malformed header matches none."""

import pytest
from starlette.requests import Request

from touchstone.http.conditional import is_not_modified, parse_if_match


def request_with(name: str, *values: str) -> Request:
    """Return a request that has the header with each of these values."""
    headers = [(name.encode(), value.encode("latin-1")) for value in values]
    return Request({"type": "http", "headers": headers})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (('"abc"',), True),
        (('W/"abc"',), True),
        (('"x", "abc"',), True),
        (('"x"', '"abc"'), True),
        (("*",), True),
        ((), False),
        (('"abcd"',), False),
        (('"x"abc"y"',), False),
        (('nonsense "abc"',), False),
        (("abc",), False),
        (('*, "abc"',), False),
    ],
)
def test_a_read_is_not_modified_only_for_its_own_tag(values: tuple[str, ...], expected: bool) -> None:
    """The comparison is weak, and covers every value of the header."""
    assert is_not_modified(request_with("if-none-match", *values), '"abc"') is expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((), None),
        (("*",), None),
        (('"1", "2"',), {'"1"', '"2"'}),
        (('"1"', 'W/"2"'), {'"1"', 'W/"2"'}),
        (("nonsense",), set()),
        (('"1" and "2"',), set()),
    ],
)
def test_a_write_depends_on_the_tags_of_a_well_formed_header(
    values: tuple[str, ...], expected: set[str] | None
) -> None:
    """Without a header, or with an asterisk, any version will do; a malformed header matches none."""
    assert parse_if_match(request_with("if-match", *values)) == expected
