"""Checks of the quotes that claims rest on: placeholders, bare headings, and licences taken for purposes."""

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

# Headings of the usual templates, under which documents speak of fairness or do not.
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
    """What is wrong with the evidence for a claim."""

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
    """Return the faults in the evidence for a claim that can be found without its source document."""
    faults = []

    # A documented claim needs a quote and a source that can be identified.
    is_documented = claim.level is EvidenceLevel.DOCUMENTED
    has_source = claim.source is not None and bool(claim.source.sha256)
    if is_documented and not claim.quote:
        faults.append(EvidenceFault.NO_QUOTE)
    if is_documented and not has_source:
        faults.append(EvidenceFault.NO_SOURCE)

    if not claim.quote:
        return faults

    if is_no_statement(claim.attribute, claim.quote):
        faults.append(EvidenceFault.PLACEHOLDER)
    if claim.attribute == EQUITY and is_bare_heading(claim.quote, claim.place):
        faults.append(EvidenceFault.BARE_HEADING)
    if claim.attribute == PURPOSE and is_licence(claim.quote, claim.place, claim.field):
        faults.append(EvidenceFault.LICENCE)
    return faults


def is_no_statement(attribute: str, quote: str) -> bool:
    """Return whether a quote is what a template leaves where an answer belongs.

    The quotes of ethical criteria are prose, so a template's instruction or a text without words states nothing either.
    Those of other attributes may be a number, a name or a word such as `unknown` in a list of categories.
    """
    if is_placeholder(quote) or has_placeholder(quote):
        return True
    return attribute in ETHICAL and states_nothing(quote)


def has_placeholder(quote: str) -> bool:
    """Return whether a placeholder in brackets stands in a quote; the text of a link, `[email](…)`, is none."""
    placeholders = BRACKETED_PLACEHOLDER.finditer(quote)
    return any(not quote.startswith("(", placeholder.end()) for placeholder in placeholders)


def is_bare_heading(quote: str, place: str | None) -> bool:
    """Return whether a quote is only the heading under which a statement could stand."""
    lines = quote.strip().splitlines()
    if len(lines) != 1:
        return False
    words = _simplify(quote)
    headings = {_simplify(step) for step in re.split(r" > |/", place or "")}
    return quote.lstrip().startswith("#") or words in _HEADINGS_ABOUT_EQUITY or words in headings


def is_licence(quote: str, place: str | None, field: str | None) -> bool:
    """Return whether a quote is a licence or a notice of the public domain.

    An agreement that somebody has to enter into before getting the data is none.
    """
    if _AGREEMENT.search(quote):
        return False
    stands_under_licence = _LICENCE_FIELD.search(f"{place or ''} {field or ''}") is not None
    return stands_under_licence or _LICENCE_WORDS.search(quote) is not None or normalize_licence(quote).spdx is not None


def _simplify(text: str) -> str:
    """Return the words of a text in lower case, separated by spaces."""
    return _NOT_A_WORD.sub(" ", text).strip().casefold()
