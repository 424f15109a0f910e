"""Resolution of JSON-LD names without network access.

The vocabularies of dataset descriptions are built in, so their contexts are not needed. Embedded contexts define
prefixes and terms. Remote contexts are never fetched, and are listed as rejected.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from touchstone.metadata.documents import RejectedPart

# The prefix that normalized names of each vocabulary get, which is empty for the common vocabularies.
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
# The maximum number and depth of nodes embedded in one dataset. Without limits, shared nodes could expand to
# gigabytes.
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
        """Register the prefixes and terms that a context defines."""
        definitions = {
            name: definition.get("@id") if isinstance(definition, Mapping) else definition
            for name, definition in context.items()
        }
        for name, identifier in definitions.items():
            if isinstance(identifier, str) and identifier in _VOCABULARIES:
                self._prefixes[name] = _VOCABULARIES[identifier]
        for name, identifier in definitions.items():
            if isinstance(identifier, str) and not name.startswith("@") and ":" in identifier:
                self._terms[name] = identifier

    def normalize(self, name: str) -> str:
        """Return a name without its prefix, or with `rai:` or `prov:` for these two vocabularies."""
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
        """Return the types of an object without prefixes."""
        declared = node.get("@type", node.get("type")) if isinstance(node, Mapping) else None
        types = declared if isinstance(declared, list) else [declared]
        return [self.normalize(name).rsplit("/", 1)[-1] for name in types if isinstance(name, str)]

    def nodes_of_type(self, data: Any, type_name: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the top-level, listed and graph objects of one type, with their JSON pointers."""
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


def context_of(data: Any) -> Any:
    """Return the context of a document, or of the first object in a list."""
    if isinstance(data, list) and data:
        data = data[0]
    return data.get("@context") if isinstance(data, Mapping) else None


class FlatGraph:
    """The nodes of a flat graph, which refer to one another by their identifiers.

    Catalogs export RDF in this form: the publisher of a dataset, for example, is a separate node.
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
        """
        remaining_nodes = MAX_EMBEDDED_NODES

        def embed(value: Any, containers: tuple[str, ...]) -> Any:
            nonlocal remaining_nodes
            if isinstance(value, list):
                return [embed(member, containers) for member in value]
            if not isinstance(value, Mapping):
                return value

            identifier = value.get("@id")
            if isinstance(identifier, str):
                node = self._nodes.get(identifier) if set(value) == {"@id"} else None
                exceeds_limits = remaining_nodes <= 0 or len(containers) >= MAX_EMBEDDED_DEPTH
                if node is not None and identifier not in containers and not exceeds_limits and is_part(node):
                    remaining_nodes -= 1
                    value = node
                containers = (*containers, identifier)
            return {name: embed(member, containers) for name, member in value.items()}

        return dict(embed(dataset, ()))


def text_of(value: Any) -> str | None:
    """Return the first string in a value, preferring English, or None.

    Objects are searched for labels and names.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        for name in ("@value", "en", "fr", "name", "title", "prefLabel", "label", "notation", "@id", "id"):
            if isinstance(value.get(name), str):
                return str(value[name])
        # An object may also have a text for each language. Keywords, such as the type of a node, are no texts.
        texts = [member for name, member in value.items() if isinstance(member, str) and not str(name).startswith("@")]
        return texts[0] if texts and all(len(str(name)) <= 5 for name in value) else None
    if isinstance(value, list):
        english = [member for member in value if isinstance(member, Mapping) and member.get("@language") == "en"]
        for member in (*english, *value):
            text = text_of(member)
            if text:
                return text
    return None


def date_of(value: Any) -> str | None:
    """Return a date as a string, or None. Some documents write a year as a number."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else text_of(value)


def texts_of(value: Any) -> list[str]:
    """Return the string of each member of a list, or of a single value."""
    values = value if isinstance(value, list) else [value]
    texts = [text_of(member) for member in values]
    return [text for text in texts if text]
