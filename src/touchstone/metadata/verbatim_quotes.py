"""Verification that a quote appears verbatim in its source document."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.source_document import TABLE_DELIMITERS, SourceDocument


def document_texts(source: SourceDocument) -> tuple[str, ...]:
    """Return the raw text of a document and the strings decoded from it, in which a quote may appear.

    The raw text is not enough, because a quote can be escaped in it, for example by doubled quotation marks in CSV. If
    a document cannot be parsed, only its raw text is returned, and nothing if it cannot be decoded.
    """
    texts: list[str] = []
    with suppress(DocumentError):
        texts.append(source.text)
        texts += texts_in(source.data)
        if source.suffix in TABLE_DELIMITERS:
            texts += [value for row in source.rows() for value in row.values()]
    return tuple(texts)


def texts_in(data: Any) -> Iterator[str]:
    """Yield all strings in parsed data, including the names of members, and numbers and flags as JSON."""
    if isinstance(data, Mapping):
        for name, value in data.items():
            yield str(name)
            yield from texts_in(value)
    elif isinstance(data, list):
        for value in data:
            yield from texts_in(value)
    elif isinstance(data, str):
        yield data
    elif data is not None:
        yield json.dumps(data, default=str)


def contains_quote(texts: Iterable[str], quote: str) -> bool:
    """Return whether one of the strings contains a quote verbatim."""
    return any(quote in text for text in texts)
