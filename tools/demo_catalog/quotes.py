"""Location of quotes in their source files, and excerpts around them for the package."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from tools.demo_catalog.sources import SourceFile
from touchstone.metadata.documents import Claim
from touchstone.metadata.verbatim_quotes import contains_quote

# The number of characters before and after a quote in its excerpt.
MARGIN: Final = 60
MAX_OCCURRENCES: Final = 500
_E_MAIL: Final = re.compile(r"[\w.+-]+\s?(?:@|\(at\)|\[at\]|\{at\})\s?[\w-]+(?:\.[\w-]+)+")
_NAME_BEFORE: Final = re.compile(r"[A-Z][\w'’.-]+ [A-Z][\w'’.-]+")
# Words before an address that are not the name of a person: `Conceptual Captions e-mail`, `Mailing List`.
_NO_NAME_BEFORE: Final = re.compile(r"\b(?:e-?mail|list|google ?group|contact)$", re.IGNORECASE)


class MissingQuoteError(Exception):
    """A quote does not appear in its source."""


def find_source_file(claim: Claim, files: Sequence[SourceFile]) -> SourceFile:
    """Return the file that contains the quote of a claim, preferring the file named by the claim.

    Raises:
        MissingQuoteError: none of the files contains the quote.
    """
    for file in sorted(files, key=lambda file: not claim.place.startswith(file.name)):
        if contains_quote(file.texts, claim.quote):
            return file
    raise MissingQuoteError(f"{files[0].path}: {claim.attribute}: {claim.quote!r}")


def without_e_mail_address(quote: str) -> str:
    """Cut a quote before the first e-mail address if it names a person there, to avoid packaging the address."""
    address = _E_MAIL.search(quote)
    if address is None:
        return quote
    text_before = re.sub(r"[\s<(\[*:,]*(?:\]\()?(?:mailto:)?$", "", quote[: address.start()])
    names_somebody = _NAME_BEFORE.search(text_before) is not None and _NO_NAME_BEFORE.search(text_before) is None
    return text_before if names_somebody else quote


def find_excerpt(file: SourceFile, quote: str, field: str | None) -> str:
    """Return the passage of a file around a quote, preferring one that contains the name of the field."""
    name = field.rsplit(".", 1)[-1] if field else ""
    first_passage = ""
    for passage in islice(_passages(file, quote), MAX_OCCURRENCES):
        if name in passage:
            return passage
        first_passage = first_passage or passage
    return first_passage


def _passages(file: SourceFile, quote: str) -> Iterator[str]:
    """Yield each occurrence of a quote with the surrounding characters of its lines."""
    for text in file.texts:
        start = text.find(quote)
        while start >= 0:
            end = start + len(quote)
            text_before = text[max(0, start - MARGIN) : start].rpartition("\n")[2]
            text_after = text[end : end + MARGIN].partition("\n")[0]
            yield f"{text_before}{quote}{text_after}"
            start = text.find(quote, end)
