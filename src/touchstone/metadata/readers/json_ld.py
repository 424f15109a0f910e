"""JSON-LD without a network: names in one spelling, whatever the prefixes, and remote contexts never fetched.

The vocabularies of dataset descriptions are known beforehand, so their contexts are not needed. A context that stands
in the document is used for its prefixes. One that is only named by an address is noted, and never fetched.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from touchstone.metadata.documents import RejectedPart

# The prefix under which the names of a vocabulary appear after normalisation; an empty prefix for the common ones.
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
# How many nodes of a graph are embedded in one dataset at most, and how deep: nodes that share others could expand to
# gigabytes.
MAX_EMBEDDED_NODES: Final = 500
MAX_EMBEDDED_DEPTH: Final = 5


class Names:
    """The names of a document: each is one of a known vocabulary, whatever prefix the document gives it."""

    def __init__(self, context: Any) -> None:
        self.rejected: list[RejectedPart] = []
        self._prefixes = dict(_PREFIXES)
        self._terms: dict[str, str] = {}
        self._read_context(context)

    def _read_context(self, context: Any) -> None:
        """Take the prefixes and terms from a context in the document, and note one that is elsewhere."""
        if isinstance(context, list):
            for part in context:
                self._read_context(part)
        elif isinstance(context, str):
            if context.rstrip("/") not in _KNOWN_CONTEXTS:
                self.rejected.append(RejectedPart("/@context", "remote_context_ignored", {"address": context[:300]}))
        elif isinstance(context, Mapping):
            self._read_terms(context)

    def _read_terms(self, context: Mapping[str, Any]) -> None:
        """Take the definitions of a context: prefixes of known vocabularies first, terms in a second pass."""
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

    def normalise(self, name: str) -> str:
        """Return a name without its prefix, or with `rai:` or `prov:` if it belongs to these vocabularies."""
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
        """Return the members of an object by their normalised names; the first spelling of a name wins."""
        result: dict[str, Any] = {}
        for name, value in node.items():
            result.setdefault(self.normalise(name), value)
        return result

    def tree(self, value: Any) -> Any:
        """Return a value in which the members of all objects have their normalised names."""
        if isinstance(value, Mapping):
            return {name: self.tree(member) for name, member in self.members(value).items()}
        if isinstance(value, list):
            return [self.tree(member) for member in value]
        return value

    def types(self, node: Any) -> list[str]:
        """Return the types of an object without prefixes."""
        declared = node.get("@type", node.get("type")) if isinstance(node, Mapping) else None
        types = declared if isinstance(declared, list) else [declared]
        return [self.normalise(name).rsplit("/", 1)[-1] for name in types if isinstance(name, str)]

    def nodes_of_type(self, data: Any, type_name: str) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield the objects of one type in a document, and their places: at the top, in a list or in a graph."""
        if isinstance(data, list):
            for index, node in enumerate(data):
                if type_name in self.types(node):
                    yield node, f"/{index}"
        elif isinstance(data, Mapping):
            if type_name in self.types(data):
                yield dict(data), ""
            graph = data.get("@graph")
            if isinstance(graph, list):
                for node, place in self.nodes_of_type(graph, type_name):
                    yield node, f"/@graph{place}"


def context_of(data: Any) -> Any:
    """Return the context of a document, or of the first object in a list."""
    if isinstance(data, list) and data:
        data = data[0]
    return data.get("@context") if isinstance(data, Mapping) else None


class FlatGraph:
    """The nodes of a flat graph, which refer to one another by their identifiers.

    Catalogs write RDF this way: the publisher of a dataset is a node of its own beside the dataset.
    """

    def __init__(self, data: Any) -> None:
        nodes = data.get("@graph") if isinstance(data, Mapping) else data
        self._nodes: dict[str, Mapping[str, Any]] = {}
        for node in nodes if isinstance(nodes, list) else []:
            if isinstance(node, Mapping) and isinstance(node.get("@id"), str):
                self._nodes.setdefault(node["@id"], node)

    def embed_parts(self, dataset: Mapping[str, Any], is_part: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
        """Return a dataset in which each reference to one of its parts is replaced by that node.

        A reference stays as it is if its node is no part of the dataset, contains the reference, or exceeds the limits.
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
    """Return the text of a value: a text, a text with a language (English preferred), or the first of several."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        for name in ("@value", "en", "fr", "name", "title", "prefLabel", "label", "notation", "@id", "id"):
            if isinstance(value.get(name), str):
                return str(value[name])
        texts = [member for member in value.values() if isinstance(member, str)]
        return texts[0] if texts and all(len(str(name)) <= 5 for name in value) else None
    if isinstance(value, list):
        english = [member for member in value if isinstance(member, Mapping) and member.get("@language") == "en"]
        for member in (*english, *value):
            text = text_of(member)
            if text:
                return text
    return None


def texts_of(value: Any) -> list[str]:
    """Return the texts of a value that may be one or several; a text of keywords is split at commas elsewhere."""
    values = value if isinstance(value, list) else [value]
    texts = [text_of(member) for member in values]
    return [text for text in texts if text]
