"""A document to be read: bytes and a file name come in, and readers take text, parsed data, rows or sections from it.

The suffix of the name decides how the content is parsed. Without a known suffix, the first characters decide.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any, Final

from touchstone.metadata.documents import RejectedPart
from touchstone.metadata.markdown import MarkdownDocument, read_markdown
from touchstone.metadata.parsing import DocumentError, ParsedData, decode, parse_csv, parse_json, parse_yaml
from touchstone.metadata.rdf import RDF_XML, TURTLE, parse_rdf

JSON_SUFFIXES: Final = (".json", ".jsonld", ".geojson")
YAML_SUFFIXES: Final = (".yaml", ".yml")
# Turtle contains N-Triples, and most files in N3 are Turtle.
RDF_SUFFIXES: Final = {
    ".ttl": TURTLE,
    ".turtle": TURTLE,
    ".n3": TURTLE,
    ".nt": TURTLE,
    ".rdf": RDF_XML,
    ".owl": RDF_XML,
    ".xml": RDF_XML,
}
# How RDF documents begin, and the syntax that this shows.
RDF_OPENINGS: Final = {"@prefix": TURTLE, "@base": TURTLE, "PREFIX ": TURTLE, "<?xml": RDF_XML, "<rdf:RDF": RDF_XML}
TABLE_DELIMITERS: Final = {".csv": ",", ".tsv": "\t"}
MARKDOWN_SUFFIXES: Final = (".md", ".markdown")
TEXT_SUFFIXES: Final = (*MARKDOWN_SUFFIXES, ".bib")
# Files with these suffixes may contain anything, so their first characters decide.
VAGUE_SUFFIXES: Final = ("", ".txt")
# The byte order mark, blank lines and comments before the first statement of a document in Turtle.
_OPENING_LINES: Final = re.compile(r"\A\ufeff?(?:\s++|#[^\n]*+\n)*+")


@dataclass(frozen=True)
class SourceDocument:
    """A document with lazily parsed content.

    Attributes:
        content: the bytes of the document.
        name: its path in the source, such as `squad/README.md`. Some standards only name the dataset in the path.
        companions: further files of the same dataset by their names, such as `dataset_infos.json` beside a card.
    """

    content: bytes
    name: str = ""
    companions: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def path(self) -> PurePosixPath:
        """The path of the document in its source."""
        return PurePosixPath(self.name.replace("\\", "/"))

    @property
    def folder(self) -> str:
        """The name of the folder that contains the document, or an empty string."""
        return self.path.parent.name

    @property
    def suffix(self) -> str:
        """The suffix of the file name in lower case, including the dot."""
        return self.path.suffix.lower()

    @cached_property
    def text(self) -> str:
        """The text of the document."""
        return decode(self.content)

    @cached_property
    def parsed(self) -> ParsedData:
        """The data of a JSON, YAML or RDF document and its rejected parts. The data are None for other documents."""
        if self.suffix in JSON_SUFFIXES or self._looks_like_json():
            return parse_json(self.text)
        if self.suffix in YAML_SUFFIXES:
            return parse_yaml(self.text)
        if self.rdf_syntax is not None and self.text.strip():
            return parse_rdf(self.text, self.rdf_syntax)
        return ParsedData(None)

    @cached_property
    def rdf_syntax(self) -> str | None:
        """The syntax of an RDF document, or None for other documents. Without a suffix, the first characters decide."""
        if self.suffix not in VAGUE_SUFFIXES:
            return RDF_SUFFIXES.get(self.suffix)
        beginning = _OPENING_LINES.sub("", self.text, count=1)
        return next((syntax for opening, syntax in RDF_OPENINGS.items() if beginning.startswith(opening)), None)

    @property
    def may_be_markdown(self) -> bool:
        """Whether the suffix is that of Markdown, or says nothing about a text that looks like neither JSON nor RDF."""
        if self.suffix in MARKDOWN_SUFFIXES:
            return True
        return self.suffix in VAGUE_SUFFIXES and not self._looks_like_json() and self.rdf_syntax is None

    @property
    def data(self) -> Any:
        """The data of a JSON, YAML or RDF document, or None for other documents."""
        return self.parsed.data

    @property
    def members(self) -> dict[str, Any]:
        """The members of the outermost object, or an empty dictionary if the document is not an object."""
        return self.data if isinstance(self.data, dict) else {}

    @property
    def rejected(self) -> tuple[RejectedPart, ...]:
        """The parts that the parser skipped."""
        return self.parsed.rejected

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The column names of a CSV document, or an empty tuple for other documents."""
        if self.suffix not in TABLE_DELIMITERS or not self.text:
            return ()
        first_line = self.text.splitlines()[0]
        return tuple(name.strip('" ') for name in first_line.split(TABLE_DELIMITERS[self.suffix]))

    def rows(self) -> list[dict[str, str]]:
        """Return the rows of a CSV document as dictionaries with the names of its columns."""
        return list(parse_csv(self.text, TABLE_DELIMITERS[self.suffix]))

    @cached_property
    def markdown(self) -> MarkdownDocument:
        """The sections of a Markdown document."""
        return read_markdown(self.text)

    def companion(self, name: str) -> "SourceDocument | None":
        """Return a companion file, or None if it does not exist."""
        content = self.companions.get(name)
        return None if content is None else SourceDocument(content, name)

    def readable_companion(self, name: str) -> tuple["SourceDocument | None", tuple[RejectedPart, ...]]:
        """Return a companion file and the parts of it that the parser skipped, or None if it is missing.

        The result is also None for a file that cannot be parsed at all, with the reason as the only rejected part.
        """
        companion = self.companion(name)
        if companion is None:
            return None, ()
        try:
            rejected = companion.rejected
        except DocumentError as error:
            return None, (RejectedPart(name, error.code, error.facts),)
        return companion, rejected

    def _looks_like_json(self) -> bool:
        """Return whether a document begins like a JSON object or array, and has no suffix of another format."""
        has_other_suffix = self.suffix in (*YAML_SUFFIXES, *RDF_SUFFIXES, *TABLE_DELIMITERS, *TEXT_SUFFIXES)
        # A text may begin with a bracket, too, but hardly with a brace.
        openings = ("{",) if self.suffix == ".txt" else ("{", "[")
        return not has_other_suffix and self.text.lstrip().startswith(openings)
