"""Safe parsing of documents from unknown sources: JSON (RFC 8259), YAML 1.2 and CSV (RFC 4180) within limits.

A document that cannot be used as a whole raises `DocumentError` with a stable code. Smaller faults are listed in
`ParsedData.rejected`, and the rest of the document is kept.
"""

import codecs
import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import yaml

from touchstone.metadata.documents import RejectedPart

MAX_DOCUMENT_BYTES: Final = 32 * 1024 * 1024
MAX_DEPTH: Final = 64
MAX_MEMBERS: Final = 10_000
MAX_VALUES: Final = 1_000_000
MAX_NUMBER_LENGTH: Final = 400
INTEGER_BITS: Final = 64
# The parsers of YAML and Markdown are slower than that of JSON, and their documents are written by hand.
MAX_YAML_LENGTH: Final = 1_000_000
MAX_MARKDOWN_LENGTH: Final = 1_000_000
MAX_ROWS: Final = 100_000
MAX_CSV_CELL: Final = 1_000_000

# NUL characters, and surrogates outside a pair.
_UNSTORABLE: Final = re.compile(r"[\0\ud800-\udfff]")
# A complete string, or one structural character of JSON.
_JSON_STRUCTURE: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{},]', re.DOTALL)
# The mark of little-endian UTF-32 begins with that of UTF-16, so it comes first.
_BYTE_ORDER_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# How compressed files and archives begin: ZIP, gzip, bzip2, XZ and 7z.
_ARCHIVE_MARKS: Final = (b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf")


class DocumentError(Exception):
    """A document cannot be used.

    Attributes:
        code: the stable code of the reason.
        facts: its details, such as the number of a line.
    """

    def __init__(self, code: str, **facts: Any) -> None:
        super().__init__(code)
        self.code = code
        self.facts = facts


@dataclass(frozen=True, slots=True)
class ParsedData:
    """The data of a document, and the parts of it that were skipped."""

    data: Any
    rejected: tuple[RejectedPart, ...] = ()


def decode(content: bytes) -> str:
    """Return the text of a document in UTF-8, or in UTF-16 or UTF-32 with a byte order mark.

    Another encoding is refused instead of guessed, because a wrong guess silently changes names and quotes.
    """
    if len(content) > MAX_DOCUMENT_BYTES:
        raise DocumentError("document_too_large", bytes=len(content), limit=MAX_DOCUMENT_BYTES)

    if content.startswith(_ARCHIVE_MARKS):
        raise DocumentError("binary_content", position=0)

    encoding = next((encoding for mark, encoding in _BYTE_ORDER_MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DocumentError("wrong_encoding", encoding=encoding, position=error.start) from error

    if "\0" in text:
        raise DocumentError("binary_content", position=text.index("\0"))
    return text


def check_length(text: str, limit: int) -> None:
    """Raise a DocumentError if a document is too long to be parsed in a reasonable time."""
    if len(text) > limit:
        raise DocumentError("document_too_large", characters=len(text), limit=limit)


def parse_json(text: str) -> ParsedData:
    """Return the data of a JSON document.

    A repeated key keeps its first value, and a number that is not finite becomes None; both are listed as rejected.
    """
    check_json_size(text)
    limits = _JsonLimits()
    try:
        data = json.loads(
            text,
            object_pairs_hook=limits.build_object,
            parse_constant=limits.reject_constant,
            parse_int=limits.convert_integer,
            parse_float=limits.convert_float,
        )
    except json.JSONDecodeError as error:
        # An interrupted download ends inside an object, a list or a string.
        is_truncated = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        code = "truncated_document" if is_truncated else "invalid_json"
        raise DocumentError(code, line=error.lineno, column=error.colno) from error
    return _without_unstorable(text, data, limits.rejected)


def check_json_size(text: str) -> None:
    """Raise a DocumentError if JSON is nested too deeply or has too many values for the recursive parser."""
    depth = 0
    commas = 0
    for match in _JSON_STRUCTURE.finditer(text):
        symbol = match.group(0)
        if symbol == ",":
            commas += 1
        elif symbol in "[{":
            depth += 1
        elif symbol in "]}":
            depth -= 1
        if depth > MAX_DEPTH:
            raise DocumentError("too_deep", limit=MAX_DEPTH)
        if commas > MAX_VALUES:
            raise DocumentError("too_many_values", limit=MAX_VALUES)


class _JsonLimits:
    """Callbacks of the JSON parser that enforce limits and collect the rejected values."""

    def __init__(self) -> None:
        self.rejected: list[RejectedPart] = []

    def build_object(self, members: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build a dictionary from the members of an object, with the first value of each repeated key."""
        check_members(len(members))

        result: dict[str, Any] = {}
        for name, value in members:
            if name in result:
                self.rejected.append(RejectedPart(f"/{name}", "duplicate_key", {"key": name}))
            else:
                result[name] = value
        return result

    def reject_constant(self, constant: str) -> None:
        """Replace NaN or an infinity, which JSON does not allow, by None."""
        self.rejected.append(RejectedPart("", "number_not_finite", {"number": constant}))

    def convert_integer(self, digits: str) -> int | str:
        """Convert an integer (see `_convert_integer`)."""
        return _convert_integer(digits, self.rejected)

    def convert_float(self, digits: str) -> float | None:
        """Convert a number with a fraction or an exponent, or return None if it overflows."""
        number = float(digits)
        if math.isfinite(number):
            return number
        self.rejected.append(RejectedPart("", "number_not_finite", {"number": digits[:40]}))
        return None


def _convert_integer(digits: str, rejected: list[RejectedPart]) -> int | str:
    """Convert an integer, but reject one of more than 64 bits and return its digits, so that an export has them all."""
    check_digits(digits)
    number = int(digits)
    if number.bit_length() < INTEGER_BITS:
        return number
    rejected.append(RejectedPart("", "number_too_large", {"number": digits[:40]}))
    return digits


def check_members(count: int) -> None:
    """Raise a DocumentError if an object has too many members."""
    if count > MAX_MEMBERS:
        raise DocumentError("too_many_fields", fields=count, limit=MAX_MEMBERS)


def check_digits(digits: str) -> None:
    """Raise a DocumentError if a number has too many digits, because conversion takes quadratic time."""
    if len(digits) > MAX_NUMBER_LENGTH:
        raise DocumentError("number_too_long", digits=len(digits), limit=MAX_NUMBER_LENGTH)


def _without_unstorable(text: str, data: Any, rejected: list[RejectedPart]) -> ParsedData:
    """Replace NUL characters and lone surrogates in parsed data, because databases cannot store them.

    Args:
        text: the document. Only an escape sequence can produce these characters, so the data of a document without a
            backslash are not searched.
        data: the data of the document.
        rejected: the parts of the document that the parser skipped.
    """
    if "\\" not in text:
        return ParsedData(data, tuple(rejected))

    clean_data = _replace_unstorable(data)
    if clean_data != data:
        rejected.append(RejectedPart("", "unstorable_character"))
    return ParsedData(clean_data, tuple(rejected))


def _replace_unstorable(data: Any) -> Any:
    """Copy the data with U+FFFD in place of characters that databases cannot store."""
    if isinstance(data, str):
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", data)
    if isinstance(data, list):
        return [_replace_unstorable(member) for member in data]
    if isinstance(data, dict):
        return {_replace_unstorable(name): _replace_unstorable(value) for name, value in data.items()}
    return data


def parse_yaml(text: str) -> ParsedData:
    """Return the data of a YAML document, parsed by the rules of the YAML 1.2 core schema.

    Anchors, aliases and tags are refused: an alias can expand to gigabytes, and a tag can name a class. Dates stay
    strings, and `no` is the code for Norwegian instead of false.
    """
    check_length(text, MAX_YAML_LENGTH)
    loader = _PlainLoader(text)
    try:
        data = loader.get_single_data()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        raise DocumentError("invalid_yaml", line=line) from error
    except (RecursionError, ValueError) as error:
        raise DocumentError("invalid_yaml", line=None) from error
    finally:
        loader.dispose()
    return _without_unstorable(text, data, loader.rejected)


class _PlainLoader(yaml.SafeLoader):
    """A YAML loader without anchors, aliases and tags, and with limits for depth and size."""

    yaml_implicit_resolvers: dict[str, list[Any]] = {}  # noqa: RUF012 (PyYAML reads it from the class)

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.rejected: list[RejectedPart] = []
        self._node_depth = 0
        self._node_count = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Compose a node after checking it for refused syntax and exceeded limits."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise DocumentError("yaml_anchor_refused", line=event.start_mark.line + 1)
        if getattr(event, "tag", None) is not None:
            raise DocumentError("yaml_tag_refused", tag=str(event.tag)[:80], line=event.start_mark.line + 1)

        self._node_count += 1
        if self._node_count > MAX_VALUES:
            raise DocumentError("too_many_values", limit=MAX_VALUES)
        if self._node_depth >= MAX_DEPTH:
            raise DocumentError("too_deep", limit=MAX_DEPTH)

        self._node_depth += 1
        node = super().compose_node(parent, index)
        self._node_depth -= 1
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Build a mapping with string keys and the first value of each repeated key."""
        check_members(len(node.value))
        result: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.rejected.append(RejectedPart("", "key_not_text", {"line": key_node.start_mark.line + 1}))
                continue

            key = str(key_node.value)
            if key in result:
                self.rejected.append(RejectedPart(f"/{key}", "duplicate_key", {"key": key}))
            else:
                result[key] = self.construct_object(value_node, deep=True)
        return result

    def construct_finite_float(self, node: yaml.ScalarNode) -> float | None:
        """Return a number, or None for NaN and the infinities."""
        number = self.construct_yaml_float(node)
        if math.isfinite(number):
            return float(number)
        self.rejected.append(RejectedPart("", "number_not_finite", {"number": str(node.value)}))
        return None

    def construct_short_integer(self, node: yaml.ScalarNode) -> int | str:
        """Convert an integer (see `_convert_integer`)."""
        return _convert_integer(str(node.value), self.rejected)


def _add_core_schema(loader: type[_PlainLoader]) -> None:
    """Register the scalar types of the YAML 1.2 core schema, except for octal and hexadecimal numbers."""
    resolvers: tuple[tuple[str, str, str], ...] = (
        ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", "~nN\0"),
        ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
        ("tag:yaml.org,2002:int", r"^[-+]?[0-9]+$", "-+0123456789"),
        (
            "tag:yaml.org,2002:float",
            r"^(?:[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$",
            "-+0123456789.",
        ),
    )
    for tag, pattern, first_characters in resolvers:
        # PyYAML looks up the patterns by the first character of a scalar, which is "" for an empty one.
        keys = list(first_characters)
        if re.fullmatch(pattern, ""):
            keys.append("")
        loader.add_implicit_resolver(tag, re.compile(pattern), keys)

    loader.add_constructor("tag:yaml.org,2002:float", loader.construct_finite_float)
    loader.add_constructor("tag:yaml.org,2002:int", loader.construct_short_integer)


_add_core_schema(_PlainLoader)


def parse_csv(text: str, delimiter: str = ",") -> Iterator[dict[str, str]]:
    """Yield the rows of a CSV document as dictionaries with the names of its columns.

    Raises:
        DocumentError: a row has too few or too many cells, so its values would be assigned to the wrong columns, or
            the document is malformed or too large.
    """
    csv.field_size_limit(MAX_CSV_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = next(reader, [])
        check_members(len(names))
        for index, row in enumerate(reader):
            if index >= MAX_ROWS:
                raise DocumentError("too_many_rows", limit=MAX_ROWS)
            if not row:
                continue
            if len(row) != len(names):
                raise DocumentError("wrong_number_of_cells", line=reader.line_num, cells=len(row), columns=len(names))
            yield dict(zip(names, row, strict=True))
    except csv.Error as error:
        raise DocumentError("invalid_csv", line=reader.line_num) from error


def escape_pointer(name: str) -> str:
    """Escape a name for use as one step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def unescape_pointer(step: str) -> str:
    """Return the name in one step of a JSON pointer."""
    return step.replace("~1", "/").replace("~0", "~")
