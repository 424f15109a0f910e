"""Conversion of RDF in Turtle or RDF/XML to flat JSON-LD, within limits and without network access."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from xml.sax import SAXParseException

from touchstone.metadata.parsing import DocumentError, ParsedData, check_length

# RDF parsers are slower than the JSON parser.
MAX_RDF_LENGTH: Final = 2_000_000
TURTLE: Final = "turtle"
RDF_XML: Final = "xml"
# The prefixes of names in the result. Names of other vocabularies stay complete addresses.
PREFIXES: Final[Mapping[str, str]] = {
    "adms": "http://www.w3.org/ns/adms#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "prov": "http://www.w3.org/ns/prov#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
# The parsers need a base for relative addresses. This one cannot be registered, and it is removed from the result.
_BASE: Final = "https://document.invalid/"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
# An entity can expand to gigabytes, or name a file.
_ENTITY: Final = re.compile(r"<!ENTITY\b", re.IGNORECASE)
# The text is decoded already, whatever encoding it declares.
_XML_DECLARATION: Final = re.compile(r"\A\s*<\?xml\b[^>]{0,200}\?>")


def parse_rdf(text: str, syntax: str) -> ParsedData:
    """Convert an RDF document to a flat list of JSON-LD nodes that refer to one another by `@id`."""
    check_length(text, MAX_RDF_LENGTH)
    if syntax == RDF_XML:
        entity = _ENTITY.search(text)
        if entity is not None:
            raise DocumentError("xml_entity_refused", line=text.count("\n", 0, entity.start()) + 1)
        text = _XML_DECLARATION.sub("", text)
    return ParsedData({"@context": dict(PREFIXES), "@graph": list(_nodes(text, syntax))})


def _nodes(text: str, syntax: str) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a graph as JSON-LD objects, in the order of the document."""
    graph = _parse_graph(text, syntax)
    terms = _Terms()
    for subject in graph.subjects(unique=True):
        node: dict[str, Any] = {"@id": terms.identify(subject)}
        for predicate, term in graph.predicate_objects(subject):
            if str(predicate) == _TYPE:
                node.setdefault("@type", []).append(_shorten(str(term)))
            else:
                node.setdefault(_shorten(str(predicate)), []).append(terms.describe(term))

        # A property with a single value needs no list, except for keywords such as `@type`.
        yield {name: values if name.startswith("@") or len(values) > 1 else values[0] for name, values in node.items()}


def _parse_graph(text: str, syntax: str) -> Any:
    """Parse a document without normalizing its literals."""
    import rdflib  # noqa: PLC0415 (loading it takes longer than reading most documents, few of which are RDF)

    # This store keeps the order of the document.
    graph = rdflib.Graph("SimpleMemory", bind_namespaces="none")
    # A normalized literal, such as 1 for 01, would differ from the document.
    normalizes_literals, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        graph.parse(data=text, format=syntax, publicID=_BASE)
    except RecursionError as error:
        raise DocumentError("too_deep") from error
    except Exception as error:  # the parsers raise exceptions of many types
        raise DocumentError("invalid_rdf", line=_line_of(error)) from error
    finally:
        rdflib.NORMALIZE_LITERALS = normalizes_literals
    return graph


class _Terms:
    """Conversion of the subjects and objects of a graph to JSON-LD."""

    def __init__(self) -> None:
        from rdflib import BNode, Literal  # noqa: PLC0415 (see above)

        self._blank_node_type = BNode
        self._literal_type = Literal
        self._blank_names: dict[str, str] = {}

    def identify(self, term: Any) -> str:
        """Return the identifier of a node. Blank nodes are numbered in the order of the document."""
        if isinstance(term, self._blank_node_type):
            return self._blank_names.setdefault(str(term), f"_:b{len(self._blank_names)}")
        return str(term).removeprefix(_BASE)

    def describe(self, term: Any) -> Any:
        """Convert a term to a JSON-LD literal or a reference to a node."""
        if not isinstance(term, self._literal_type):
            return {"@id": self.identify(term)}
        if term.language:
            return {"@value": str(term), "@language": term.language}
        return {"@value": str(term), "@type": _shorten(str(term.datatype))} if term.datatype else str(term)


def _shorten(address: str) -> str:
    """Replace a known vocabulary in the address of a property or type by its prefix."""
    for prefix, vocabulary in PREFIXES.items():
        if address.startswith(vocabulary):
            return f"{prefix}:{address.removeprefix(vocabulary)}"
    return address


def _line_of(error: Exception) -> int | None:
    """Return the number of the line where a parser stopped, or None if it is unknown."""
    if isinstance(error, SAXParseException):
        return error.getLineNumber()
    line = getattr(error, "lines", None)
    return line + 1 if isinstance(line, int) else None
