"""Assembling a `DatasetDocument`: the helpers that all readers share."""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from touchstone.core.attributes import BY_NAME, FLAGS, NUMBERS, Kind
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart, Section
from touchstone.metadata.exact_values import POINTER as EXACT_VALUES
from touchstone.metadata.licences import Licence, combine_licences
from touchstone.metadata.parsing import DocumentError, escape_pointer
from touchstone.metadata.placeholders import is_placeholder
from touchstone.metadata.prose import shorten, summarise, tidy_name

# Loaders of the Hugging Face hub, which read files of any content. They have cards, but are no datasets.
LOADER_NAMES: Final = frozenset(
    {"arrow", "audiofolder", "csv", "generator", "imagefolder", "json", "pandas", "parquet", "sql", "text",
     "videofolder", "webdataset", "xml"}
)  # fmt: skip
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2100
# No dataset has a single instance: the number is that of a file or a default. UCI lists one such dataset, which is how
# its form reads when nobody has filled it in.
MIN_INSTANCES: Final = 2
# What the record of a dataset holds.
MAX_TERMS: Final = 200
MAX_TERM_LENGTH: Final = 200
MAX_LICENCE_LENGTH: Final = 200


@dataclass
class DocumentBuilder:
    """A `DatasetDocument` under construction.

    Every number and flag of the record is also a claim, with the words of the document that show it.
    """

    standard: str
    key: str
    standard_version: str | None = None
    record: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    unmapped: dict[str, Any] = field(default_factory=dict)
    rejected: list[RejectedPart] = field(default_factory=list)

    def name(self, *candidates: Any) -> None:
        """Set the name of the dataset to the first candidate that says something."""
        for candidate in candidates:
            if isinstance(candidate, str) and not is_placeholder(candidate):
                self.record["dataset_name"] = tidy_name(candidate)
                return

    def describe(self, text: Any) -> None:
        """Set the description to a text, and the objective to its first sentences, unless it is a placeholder."""
        if not isinstance(text, str) or is_placeholder(text):
            return
        self.record["description"] = text.strip()
        objective = summarise(text)
        if objective:
            self.record["objective"] = objective

    def words(self, attribute: str, values: list[str]) -> None:
        """Set an attribute that is a list of terms, unless the list is empty."""
        terms = [value for value in values if len(value) <= MAX_TERM_LENGTH][:MAX_TERMS]
        if len(terms) < len(values):
            self.reject(attribute, "too_many_terms", terms=len(values), kept=len(terms))
        if terms:
            self.record[attribute] = terms

    def claim(self, claim: Claim) -> None:
        """Add a claim and set the attribute in the record, if the value is one that the attribute can have.

        The first claim on an attribute decides the record's value; readers add the most specific one first.
        """
        value = claim.value
        if value is None or not is_possible(claim.attribute, value):
            self.reject(claim.place, "implausible_value", attribute=claim.attribute, value=value)
            return
        self.claims.append(claim)
        self.record.setdefault(claim.attribute, value)

    def licence(self, texts: Iterable[Any]) -> Licence | None:
        """Keep the licence in `metadata.licence`, as an SPDX expression where certain, and its original words."""
        licence = combine_licences(text for text in texts if isinstance(text, str))
        if licence is not None:
            # Some catalogs put the text of a whole agreement here. It stays among the fields without a place.
            words = shorten(licence.text, MAX_LICENCE_LENGTH)
            self.metadata["licence"] = licence.spdx or words
            self.metadata["licence_text"] = words
        return licence

    def remember(self, name: str, value: Any) -> None:
        """Keep a text or a list of texts in the record's `metadata`, unless it is empty or a placeholder."""
        if isinstance(value, str) and is_placeholder(value):
            return
        if isinstance(value, str | list) and value:
            self.metadata[name] = value

    def warn(self, text: str) -> None:
        """Keep a warning about the dataset, which a reader of the record must see."""
        self.metadata.setdefault("warnings", []).append(" ".join(text.split()))

    def prose(self, path: tuple[str, ...], text: Any) -> None:
        """Add the value of a named field as a passage for the extractor, unless it is a placeholder."""
        if not isinstance(text, str) or not text.strip():
            return
        if is_placeholder(text):
            self.reject(" > ".join(path), "placeholder", text=text[:200])
        else:
            self.sections.append(Section(path, text, is_structured=True))

    def keep_rest(self, members: Mapping[str, Any], represented: Container[str] = (), place: str = "") -> None:
        """Keep all members of an object by their JSON pointers, for an export that loses nothing.

        Only a member that is `represented`, and whose exact value stands in the record, is left out.
        """
        texts = (self.key, *self.record.values(), *self.metadata.values())
        for name, value in members.items():
            if name not in represented or value not in texts:
                self.unmapped[f"{place}/{escape_pointer(str(name))}"] = value

    def keep_context(self, context: Any) -> None:
        """Keep the context of a JSON-LD document, without which the names of a dataset inside a graph mean nothing."""
        if context is not None:
            self.unmapped.setdefault("/@context", context)

    def reject(self, place: str, code: str, **facts: Any) -> None:
        """Note a part of the document that was skipped."""
        self.rejected.append(RejectedPart(place, code, facts))

    def build(self) -> DatasetDocument:
        """Return the finished document, or raise a DocumentError if nothing names the dataset."""
        if "dataset_name" not in self.record:
            if EXACT_VALUES not in self.unmapped:
                raise DocumentError("no_name", key=self.key)
            # The exact values, which replace it, may contain a name that this reader would not take from a source.
            self.record["dataset_name"] = self.key
        if self.metadata:
            self.record["metadata"] = self.metadata
        return DatasetDocument(
            standard=self.standard,
            standard_version=self.standard_version,
            key=self.key,
            record=self.record,
            claims=tuple(self.claims),
            sections=tuple(self.sections),
            unmapped=self.unmapped,
            rejected=tuple(self.rejected),
        )


