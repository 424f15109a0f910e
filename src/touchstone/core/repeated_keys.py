"""Detection of JSON objects that have a key twice, of which decoders silently keep only the last value."""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

_KEY_END: Final = re.compile(rb'"\s*:')


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """A key that an object has several times."""

    name: str
    count: int


class _RepeatedKeyError(Exception):
    """Ends the parsing of a text at the first repeated key."""

    def __init__(self, key: RepeatedKey) -> None:
        super().__init__()
        self.key = key


def find_repeated_key(encoded: bytes, value: Any) -> RepeatedKey | None:
    """Return a key that one of the objects in a JSON text has several times, or None if all keys are distinct.

    Args:
        encoded: a valid JSON text.
        value: the decoded text.
    """
    # Counting is quick, and there are as many colons as keys unless a key is repeated or strings contain colons.
    colon_count = encoded.count(b":")
    is_flat_object = isinstance(value, dict) and colon_count == len(value)
    if is_flat_object:
        return None
    key_count = _count_keys(value)
    if colon_count == key_count or len(_KEY_END.findall(encoded)) == key_count:
        return None

    try:
        json.loads(encoded, object_pairs_hook=_require_distinct_keys)
    except _RepeatedKeyError as error:
        return error.key
    return None


def _count_keys(value: Any) -> int:
    """Return the number of keys of all objects within a JSON value, including its own."""
    if isinstance(value, dict):
        return len(value) + sum(map(_count_keys, value.values()))
    return sum(map(_count_keys, value)) if isinstance(value, list) else 0


def _require_distinct_keys(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of an object as a dictionary, or raise `_RepeatedKeyError`."""
    json_object = dict(members)
    if len(json_object) < len(members):
        counts = Counter(key for key, _value in members)
        name, count = counts.most_common(1)[0]
        raise _RepeatedKeyError(RepeatedKey(name, count))
    return json_object
