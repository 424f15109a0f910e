"""The builder of a `DatasetDocument`, and further helpers that all readers share.

A reader passes the values of a document to the setters of the builder as it finds them. The builder checks their types
and bounds, and lists what it does not accept as rejected, so that a single bad value never spoils a whole dataset.
"""

import math
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Final

from touchstone.core.attributes import BY_NAME, FLAGS, NUMBERS, Kind
from touchstone.metadata.documents import Claim, DatasetDocument, RejectedPart, Section
from touchstone.metadata.exact_values import POINTER as EXACT_VALUES
from touchstone.metadata.licences import Licence, combine_licences
from touchstone.metadata.parsing import DocumentError, escape_pointer
from touchstone.metadata.placeholders import first_meaningful_text, is_placeholder
from touchstone.metadata.prose import on_one_line, shorten, summarize, tidy_name

# File loaders of the Hugging Face hub. They have cards and Croissant descriptions, but are not datasets.
LOADER_NAMES: Final = frozenset(
    {"arrow", "audiofolder", "csv", "generator", "imagefolder", "json", "pandas", "parquet", "sql", "text",
     "videofolder", "webdataset", "xml"}
)  # fmt: skip
FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2100
# No dataset has a single instance. A number of 1 counts files or is a default: UCI lists a dataset with one instance,
# because its form was not filled in.
MIN_INSTANCES: Final = 2
# Limits for the lists and strings of a record.
MAX_TERMS: Final = 200
MAX_TERM_LENGTH: Final = 200
MAX_LICENCE_LENGTH: Final = 200


