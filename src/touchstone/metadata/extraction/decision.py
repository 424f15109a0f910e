"""Decide one value for each criterion from the cues that a document asserts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.metadata.documents import Claim
from touchstone.metadata.extraction.cues import CueRule
from touchstone.metadata.extraction.negations_and_plans import scope_of
from touchstone.metadata.extraction.origin_rules import TRANSPARENCY
from touchstone.metadata.extraction.people_rules import ANONYMIZATION, EQUITY, INFORMED_CONSENT, USER_CONTROL
from touchstone.metadata.extraction.sentences import Sentence
from touchstone.metadata.extraction.stewardship_rules import PURPOSE

# Criteria that need several parts: how many different ones.
REQUIRED_FACETS: Final[Mapping[str, int]] = {TRANSPARENCY: 2, PURPOSE: 2}
# Criteria about the people in the data, of whom annotators are only a part if they are the source of the data. For the
# others it does not matter whom a sentence names: the agreement of annotators documents the quality of the data.
CRITERIA_WITH_SCOPE: Final = frozenset({INFORMED_CONSENT, USER_CONTROL, ANONYMIZATION})
# A skew counts against a dataset only if nothing was done about it.
_ANSWERED_BY_TRUE: Final = frozenset({EQUITY})


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule together with the sentence in which its words are asserted."""

    rule: CueRule
    sentence: Sentence


def decide(criterion: str, findings: Iterable[Finding]) -> Claim | None:
    """Return the value that a document shows for one criterion, or None if it shows none.

    False beats true, because what limits or harms people wins. The exception is a skew about which something was
    done.
    """
    findings = list(findings)
    negative = [finding for finding in findings if finding.rule.value is False]
    positive = [finding for finding in findings if finding.rule.value is True and finding.rule.facet is None]
    facets = [finding for finding in findings if finding.rule.facet is not None]

    affirmation = _first_claim(criterion, positive) or _faceted_claim(criterion, facets)
    if negative and not (affirmation and criterion in _ANSWERED_BY_TRUE):
        return _first_claim(criterion, negative)
    return affirmation


def _first_claim(criterion: str, findings: list[Finding]) -> Claim | None:
    """Return the claim of the first finding, or None if there is none."""
    if not findings:
        return None
    finding = findings[0]
    return _claim(criterion, finding.rule.value, finding.sentence, finding.rule.note)


def _faceted_claim(criterion: str, findings: list[Finding]) -> Claim | None:
    """Return the claim that follows from several parts together, or None if too few are shown.

    The quote is the sentence that shows most parts; the note names the parts that the document shows.
    """
    shown = {str(finding.rule.facet) for finding in findings}
    if criterion not in REQUIRED_FACETS or len(shown) < REQUIRED_FACETS[criterion]:
        return None

    facets_by_sentence: dict[int, set[str]] = {}
    for finding in findings:
        facets_by_sentence.setdefault(finding.sentence.position, set()).add(str(finding.rule.facet))
    best = max(findings, key=lambda finding: len(facets_by_sentence[finding.sentence.position]))

    return _claim(criterion, True, best.sentence, f"shown: {', '.join(sorted(shown))}")


def _claim(criterion: str, value: bool, sentence: Sentence, note: str) -> Claim:
    """Return the claim that a sentence shows."""
    scope = scope_of(sentence.text) if criterion in CRITERIA_WITH_SCOPE else None
    return Claim(criterion, value, quote=sentence.quote, place=sentence.place, scope=scope, note=note)
