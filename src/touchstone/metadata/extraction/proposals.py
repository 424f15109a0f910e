"""Propose the values of the ten ethical criteria from the prose of a document."""

from collections.abc import Iterable, Iterator
from typing import Final

from touchstone.core.attributes import ETHICAL
from touchstone.metadata.documents import Claim, Section
from touchstone.metadata.extraction.contacts import ACCOUNTABILITY, accountability_claims
from touchstone.metadata.extraction.cues import CueRule
from touchstone.metadata.extraction.decision import Finding, decide
from touchstone.metadata.extraction.negations_and_plans import objections_to
from touchstone.metadata.extraction.origin_rules import ORIGIN_RULES
from touchstone.metadata.extraction.passages import PassageKind
from touchstone.metadata.extraction.people_rules import PEOPLE_RULES
from touchstone.metadata.extraction.sentences import Sentence, read_sentences
from touchstone.metadata.extraction.stewardship_rules import STEWARDSHIP_RULES
from touchstone.metadata.extraction.uninformative_sentences import refers_elsewhere

RULES: Final = (*PEOPLE_RULES, *STEWARDSHIP_RULES, *ORIGIN_RULES)


def propose_claims(sections: Iterable[Section]) -> list[Claim]:
    """Propose values for the ethical criteria that a document clearly answers, in the order of the criteria.

    There is at most one proposal for each criterion, and none if the document is silent or ambiguous. Every quote
    appears verbatim in the text of its section.
    """
    sentences = read_sentences(sections)
    findings = list(_findings(sentences))

    claims = []
    for criterion in ETHICAL:
        if criterion == ACCOUNTABILITY:
            claim = _accountability_claim(sentences)
        else:
            findings_on_criterion = [finding for finding in findings if finding.rule.criterion == criterion]
            claim = decide(criterion, findings_on_criterion)
        if claim is not None:
            claims.append(claim)
    return claims


def _accountability_claim(sentences: list[Sentence]) -> Claim | None:
    """Return the first claim that nobody is responsible, or the first one that names a responsible party, or None."""
    claims = accountability_claims(sentences)
    denials = [claim for claim in claims if claim.value is False]
    return next(iter(denials or claims), None)


def _findings(sentences: list[Sentence]) -> Iterator[Finding]:
    """Yield a finding for each pair of a rule and a sentence that asserts it."""
    for sentence in sentences:
        if refers_elsewhere(sentence.text):
            continue
        for rule in RULES:
            if _asserts(sentence, rule):
                yield Finding(rule, sentence)


def _asserts(sentence: Sentence, rule: CueRule) -> bool:
    """Return whether a sentence asserts the value of a rule about this dataset.

    A match of the pattern is not enough: its heading can change the meaning, and it may be negated, planned, or about
    another dataset.
    """
    # The heading "Citation" does not apply to the abstract inside a citation.
    if sentence.kind is not PassageKind.ABSTRACT and rule.silent_under.search(sentence.headings):
        return False
    if rule.under is not None and not rule.under.search(sentence.headings):
        return False

    cue = rule.pattern.search(sentence.text)
    if cue is None:
        return False
    if rule.unless is not None and rule.unless.search(sentence.text):
        return False

    voiding_objections = objections_to(sentence.text, cue) & rule.voided_by
    return not voiding_objections