@dataclass
class DocumentBuilder:
    """A `DatasetDocument` under construction.

    Every number and flag in the record is supported by a claim with a quote from the document. The attributes are those
    of `DatasetDocument`, except for `location`, the JSON pointer of the dataset in its document, and `metadata`, which
    becomes a member of the record.
    """

    standard: str
    key: str
    location: str = ""
    standard_version: str | None = None
    record: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    unmapped: dict[str, Any] = field(default_factory=dict)
    rejected: list[RejectedPart] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The names under which texts may mention the dataset: its name, and the last step of its key."""
        last_step = self.key.rstrip("/").rsplit("/", 1)[-1]
        return [name for name in (self.record.get("dataset_name"), last_step) if name]

    def set_name(self, *candidates: Any) -> None:
        """Set the name of the dataset to the first candidate that is a string and not a placeholder."""
        name = first_meaningful_text(candidates)
        if name is not None:
            self.record["dataset_name"] = tidy_name(name)

    def set_description(self, text: Any) -> None:
        """Set the description of the record, and its objective to the first sentences, unless it is a placeholder.

        This does not add it to the prose that the extractor searches (see `add_prose`).
        """
        if not isinstance(text, str) or is_placeholder(text):
            return
        self.record["description"] = text.strip()
        objective = summarize(text)
        if objective:
            self.record["objective"] = objective

    def set_terms(self, attribute: str, values: list[str]) -> None:
        """Set an attribute to a list of terms, unless the list is empty. Terms beyond the limits are dropped."""
        terms = [value for value in values if len(value) <= MAX_TERM_LENGTH][:MAX_TERMS]
        if len(terms) < len(values):
            self.reject(attribute, "too_many_terms", terms=len(values), kept=len(terms))
        if terms:
            self.record[attribute] = terms

    def add_claim(self, claim: Claim) -> None:
        """Add a claim and set its attribute in the record, or reject it if the value is impossible.

        The first claim about an attribute determines the value of the record, so readers add the most specific one
        first.
        """
        value = claim.value
        if value is None or not is_possible(claim.attribute, value):
            self.reject(claim.place, "implausible_value", attribute=claim.attribute, value=value)
            return
        self.claims.append(claim)
        self.record.setdefault(claim.attribute, value)

    def add_field_claim(
        self, attribute: str, value: bool | int | float, quote: str, field_name: str, *, note: str = ""
    ) -> None:
        """Add a claim that a field of the dataset states (see `add_claim`)."""
        place = f"{self.location}/{escape_pointer(field_name)}"
        self.add_claim(Claim(attribute, value, quote, place, field=field_name, note=note))

    def set_licence(self, texts: Iterable[Any]) -> Licence | None:
        """Set the licence in the metadata, as an SPDX expression if it is unambiguous, and its original wording."""
        licence = combine_licences(text for text in texts if isinstance(text, str))
        if licence is not None:
            # Some catalogs put a whole agreement here. The complete text is still available in the unmapped fields.
            wording = shorten(licence.text, MAX_LICENCE_LENGTH)
            self.metadata["licence"] = licence.spdx or wording
            self.metadata["licence_text"] = wording
        return licence

    def set_metadata(self, name: str, value: Any) -> None:
        """Set a member of the metadata to a string or list of strings, unless it is empty or a placeholder."""
        if isinstance(value, str) and is_placeholder(value):
            return
        if isinstance(value, str | list) and value:
            self.metadata[name] = value

    def add_warning(self, text: str) -> None:
        """Add a warning about the dataset, which is shown with the record."""
        self.metadata.setdefault("warnings", []).append(on_one_line(text))

    def add_prose(self, path: tuple[str, ...], text: Any) -> None:
        """Add the value of a field as a section that the extractor searches, or reject it if it is a placeholder."""
        if not isinstance(text, str) or not text.strip():
            return
        if is_placeholder(text):
            self.reject(" > ".join(path), "placeholder", text=text[:200])
        else:
            self.sections.append(Section(path, text, is_structured=True))

    def keep_unmapped(self, members: Mapping[str, Any], represented: Container[str] = (), location: str = "") -> None:
        """Store the members of an object as unmapped fields, for a lossless export.

        Args:
            members: the members of the object.
            represented: the names of members that an export writes from the record. They are only stored if the record
                has another value, for example because a long name was cut.
            location: the JSON pointer of the object.
        """
        stored_values = (self.key, *self.record.values(), *self.metadata.values())
        for name, value in members.items():
            is_in_record = name in represented and value in stored_values
            if not is_in_record:
                self.unmapped[f"{location}/{escape_pointer(str(name))}"] = value

    def keep_context(self, context: Any) -> None:
        """Store the context of a JSON-LD document, which defines the names in the unmapped fields."""
        if context is not None:
            self.unmapped.setdefault("/@context", context)

    def reject(self, location: str, code: str, **facts: Any) -> None:
        """Record a part of the document that was skipped."""
        self.rejected.append(RejectedPart(location, code, facts))

    def build(self) -> DatasetDocument:
        """Return the finished document.

        Raises:
            DocumentError: the dataset has no name.
        """
        if "dataset_name" not in self.record:
            if EXACT_VALUES not in self.unmapped:
                raise DocumentError("no_name", key=self.key)
            # The exact values replace this name later. They may contain one that readers would reject as a placeholder.
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
    """Return whether a value is finite, within the bounds of an attribute, and of its type."""
    if attribute in FLAGS:
        return isinstance(value, bool)
    if attribute not in NUMBERS or isinstance(value, bool) or not math.isfinite(value):
        return False
    if attribute == "year":
        # Announced datasets may be dated in the next year.
        return isinstance(value, int) and FIRST_YEAR <= value <= datetime.now(UTC).year + 1

    bounds = BY_NAME[attribute]
    if bounds.kind is Kind.INTEGER and not isinstance(value, int):
        return False
    is_large_enough = bounds.minimum is None or value >= bounds.minimum
    is_small_enough = bounds.maximum is None or value <= bounds.maximum
    return is_large_enough and is_small_enough


def read_or_reject(location: str, read: Callable[[], DatasetDocument]) -> DatasetDocument | RejectedPart:
    """Read one of several datasets, or return a rejection so that the others can still be read."""
    try:
        return read()
    except DocumentError as error:
        return RejectedPart(location, error.code, error.facts)


def pointer(*steps: str | int) -> str:
    """Join steps to a JSON pointer (RFC 6901)."""
    return "".join(f"/{escape_pointer(str(step))}" for step in steps)


def list_of_strings(value: Any) -> list[str]:
    """Return the non-blank strings in a value: a string, a list of strings, or an object with such values as members.

    Everything else is left out, including lists inside lists. Hugging Face cards contain objects: `license: {default:
    [mit, cc-by-4.0]}`.
    """
    if isinstance(value, str):
        return [value] if value.strip() else []
    if isinstance(value, Mapping):
        return list(chain.from_iterable(list_of_strings(member) for member in value.values()))
    if not isinstance(value, list):
        return []
    return [member for member in value if isinstance(member, str) and member.strip()]


def objects_of(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects in a list, or an empty list if the value is not a list."""
    if not isinstance(value, list):
        return []
    return [member for member in value if isinstance(member, Mapping)]


def parse_number(value: Any) -> int | float | None:
    """Convert a number, or a string such as `"32561.0"`, to an integer if possible, or else to a float.

    The result is None for flags, infinities, and anything else that is not a number.
    """
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


def parse_year(value: Any) -> int | None:
    """Return the year at the start or end of a date (`2014-04-06`, `6/30/1988`), or None."""
    date = str(value).strip()
    for candidate in (date[:4], date[-4:]):
        has_four_digits = candidate.isdigit() and len(candidate) == 4
        if has_four_digits and FIRST_YEAR <= int(candidate) <= LAST_YEAR:
            return int(candidate)
    return None
