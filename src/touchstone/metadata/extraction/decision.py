"""Decide one value for each criterion from the sentences of a document that match a rule."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from touchstone.metadata.documents import Claim
from touchstone.metadata.extraction.cues import CueRule
from touchstone.metadata.extraction.negations_and_plans import scope_of
from touchstone.metadata.extraction.origin_rules import TRANSPARENCY
from touchstone.metadata.extraction.people_rules import ANONYMIZATION, EQUITY, INFORMED_CONSENT, USER_CONTROL
from touchstone.metadata.extraction.sentences import Sentence, joint_quote
from touchstone.metadata.extraction.stewardship_rules import PURPOSE

# A facet is a part of a criterion that is not enough by itself. These criteria need several different facets. For
# transparency, for example, a document that states the source of the data must also state the procedure, the makers or
# the processing.
REQUIRED_FACETS: Final[Mapping[str, int]] = {TRANSPARENCY: 2, PURPOSE: 2}
# Criteria about the people in the data, so their claims state whether a sentence is about subjects or annotators. For
# other criteria this makes no difference: agreement between annotators does document the quality of the data.
CRITERIA_WITH_SCOPE: Final = frozenset({INFORMED_CONSENT, USER_CONTROL, ANONYMIZATION})
# Criteria whose positive findings prevail: a skew counts against a dataset only if nothing was done about it.
_CRITERIA_WHERE_TRUE_PREVAILS: Final = frozenset({EQUITY})


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule, and a sentence that asserts what the rule looks for."""

    rule: CueRule
    sentence: Sentence


def decide(criterion: str, findings: Iterable[Finding]) -> Claim | None:
    """Combine the findings about one criterion into a claim, or return None if they are not sufficient.

    If findings contradict each other, false prevails, because a harm weighs more. The exception is fairness, where an
    action against a skew prevails over the skew.
    """
    findings = list(findings)
    negative_findings = [finding for finding in findings if finding.rule.value is False]
    positive_findings = [finding for finding in findings if finding.rule.value is True and finding.rule.facet is None]

    # True needs one positive finding, or several findings with different facets.
    positive_claim = _first_claim(criterion, positive_findings) or _faceted_claim(criterion, findings)
    if not negative_findings:
        return positive_claim
    if positive_claim is not None and criterion in _CRITERIA_WHERE_TRUE_PREVAILS:
        return positive_claim
    return _first_claim(criterion, negative_findings)


def _first_claim(criterion: str, findings: list[Finding]) -> Claim | None:
    """Return the claim of the first finding, or None if the list is empty."""
    if not findings:
        return None
    finding = findings[0]
    return _claim(criterion, finding.rule.value, finding.sentence, finding.rule.note)


def _faceted_claim(criterion: str, findings: list[Finding]) -> Claim | None:
    """Return a positive claim if the findings together show enough facets of a criterion, or None.

    The claim quotes the sentence with the most facets. If it does not show enough of them, the quote also has the
    sentence before or after it if that one shows another facet. The note lists all facets in the document.
    """
    facets_by_sentence: defaultdict[Sentence, set[str]] = defaultdict(set)
    for finding in findings:
        if finding.rule.facet is not None:
            facets_by_sentence[finding.sentence].add(finding.rule.facet)

    shown_facets = set().union(*facets_by_sentence.values())
    required_count = REQUIRED_FACETS.get(criterion)
    if required_count is None or len(shown_facets) < required_count:
        return None

    best_sentence = max(facets_by_sentence, key=lambda sentence: len(facets_by_sentence[sentence]))
    note = f"shown: {', '.join(sorted(shown_facets))}"
    claim = _claim(criterion, True, best_sentence, note)

    if len(facets_by_sentence[best_sentence]) >= required_count:
        return claim
    quote = _quote_with_another_facet(best_sentence, facets_by_sentence)
    return claim if quote is None else replace(claim, quote=quote)


def _quote_with_another_facet(sentence: Sentence, facets_by_sentence: Mapping[Sentence, set[str]]) -> str | None:
    """Return a sentence together with the one before or after it, or None if neither shows another facet."""
    for other, facets in facets_by_sentence.items():
        if facets <= facets_by_sentence[sentence]:
            continue
        first, second = sorted((sentence, other), key=lambda neighbor: neighbor.position)
        quote = joint_quote(first, second)
        if quote is not None:
            return quote
    return None


def _claim(criterion: str, value: bool, sentence: Sentence, note: str) -> Claim:
    """Return a claim that quotes a sentence."""
    scope = scope_of(sentence.text) if criterion in CRITERIA_WITH_SCOPE else None
    return Claim(criterion, value, quote=sentence.quote, place=sentence.place, scope=scope, note=note)
