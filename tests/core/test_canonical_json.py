"""Canonical JSON is that of RFC 8785, whatever the order and the spelling of the original values."""

from datetime import UTC, datetime
from hashlib import sha256
from uuid import UUID

import msgspec

from touchstone.core.canonical_json import canonical_digest, canonical_json


def test_the_example_of_the_standard() -> None:
    """The example of RFC 8785, section 3.2.2, gives the text of section 3.2.3."""
    value = msgspec.json.decode(
        rb'{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],'
        rb' "string": "\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}'
    )
    assert canonical_json(value) == (
        b'{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],'
        b'"string":"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
    )


def test_equal_values_are_equal_bytes() -> None:
    """The order of keys, whole floats, and the type of a text make no difference; a large integer is a float."""
    moment, uuid = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), UUID(int=1)
    assert canonical_json({"b": 1.0, "a": 2**60}) == canonical_json({"a": float(2**60), "b": 1})
    assert canonical_json([moment, uuid]) == b'["2026-01-02T03:04:05Z","00000000-0000-0000-0000-000000000001"]'
    assert canonical_json(True) != canonical_json(1)
    assert canonical_digest({}) == sha256(b"{}").hexdigest()


def test_an_integer_beyond_all_floats_is_a_text() -> None:
    """JSON has no limit for integers, so metadata may contain them, and whoever chooses the dataset needs a digest."""
    assert canonical_json([10**308, -(10**309)]) == b'[1e+308,"-1' + b"0" * 309 + b'"]'
