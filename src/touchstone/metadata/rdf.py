"""Conversion of RDF in Turtle or RDF/XML (RDF 1.1) to flat JSON-LD, within limits and without network access.

Open data portals publish DCAT in these syntaxes. The result has the form of their JSON-LD exports, a list of nodes that
refer to one another, so that one reader is enough for all of them.
"""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from xml.sax import SAXParseException

from touchstone.metadata.parsing import DocumentError, ParsedData, check_length

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

JsonLdValue: TypeAlias = str | dict[str, str]

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
# The parsers need a base for relative addresses. Nobody can register this one, and it is removed from the result.
_BASE: Final = "https://document.invalid/"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
# Entities are refused, because one can expand to gigabytes, or name a file whose content is read:
# <!ENTITY password SYSTEM "file:///etc/passwd">
_ENTITY: Final = re.compile(r"<!ENTITY\b", re.IGNORECASE)
# The declaration is removed, because the text is decoded already: <?xml version="1.0" encoding="ISO-8859-1"?>
_XML_DECLARATION: Final = re.compile(r"\A\s*<\?xml\b[^>]{0,200}\?>")


def parse_rdf(text: str, syntax: str) -> ParsedData:
    """Convert an RDF document to a flat list of JSON-LD nodes that refer to one another by `@id`."""
    check_length(text, MAX_RDF_LENGTH)
    if syntax == RDF_XML:
        entity = _ENTITY.search(text)
        if entity is not None:
            raise DocumentError("xml_entity_refused", line=text.count("\n", 0, entity.start()) + 1)
        text = _XML_DECLARATION.sub("", text)

    graph = _parse_graph(text, syntax)
    return ParsedData({"@context": dict(PREFIXES), "@graph": list(_nodes(graph))})


def _nodes(graph: "Graph") -> Iterator[dict[str, Any]]:
    """Yield the nodes of a graph as JSON-LD objects, in the order of the document."""
    terms = _TermConverter()
    for subject in graph.subjects(unique=True):
        node: dict[str, Any] = {"@id": terms.identify(subject)}
        for predicate, term in graph.predicate_objects(subject):
            if str(predicate) == _TYPE:
                node.setdefault("@type", []).append(_shorten(str(term)))
            else:
                node.setdefault(_shorten(str(predicate)), []).append(terms.describe(term))
        yield {name: _without_list(name, values) for name, values in node.items()}


def _without_list(name: str, values: Any) -> Any:
    """Return the only value of a property without its list, or the list if there are several.

    Keywords such as `@type` keep their values as they are.
    """
    if name.startswith("@") or len(values) > 1:
        return values
    return values[0]


def _parse_graph(text: str, syntax: str) -> "Graph":
    """Parse a document.

    Raises:
        DocumentError: the document is not valid, or nested too deeply.
    """
    import rdflib  # noqa: PLC0415 (loading it takes longer than reading most documents, few of which are RDF)

    # Unlike the default store, "SimpleMemory" keeps the order of the document.
    graph = rdflib.Graph("SimpleMemory", bind_namespaces="none")
    # By default, rdflib would normalize literals: "01"^^xsd:integer would become 1 and differ from the document.
    default_setting = rdflib.NORMALIZE_LITERALS
    rdflib.NORMALIZE_LITERALS = False
    try:
        graph.parse(data=text, format=syntax, publicID=_BASE)
    except RecursionError as error:
        raise DocumentError("too_deep") from error
    except Exception as error:  # the parsers raise exceptions of many types
        raise DocumentError("invalid_rdf", line=_line_of(error)) from error
    finally:
        rdflib.NORMALIZE_LITERALS = default_setting
    return graph


class _TermConverter:
    """Converts the subjects and objects of a graph to JSON-LD."""

    def __init__(self) -> None:
        from rdflib import BNode, Literal  # noqa: PLC0415 (see `_parse_graph`)

        self._blank_node_type = BNode
        self._literal_type = Literal
        self._blank_names: dict[str, str] = {}

    def identify(self, term: "Node") -> str:
        """Return the identifier of a node. Blank nodes are numbered in the order of the document."""
        if isinstance(term, self._blank_node_type):
            return self._blank_names.setdefault(str(term), f"_:b{len(self._blank_names)}")
        return str(term).removeprefix(_BASE)

    def describe(self, term: "Node") -> JsonLdValue:
        """Convert a term to a JSON-LD literal or a reference to a node."""
        if not isinstance(term, self._literal_type):
            return {"@id": self.identify(term)}
        if term.language:
            return {"@value": str(term), "@language": term.language}
        if term.datatype:
            return {"@value": str(term), "@type": _shorten(str(term.datatype))}
        return str(term)


def _shorten(address: str) -> str:
    """Shorten the address of a property or type in a known vocabulary, for example to `dct:title`."""
    for prefix, vocabulary in PREFIXES.items():
        if address.startswith(vocabulary):
            return f"{prefix}:{address.removeprefix(vocabulary)}"
    return address


def _line_of(error: Exception) -> int | None:
    """Return the number of the line where a parser stopped, or None if it is unknown."""
    if isinstance(error, SAXParseException):
        return error.getLineNumber()
    # The error of the Turtle parser has the number of the lines before.
    preceding_lines = getattr(error, "lines", None)
    return preceding_lines + 1 if isinstance(preceding_lines, int) else None
