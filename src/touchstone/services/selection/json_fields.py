"""Types of JSON fields that datasets and projects share: free-form values of bounded size and depth."""

from collections.abc import Iterable, Mapping
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
# The member of `metadata` that keeps what a record was imported from.
IMPORTED: Final = "imported"
# Members of `metadata` that only the service writes: what it measured in the data file, and what an import keeps.
SERVICE_KEYS: Final = ("measured", "unmeasured", IMPORTED)


def without_service_keys(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata without the members that only the service writes."""
    return {key: value for key, value in metadata.items() if key not in SERVICE_KEYS}


def service_members(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the members of metadata that only the service writes."""
    return {key: value for key, value in (metadata or {}).items() if key in SERVICE_KEYS}


def with_service_members(
    metadata: Mapping[str, Any] | None, stored_metadata: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return metadata of a caller with those members of the stored metadata that only the service writes."""
    kept_members = service_members(stored_metadata)
    if metadata is None:
        return kept_members or None

    return {**without_service_keys(metadata), **kept_members}


def _require_storable_texts(value: JsonValue) -> JsonValue:
    """Return a JSON value unchanged, for pydantic, after checking its texts and its depth.

    The value is searched level by level and not recursively, so that a deeply nested one cannot exhaust the stack.

    Raises:
        ValueError: a text contains characters that a database cannot store, or the nesting exceeds `MAX_JSON_DEPTH`.
    """
    items_at_depth: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        nested_items: list[Any] = []
        for item in items_at_depth:
            _check_texts(item)
            nested_items.extend(_nested_values(item))

        if not nested_items:
            return value
        items_at_depth = nested_items

    raise PydanticCustomError("too_deep", "nested too deeply")


def _check_texts(item: Any) -> None:
    """Check a JSON value if it is a text, and its keys if it is an object.

    Raises:
        ValueError: the text or a key contains characters that a database cannot store.
    """
    if isinstance(item, str):
        require_clean_text(item)
    elif isinstance(item, dict):
        for key in item:
            require_clean_text(key)


def _nested_values(item: Any) -> Iterable[Any]:
    """Return the values inside a JSON array or object; other JSON values contain none."""
    if isinstance(item, dict):
        return item.values()
    if isinstance(item, list):
        return item
    return ()


def _require_bounded_size(value: JsonValue) -> JsonValue:
    """Return a JSON value unchanged, for pydantic, after checking that it takes at most `MAX_JSON_BYTES` as JSON.

    Members that only the service writes do not count. A client may send them back with what it has read, and they are
    dropped.

    Raises:
        ValueError: the value takes more bytes.
    """
    counted_value: Any = value
    if isinstance(value, dict):
        counted_value = without_service_keys(value)

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
