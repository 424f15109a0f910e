"""Names and nodes of JSON-LD 1.1, for the readers of schema.org, Croissant and DCAT.

Documents spell the same name differently: `dct:title`, `http://purl.org/dc/terms/title`, or `title` with a context that
defines it. `NameResolver` converts all of them to `title`. The vocabularies of dataset descriptions are built in, so
their contexts are not needed. Embedded contexts define prefixes and terms. Remote contexts are never fetched, and are
listed as rejected.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from touchstone.metadata.documents import RejectedPart

# The prefix that normalized names of each vocabulary get. It is empty for the common vocabularies, whose names do not
# conflict. An address precedes any shorter address that it begins with.
_VOCABULARIES: Final = {
    "http://schema.org/": "",
    "https://schema.org/": "",
    "http://mlcommons.org/croissant/RAI/": "rai:",
    "https://mlcommons.org/croissant/RAI/": "rai:",
    "http://mlcommons.org/croissant/": "",
    "http://mlcommons.org/schema/": "",
    "http://purl.org/dc/terms/": "",
    "http://purl.org/dc/elements/1.1/": "",
    "http://www.w3.org/ns/dcat#": "",
    "http://xmlns.com/foaf/0.1/": "",
    "http://www.w3.org/2006/vcard/ns#": "",
    "http://www.w3.org/2004/02/skos/core#": "",
    "http://www.w3.org/ns/adms#": "",
    "http://www.w3.org/2000/01/rdf-schema#": "",
    "http://www.w3.org/ns/prov#": "prov:",
}
# The same for the prefixes that documents use for these vocabularies, often without defining them.
_PREFIXES: Final = {
    "schema": "",
    "sc": "",
    "sdo": "",
    "cr": "",
    "ml": "",
    "croissant": "",
    "dct": "",
    "dcterms": "",
    "dc": "",
    "dcat": "",
    "foaf": "",
    "vcard": "",
    "skos": "",
    "adms": "",
    "rdfs": "",
    "rai": "rai:",
    "RAI": "rai:",
    "mlrai": "rai:",
    "prov": "prov:",
}
_KNOWN_CONTEXTS: Final = ("http://schema.org", "https://schema.org")
# The maximum number and depth of nodes embedded in one dataset. Without limits, nodes that refer to one another could
# expand to gigabytes.
MAX_EMBEDDED_NODES: Final = 500
MAX_EMBEDDED_DEPTH: Final = 5


class NameResolver:
    """Converts the names in a document to the names of the known vocabularies, whatever prefixes the document uses."""

    def __init__(self, context: Any) -> None:
        self.rejected: list[RejectedPart] = []
        self._prefixes = dict(_PREFIXES)
        self._terms: dict[str, str] = {}
        self._read_context(context)

    def _read_context(self, context: Any) -> None:
        """Register the prefixes and terms of embedded contexts, and record remote contexts as rejected."""
        if isinstance(context, list):
            for part in context:
                self._read_context(part)
        elif isinstance(context, str):
            if context.rstrip("/") not in _KNOWN_CONTEXTS:
                self.rejected.append(RejectedPart("/@context", "remote_context_ignored", {"address": context[:300]}))
        elif isinstance(context, Mapping):
            self._read_terms(context)

    def _read_terms(self, context: Mapping[str, Any]) -> None:
        """Register the prefixes and terms that a context defines.

        The context `{"own": "http://purl.org/dc/terms/", "label": {"@id": "own:title"}}` defines the prefix `own` and
        the term `label`.
        """
        identifiers: dict[str, str] = {}
        for name, definition in context.items():
            identifier = definition.get("@id") if isinstance(definition, Mapping) else definition
            if isinstance(identifier, str):
                identifiers[name] = identifier

        for name, identifier in identifiers.items():
            if identifier in _VOCABULARIES:
                self._prefixes[name] = _VOCABULARIES[identifier]
            if ":" in identifier and not name.startswith("@"):
                self._terms[name] = identifier

    def normalize(self, name: str) -> str:
        """Return a name without its prefix, or with `rai:` or `prov:` for these two vocabularies.

        Names of unknown vocabularies and keywords such as `@type` stay unchanged.
        """
        if name.startswith("@"):
            return name
        identifier = self._terms.get(name, name)
        for address, prefix in _VOCABULARIES.items():
            if identifier.startswith(address):
                return prefix + identifier.removeprefix(address)

        prefix, colon, local_name = identifier.partition(":")
        if colon and prefix in self._prefixes:
            return self._prefixes[prefix] + local_name
        return name

    def members(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the members of an object by their normalized names. The first of several spellings is used."""
        result: dict[str, Any] = {}
        for name, value in node.items():
            result.setdefault(self.normalize(name), value)
        return result

    def tree(self, value: Any) -> Any:
        """Return a copy of a value with normalized names in all nested objects."""
        if isinstance(value, Mapping):
            return {name: self.tree(member) for name, member in self.members(value).items()}
        if isinstance(value, list):
            return [self.tree(member) for member in value]
        return value

    def types(self, node: Any) -> list[str]:
        """Return the types of an object without prefixes, or an empty list for anything but an object."""
        if not isinstance(node, Mapping):
            return []
        stated_types = as_list(node.get("@type", node.get("type")))
        return [self.normalize(name).rsplit("/", 1)[-1] for name in stated_types if isinstance(name, str)]

    def nodes_of_type(self, data: Any, type_name: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the objects of one type with their JSON pointers.

        They are the whole document, members of its outermost list, or nodes of its `@graph`. Objects inside others are
        not searched.
        """
        if isinstance(data, list):
            for index, node in enumerate(data):
                if type_name in self.types(node):
                    yield node, f"/{index}"
        elif isinstance(data, Mapping):
            if type_name in self.types(data):
                yield dict(data), ""
            graph = data.get("@graph")
            if isinstance(graph, list):
                for node, location in self.nodes_of_type(graph, type_name):
                    yield node, f"/@graph{location}"


def as_list(value: Any) -> list[Any]:
    """Return a value as a list, because JSON-LD allows a single value in place of a list of one."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def context_of(data: Any) -> Any:
    """Return the context of a document, or of the first object in a list."""
    if isinstance(data, list) and data:
        data = data[0]
    return data.get("@context") if isinstance(data, Mapping) else None


class FlatGraph:
    """The nodes of a flat graph, which refer to one another by their identifiers.

    Catalogs export RDF in this form. The publisher of a dataset, for example, is a separate node:
    `[{"@id": "#d", "publisher": {"@id": "#p"}}, {"@id": "#p", "name": "City of Lyon"}]`.
    """

    def __init__(self, data: Any) -> None:
        nodes = data.get("@graph") if isinstance(data, Mapping) else data
        self._nodes: dict[str, Mapping[str, Any]] = {}
        for node in nodes if isinstance(nodes, list) else []:
            if isinstance(node, Mapping) and isinstance(node.get("@id"), str):
                self._nodes.setdefault(node["@id"], node)

    def embed_parts(self, dataset: Mapping[str, Any], is_part: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
        """Return a dataset with the nodes of its parts embedded in place of references.

        A reference is kept if its node is not a part, would contain itself, or exceeds the limits.

        Args:
            dataset: the node of the dataset.
            is_part: returns whether a node is a part of the dataset that refers to it, like a publisher, and not an
                independent resource, like another dataset.
        """
        remaining_nodes = MAX_EMBEDDED_NODES

        def embed(value: Any, containers: tuple[str, ...]) -> Any:
            """Return a value with embedded parts. `containers` are the identifiers of the objects around it."""
            nonlocal remaining_nodes
            if isinstance(value, list):
                return [embed(member, containers) for member in value]
            if not isinstance(value, Mapping):
                return value

            identifier = value.get("@id")
            if isinstance(identifier, str):
                node = self._referenced_node(value)
                is_within_limits = remaining_nodes > 0 and len(containers) < MAX_EMBEDDED_DEPTH
                if node is not None and identifier not in containers and is_within_limits and is_part(node):
                    remaining_nodes -= 1
                    value = node
                containers = (*containers, identifier)
            return {name: embed(member, containers) for name, member in value.items()}

        return dict(embed(dataset, ()))

    def _referenced_node(self, value: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the node that an object refers to, or None if it is not a reference, which has only an identifier."""
        is_reference = set(value) == {"@id"}
        return self._nodes.get(value["@id"]) if is_reference else None


# The members of an object that may contain its text: of a literal, in a language, and of a named thing or concept. The
# first one counts.
_TEXT_MEMBERS: Final = ("@value", "en", "fr", "name", "title", "prefLabel", "label", "notation", "@id", "id")
_PREFERRED_LANGUAGES: Final = ("en", "fr")
# Names of this length can be codes of languages, such as `de` or `pt-BR`.
_MAX_LANGUAGE_CODE_LENGTH: Final = 5


def text_of(value: Any) -> str | None:
    """Return the first string in a value, preferring English and then French, or None.

    The value is a string, a literal such as `{"@value": "Roads", "@language": "en"}`, texts by their languages such as
    `{"en": "Roads"}`, a named thing such as `{"name": "City of Lyon"}`, or a list of these.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _text_of_object(value)
    if not isinstance(value, list):
        return None

    for member in sorted(value, key=_language_rank):
        text = text_of(member)
        if text:
            return text
    return None


def _language_rank(member: Any) -> int:
    """Return the rank of a text by its language: English, which may be `en-GB`, precedes French and all others."""
    language = member.get("@language") if isinstance(member, Mapping) else None
    code = language.partition("-")[0].lower() if isinstance(language, str) else None
    return _PREFERRED_LANGUAGES.index(code) if code in _PREFERRED_LANGUAGES else len(_PREFERRED_LANGUAGES)


def _text_of_object(value: Mapping[str, Any]) -> str | None:
    """Return the text of a literal or a named thing, or the first text of an object with texts by their languages."""
    for name in _TEXT_MEMBERS:
        if isinstance(value.get(name), str):
            return str(value[name])

    may_have_languages = all(len(str(name)) <= _MAX_LANGUAGE_CODE_LENGTH for name in value)
    if not may_have_languages:
        return None
    # Keywords of JSON-LD, such as the type of a node, are not languages.
    texts = (member for name, member in value.items() if isinstance(member, str) and not str(name).startswith("@"))
    return next(texts, None)


def text_or_integer(value: Any) -> str | None:
    """Return a date or an identifier as a string, or None. Some documents write a year or an identifier as a number."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else text_of(value)


def texts_of(value: Any) -> list[str]:
    """Return the string of each member of a list, or of a single value."""
    texts = [text_of(member) for member in as_list(value)]
    return [text for text in texts if text]