def is_possible(attribute: str, value: bool | int | float) -> bool:
    """Return whether an attribute can have this value: of its type, finite and within its bounds."""
    if attribute in FLAGS:
        return isinstance(value, bool)
    if attribute not in NUMBERS or isinstance(value, bool) or not math.isfinite(value):
        return False
    if attribute == "year":
        # Announced datasets are dated ahead.
        return isinstance(value, int) and FIRST_YEAR <= value <= datetime.now(UTC).year + 1

    bounds = BY_NAME[attribute]
    if bounds.kind is Kind.INTEGER and not isinstance(value, int):
        return False
    is_large_enough = bounds.minimum is None or value >= bounds.minimum
    is_small_enough = bounds.maximum is None or value <= bounds.maximum
    return is_large_enough and is_small_enough


def attempt(place: str, read: Callable[[], DatasetDocument]) -> DatasetDocument | RejectedPart:
    """Return one of several datasets of a document, or why it cannot be used, so that the others can be."""
    try:
        return read()
    except DocumentError as error:
        return RejectedPart(place, error.code, error.facts)


def pointer(*steps: str | int) -> str:
    """Return the JSON pointer of a value (RFC 6901)."""
    return "".join(f"/{escape_pointer(str(step))}" for step in steps)


def list_of_texts(value: Any) -> list[str]:
    """Return a value that may be one text, a list of texts or a mapping of lists as a list of texts."""
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, Mapping):
        value = [member for members in value.values() for member in list_of_texts(members)]
    if not isinstance(value, list):
        return []
    return [member for member in value if isinstance(member, str) and member.strip()]


def objects_of(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects among the members of a list; none if the value is no list."""
    return [member for member in value if isinstance(member, Mapping)] if isinstance(value, list) else []


def number_of(value: Any) -> int | float | None:
    """Return a number that may be written as a text (`"32561.0"`), as an integer if it is whole; else None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    if isinstance(value, int):
        return value
    return int(number) if number.is_integer() else number


def year_of(value: Any) -> int | None:
    """Return the year that a date begins or ends with (`2014-04-06`, `6/30/1988`), or None."""
    text = str(value).strip()
    for digits in (text[:4], text[-4:]):
        if digits.isdigit() and len(digits) == 4 and FIRST_YEAR <= int(digits) <= LAST_YEAR:
            return int(digits)
    return None
