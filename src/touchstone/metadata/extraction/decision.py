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
    """Decide between the findings of a document about one criterion; None if they show nothing.

    Findings may contradict each other. False then beats true, because what limits or harms people counts more. The
    exception is a criterion that asks whether something was done about a skew.
    """
    findings = list(findings)
    negative_findings = [finding for finding in findings if finding.rule.value is False]
    positive_findings = [finding for finding in findings if finding.rule.value is True and finding.rule.facet is None]
    partial_findings = [finding for finding in findings if finding.rule.facet is not None]

    # One finding may be enough for true, or several that each show a different facet of the criterion.
    affirmation = _first_claim(criterion, positive_findings) or _faceted_claim(criterion, partial_findings)
    affirmation_prevails = affirmation is not None and criterion in _ANSWERED_BY_TRUE

    if negative_findings and not affirmation_prevails:
        return _first_claim(criterion, negative_findings)
    return affirmation


def _first_claim(criterion: str, findings: list[Finding]) -> Claim | None:
    """Return the claim of the first finding, or None if there is none."""
    if not findings:
        return None
    finding = findings[0]
    return _claim(criterion, finding.rule.value, finding.sentence, finding.rule.note)


def _faceted_claim(criterion: str, findings: list[Finding]) -> Claim | None:
    """Claim a criterion of which a document shows enough facets; return None if it shows too few.

    Some criteria only hold if several things were described, which are their facets. The claim quotes the sentence
    that shows most of them, and its note lists all that the document shows.
    """
    shown_facets = {str(finding.rule.facet) for finding in findings}
    if criterion not in REQUIRED_FACETS or len(shown_facets) < REQUIRED_FACETS[criterion]:
        return None

    facets_by_sentence: dict[int, set[str]] = {}
    for finding in findings:
        facets_of_sentence = facets_by_sentence.setdefault(finding.sentence.position, set())
        facets_of_sentence.add(str(finding.rule.facet))

    richest = max(findings, key=lambda finding: len(facets_by_sentence[finding.sentence.position]))
    note = f"shown: {', '.join(sorted(shown_facets))}"
    return _claim(criterion, True, richest.sentence, note)


def _claim(criterion: str, value: bool, sentence: Sentence, note: str) -> Claim:
    """Return the claim that a sentence shows."""
    scope = scope_of(sentence.text) if criterion in CRITERIA_WITH_SCOPE else None
    return Claim(criterion, value, quote=sentence.quote, place=sentence.place, scope=scope, note=note)
