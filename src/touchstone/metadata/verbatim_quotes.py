"""The texts of a source document in which a verbatim quote can stand."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from touchstone.metadata.parsing import DocumentError
from touchstone.metadata.readers.source_document import TABLE_DELIMITERS, SourceDocument


def document_texts(source: SourceDocument) -> tuple[str, ...]:
    """Return the text of a document as it is written, and the texts in it as they are decoded.

    In JSON, YAML and RDF a quote with a line end or an accent may be written with escapes, and in CSV with doubled
    quotation marks. A document that cannot be read has no texts.
    """
    texts: list[str] = []
    try:
        texts.append(source.text)
        texts += texts_in(source.data)
        if source.suffix in TABLE_DELIMITERS:
            texts += [value for row in source.rows() for value in row.values()]
    except DocumentError:
        return tuple(texts)
    return tuple(texts)


def texts_in(data: Any) -> Iterator[str]:
    """Yield all texts in parsed data, the names of members included; numbers and flags as JSON writes them."""
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
    """Return whether a quote stands verbatim in one of the texts."""
    return any(quote in text for text in texts)
