"""Types of JSON fields that datasets and projects share: free-form values of bounded size and depth."""

from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeVar

import msgspec
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from touchstone.http.request_models import require_clean_text

JsonValue = TypeVar("JsonValue")

MAX_JSON_DEPTH: Final = 32
# Of `metadata` as a caller writes it, and of the criteria and the weights of a project.
MAX_JSON_BYTES: Final = 64 * 1024
MAX_LIST_ITEMS: Final = 1000
# Members of `metadata` that only the service writes.
SERVICE_KEYS: Final = ("measured", "unmeasured")


def _require_storable_texts(value: JsonValue) -> JsonValue:
    """Return a JSON value unchanged, for pydantic, after checking all texts in it and how deeply it is nested.

    The value is searched level by level, because recursion would overflow the stack before the limit is noticed.

    Raises:
        ValueError: a text contains characters that a database cannot store, or the nesting exceeds `MAX_JSON_DEPTH`.
    """
    items: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        nested_items: list[Any] = []
        for item in items:
            nested_items.extend(_check_and_unpack(item))
        if not nested_items:
            return value
        items = nested_items

    raise PydanticCustomError("too_deep", "nested too deeply")


def _check_and_unpack(item: Any) -> Iterable[Any]:
    """Check the texts that belong to a JSON value itself, and return the values inside it.

    Raises:
        ValueError: a text or a key contains characters that a database cannot store.
    """
    if isinstance(item, str):
        require_clean_text(item)
        return ()

    if isinstance(item, dict):
        for key in item:
            require_clean_text(key)
        return item.values()

    return item if isinstance(item, list) else ()


def _require_bounded_size(value: JsonValue) -> JsonValue:
    """Return a JSON value unchanged, for pydantic, after checking that it takes at most `MAX_JSON_BYTES`.

    Members that the service writes itself do not count: a client may send back what it has read, and they are dropped.

    Raises:
        ValueError: the value takes more bytes.
    """
    counted_value: Any = value
    if isinstance(value, dict):
        counted_value = {key: member for key, member in value.items() if key not in SERVICE_KEYS}

    byte_count = len(msgspec.json.encode(counted_value))
    if byte_count > MAX_JSON_BYTES:
        raise PydanticCustomError("too_many_bytes", "at most {max_bytes} bytes of JSON", {"max_bytes": MAX_JSON_BYTES})
    return value


JsonObject = Annotated[dict[str, Any], AfterValidator(_require_storable_texts), AfterValidator(_require_bounded_size)]
JsonList = Annotated[
    list[Any],
    Field(max_length=MAX_LIST_ITEMS),
    AfterValidator(_require_storable_texts),
    AfterValidator(_require_bounded_size),
]
