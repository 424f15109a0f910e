"""The codebook has a rule for every ethical criterion, in both languages."""

import pytest

from touchstone.core.attributes import ETHICAL
from touchstone.messages.codebook import GENERAL_RULES
from touchstone.metadata.codebook import CODEBOOK
from touchstone.metadata.extraction.contacts import ACCOUNTABILITY
from touchstone.metadata.extraction.cues import CueRule
from touchstone.metadata.extraction.negations_and_plans import objections_to
from touchstone.metadata.extraction.proposals import RULES


def test_every_ethical_criterion_has_a_rule() -> None:
    assert tuple(CODEBOOK) == ETHICAL
    assert {rule.criterion for rule in RULES} | {ACCOUNTABILITY} == set(ETHICAL)


@pytest.mark.parametrize("name", ETHICAL)
def test_a_rule_is_written_in_both_languages(name: str) -> None:
    rule = CODEBOOK[name]
    for french, english in (rule.definition, rule.when_true, rule.when_false, rule.not_evidence, *GENERAL_RULES):
        assert french
        assert english
        assert french != english


@pytest.mark.parametrize("name", [name for name in ETHICAL if name != ACCOUNTABILITY])
def test_every_criterion_can_be_shown_and_denied(name: str) -> None:
    assert {rule.value for rule in RULES if rule.criterion == name} == {True, False}


@pytest.mark.parametrize("rule", RULES, ids=[rule.example for rule in RULES])
def test_a_rule_of_the_extractor_applies_to_its_example(rule: CueRule) -> None:
    cue = rule.pattern.search(rule.example)
    assert cue is not None
    assert not objections_to(rule.example, cue) & rule.voided_by
    assert rule.unless is None or rule.unless.search(rule.example) is None
