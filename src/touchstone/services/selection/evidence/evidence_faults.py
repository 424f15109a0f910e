"""Detects quotes that do not support their claim, such as placeholders, bare headings and licences."""

import re
from enum import StrEnum
from typing import Final

from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import EvidenceLevel
from touchstone.metadata.extraction.uninformative_sentences import states_nothing
from touchstone.metadata.licences import normalize_licence
from touchstone.metadata.placeholders import BRACKETED_PLACEHOLDER, is_placeholder
from touchstone.services.selection.evidence.claim_records import ClaimRecord

EQUITY: Final = "equity_non_discrimination"
PURPOSE: Final = "purpose_limitation_respected"

# Headings about fairness in common templates. A heading alone does not state that the dataset is fair.
_HEADINGS_ABOUT_EQUITY: Final = frozenset(
    {"discussion of biases", "biases", "bias", "social impact of dataset", "social impact", "fairness", "databiases",
     "bias risks and limitations", "considerations for using the data", "demographic information", "diversity",
     "ethical considerations", "other known limitations", "equity", "non discrimination", "discussion of bias"}
)  # fmt: skip
_LICENCE_FIELD: Final = re.compile(r"licen[cs]|copyright|\brights\b|terms of use", re.IGNORECASE)
_LICENCE_WORDS: Final = re.compile(
    r"\blicen[cs]e[sd]?\b|\blicensing\b|\bpublic domain\b|\bcreative commons\b|\bcc0\b|\bcc[- ]by\b|\bcopyright\w*\b"
    r"|\b(?:for|by) (?:any|all|both|non-?commercial|commercial)[\w ,-]{0,40}\bpurposes?\b",
    re.IGNORECASE,
)
_AGREEMENT: Final = re.compile(r"\bagreements?\b|\bagree(?:s|d)? (?:to|that|not)\b", re.IGNORECASE)
_NOT_A_WORD: Final = re.compile(r"[\W_]+")


class EvidenceFault(StrEnum):
    """A kind of fault in the evidence for a claim."""

    PLACEHOLDER = "placeholder_as_evidence"
    BARE_HEADING = "equity_from_a_bare_heading"
    LICENCE = "purpose_from_a_licence"
    NO_QUOTE = "documented_without_a_quote"
    NO_SOURCE = "documented_without_a_source"
    QUOTE_NOT_IN_SOURCE = "quote_not_in_its_source"


FAULT_TITLES: Final = {
    EvidenceFault.PLACEHOLDER: "placeholders used as evidence",
    EvidenceFault.BARE_HEADING: "equity claims from a bare heading",
    EvidenceFault.LICENCE: "purpose claims from a licence",
    EvidenceFault.NO_QUOTE: "documented claims without a quote",
    EvidenceFault.NO_SOURCE: "documented claims without a source",
    EvidenceFault.QUOTE_NOT_IN_SOURCE: "quotes that are not in their source",
}


def find_faults(claim: ClaimRecord) -> list[EvidenceFault]:
    """Return the faults in the evidence for a claim that can be detected without its source document."""
    faults = []

    # Documented claims require a quote and an identifiable source.
    is_documented = claim.level is EvidenceLevel.DOCUMENTED
    has_source = claim.source is not None and bool(claim.source.sha256)
    if is_documented and not claim.quote:
        faults.append(EvidenceFault.NO_QUOTE)
    if is_documented and not has_source:
        faults.append(EvidenceFault.NO_SOURCE)

    if not claim.quote:
        return faults

    if is_uninformative(claim.attribute, claim.quote):
        faults.append(EvidenceFault.PLACEHOLDER)
    if claim.attribute == EQUITY and is_bare_heading(claim.quote, claim.place):
        faults.append(EvidenceFault.BARE_HEADING)
    if claim.attribute == PURPOSE and is_licence(claim.quote, claim.place, claim.field):
        faults.append(EvidenceFault.LICENCE)
    return faults


def is_uninformative(attribute: str, quote: str) -> bool:
    """Return whether a quote is a placeholder or, for an ethical attribute, states nothing.

    Quotes for ethical attributes are prose, so they have to contain a statement rather than, for example, an
    instruction of a template. Quotes for other attributes may be a mere number, name or category such as `unknown`.
    """
    if is_placeholder(quote) or has_placeholder(quote):
        return True
    return attribute in ETHICAL and states_nothing(quote)


def has_placeholder(quote: str) -> bool:
    """Return whether a quote contains a placeholder in brackets. Links such as `[email](…)` are not placeholders."""
    placeholders = BRACKETED_PLACEHOLDER.finditer(quote)
    return any(not quote.startswith("(", placeholder.end()) for placeholder in placeholders)


def is_bare_heading(quote: str, place: str | None) -> bool:
    """Return whether a quote is a mere heading without any statement.

    Args:
        quote: the quote of a claim.
        place: the location of the quote, with headings separated by " > " or "/", or None.
    """
    lines = quote.strip().splitlines()
    if len(lines) != 1:
        return False
    if quote.lstrip().startswith("#"):
        return True

    title = _normalize_words(quote)
    headings_of_place = {_normalize_words(heading) for heading in re.split(r" > |/", place or "")}
    return title in _HEADINGS_ABOUT_EQUITY or title in headings_of_place


def is_licence(quote: str, place: str | None, field: str | None) -> bool:
    """Return whether a quote is a licence or a public-domain notice.

    An agreement that users must sign to get the data is not a licence, because it can restrict the purpose.

    Args:
        quote: the quote of a claim.
        place: the location of the quote, such as the headings above it, or None.
        field: the field of the metadata standard that contains the quote, or None.
    """
    if _AGREEMENT.search(quote):
        return False

    is_in_licence_section = _LICENCE_FIELD.search(f"{place or ''} {field or ''}") is not None
    mentions_licence = _LICENCE_WORDS.search(quote) is not None
    return is_in_licence_section or mentions_licence or normalize_licence(quote).spdx is not None


def _normalize_words(text: str) -> str:
    """Return the words of a string in lower case, separated by single spaces."""
    return _NOT_A_WORD.sub(" ", text).strip().casefold()
