"""Types of the free-form JSON fields in datasets and projects, with bounded size and depth."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, TypeVar

import msgspec
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from touchstone.http.request_models import require_clean_text

JsonValue = TypeVar("JsonValue")

MAX_JSON_DEPTH: Final = 32
# Applies to `metadata` without its service members, and to the criteria and weights of a project.
MAX_JSON_BYTES: Final = 64 * 1024
MAX_LIST_ITEMS: Final = 1000
# The member of `metadata` that stores the documents that a record was imported from.
IMPORTED: Final = "imported"
# Members of `metadata` that only the service writes: measurements of the data file, and imported documents.
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
    """Return metadata from a caller with the service members replaced by the stored ones."""
    stored_members = service_members(stored_metadata)
    if metadata is None:
        return stored_members or None

    return {**without_service_keys(metadata), **stored_members}


def _require_storable_json(value: JsonValue) -> JsonValue:
    """Check the strings and the nesting depth of a JSON value, and return it for Pydantic.

    The value is traversed level by level rather than recursively, so that deep nesting cannot exhaust the stack.

    Raises:
        ValueError: a string contains characters that a database cannot store, or the nesting exceeds `MAX_JSON_DEPTH`.
    """
    items_at_depth: list[Any] = [value]
    for _ in range(MAX_JSON_DEPTH):
        nested_items: list[Any] = []
        for item in items_at_depth:
            _check_strings(item)
            nested_items.extend(_nested_values(item))

        if not nested_items:
            return value
        items_at_depth = nested_items

    raise PydanticCustomError("too_deep", "nested too deeply")


def _check_strings(item: Any) -> None:
    """Check a JSON value if it is a string, and its keys if it is an object.

    Raises:
        ValueError: the string or a key contains characters that a database cannot store.
    """
    if isinstance(item, str):
        require_clean_text(item)
    elif isinstance(item, dict):
        for key in item:
            require_clean_text(key)


def _nested_values(item: Any) -> Iterable[Any]:
    """Return the values directly inside a JSON array or object, or no values for other JSON values."""
    if isinstance(item, dict):
        return item.values()
    if isinstance(item, list):
        return item
    return ()


def _require_bounded_size(value: JsonValue) -> JsonValue:
    """Check that the JSON of a value is at most `MAX_JSON_BYTES` long, and return the value for Pydantic.

    Members that only the service writes do not count, because clients may send them back and they are then ignored.

    Raises:
        ValueError: the JSON is longer.
    """
    limited_value: Any = value
    if isinstance(value, dict):
        limited_value = without_service_keys(value)

    byte_count = len(msgspec.json.encode(limited_value))
    if byte_count > MAX_JSON_BYTES:
        raise PydanticCustomError("too_many_bytes", "at most {max_bytes} bytes of JSON", {"max_bytes": MAX_JSON_BYTES})
    return value


JsonObject = Annotated[dict[str, Any], AfterValidator(_require_storable_json), AfterValidator(_require_bounded_size)]
JsonList = Annotated[
    list[Any],
    Field(max_length=MAX_LIST_ITEMS),
    AfterValidator(_require_storable_json),
    AfterValidator(_require_bounded_size),
]
