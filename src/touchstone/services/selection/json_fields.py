"""Types of JSON fields that datasets and projects share: free-form values of bounded size and depth."""

from collections.abc import Iterable
from typing import Annotated, Any, Final, TypeVar

import msgspec
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from touchstone.http.request_models import require_clean_text

T = TypeVar("T")

MAX_JSON_DEPTH: Final = 32
# Of `metadata` as a caller writes it, and of the criteria and the weights of a project.
MAX_JSON_BYTES: Final = 64 * 1024
MAX_LIST_ITEMS: Final = 1000
# Members of `metadata` that only the service writes.
SERVICE_KEYS: Final = ("measured", "unmeasured")


def _require_storable_texts(value: T) -> T:
    """Return a JSON value whose texts every database can store and that is not nested too deeply."""
    level: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        children: list[Any] = []
        for item in level:
            children.extend(_checked_children(item))
        if not children:
            return value
        level = children

    raise PydanticCustomError("too_deep", "nested too deeply")


def _checked_children(item: Any) -> Iterable[Any]:
    """Return the members of a JSON value after checking its own texts."""
    if isinstance(item, str):
        require_clean_text(item)
        return ()

    if isinstance(item, dict):
        for key in item:
            require_clean_text(key)
        return item.values()

    return item if isinstance(item, list) else ()


def _require_bounded_size(value: T) -> T:
    """Return a JSON value that takes at most `MAX_JSON_BYTES`.

    Members that the service writes itself do not count: a client may send back what it has read, and they are dropped.
    """
    counted: Any = value
    if isinstance(value, dict):
        counted = {key: member for key, member in value.items() if key not in SERVICE_KEYS}

    if len(msgspec.json.encode(counted)) > MAX_JSON_BYTES:
        raise PydanticCustomError("too_many_bytes", "at most {max_bytes} bytes of JSON", {"max_bytes": MAX_JSON_BYTES})
    return value


JsonObject = Annotated[dict[str, Any], AfterValidator(_require_storable_texts), AfterValidator(_require_bounded_size)]
JsonList = Annotated[
    list[Any],
    Field(max_length=MAX_LIST_ITEMS),
    AfterValidator(_require_storable_texts),
    AfterValidator(_require_bounded_size),
]
