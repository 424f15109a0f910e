"""Contexts of exported JSON-LD, which define the names in a document by prefixes and terms."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from touchstone.metadata.exact_values import MEMBER, PREFIX, VOCABULARY

# The exact values are a JSON literal, so that JSON-LD processors do not interpret their content.
TOUCHSTONE_TERMS: Final[Mapping[str, Any]] = {
    PREFIX: VOCABULARY,
    MEMBER: {"@id": f"{VOCABULARY}dataset", "@type": "@json"},
}
_DEFINITION_KEYWORDS: Final = frozenset({"@id", "@type", "@container", "@language"})


def local_terms(context: Any) -> dict[str, Any]:
    """Return the prefixes and terms that an imported context defines locally.

    References to remote contexts are left out, because readers of the exported document would have to fetch them.
    """
    terms: dict[str, Any] = {}
    for part in _parts(context):
        terms.update({name: definition for name, definition in part.items() if _is_local(name, definition)})
    return terms


def _parts(context: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a context, which may be nested lists."""
    if isinstance(context, Mapping):
        yield context
    elif isinstance(context, list):
        for part in context:
            yield from _parts(part)


def _is_local(name: str, definition: Any) -> bool:
    """Return whether a definition is self-contained and in a form that all processors accept."""
    if name in ("@vocab", "@language"):
        return isinstance(definition, str)
    if name.startswith("@") or not name:
        return False
    if isinstance(definition, str):
        return _is_identifier(definition)
    if not isinstance(definition, Mapping) or not set(definition) <= _DEFINITION_KEYWORDS:
        return False

    if not all(isinstance(value, str) for value in definition.values()):
        return False
    return "@id" not in definition or _is_identifier(definition["@id"])


def _is_identifier(text: str) -> bool:
    """Return whether a string is an address, a prefixed name, or a keyword that can have an alias."""
    return text in ("@id", "@type") or (":" in text and not any(character.isspace() for character in text))
