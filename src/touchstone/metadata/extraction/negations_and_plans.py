"""Find objections to a cue: it may be negated, planned, hypothetical, or about another dataset.

"Consent was obtained" is a cue for informed consent. It asserts nothing in "it is unclear whether consent was
obtained".
"""

import re
from enum import StrEnum
from typing import Final

from touchstone.metadata.documents import Scope


class Objection(StrEnum):
    """A reason why a match of a rule may not assert its value."""

    QUESTION = "question"
    NEGATED = "negated"
    PLANNED = "planned"
    SUPPOSED = "supposed"
    OTHER_DATASET = "about another dataset"
    ANNOTATORS = "scope: annotators"


# The number of characters before a cue in which a negation can apply to it.
_MAX_NEGATION_DISTANCE: Final = 60

_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|cannot|without|none|neither|nor|nobody|nothing|hardly|lacks?|lacking|unable|failed to|free of"
    r"|instead of|rather than|impossible|yet to be)\b|n['’]t\b",
    re.IGNORECASE,
)
# Phrases that contain a negation word, but negate nothing.
_FALSE_NEGATION: Final = re.compile(
    r"\bnot only\b|\bno longer than\b|\bnot (?:just|merely|limited)\b|\bno\. ?\d|\bnon-|\bwhether or not\b",
    re.IGNORECASE,
)
# "The data will be anonymised", "a future release".
_PLAN: Final = re.compile(
    r"\b(?:will|shall|going to|plans? to|planned|planning to|intends? to|intention to|aims? to|aiming to|hopes? to"
    r"|hoping to|would like to|future (?:work|versions?|releases?|updates?)|in (?:the )?future|upcoming"
    r"|to be (?:released|added|published|determined|done|made))\b|['’]ll\b",
    re.IGNORECASE,
)
# "If consent was obtained", "errors may remain".
_SUPPOSITION: Final = re.compile(
    r"\b(?:if|unless|in case|provided that|as long as|may|might|could|would|should|ought to|possibl[ey]|perhaps"
    r"|potential(?:ly)?|presumably|probably|likely|hypothetical(?:ly)?|whether|wherever possible|suppose)\b",
    re.IGNORECASE,
)
# Where a clause begins, which a negation or condition before it does not govern: "It is not large, but it was checked".
_CLAUSE_BREAK: Final = re.compile(r"[;:]|, (?:but|although|though|while|whereas|however|so|and)\b|\bbut\b|\) ")
# "Existing corpora were not checked", "the model was trained", "unlike ImageNet".
_OTHER_DATASET: Final = re.compile(
    r"\b(?:other|previous|prior|existing|earlier|similar|related|preceding|competing|most|many|traditional|current)"
    r" (?:[\w-]+ ){0,3}(?:data ?sets?|data ?bases?|corpora|corpus|benchmarks?|resources|collections?|approaches|methods"
    r"|models?|systems?|work|works|studies|research|papers?)\b"
    r"|\b(?:our|the|this|a|these) (?:[\w-]+ ){0,2}(?:models?|classifiers?|systems?|websites?|platform|app|library"
    r"|software) (?:is|are|was|were|has|have|can|achieves?|performs?|shows?)\b"
    r"|\b(?:unlike|in contrast (?:to|with)|compared (?:to|with)|as opposed to)\b",
    re.IGNORECASE,
)
_ANNOTATORS: Final = re.compile(
    r"\b(?:annotators?|crowd ?-?workers?|crowdsource(?:d )?workers?|mturk(?:ers)?|turkers?|raters?|labell?ers?|judges"
    r"|evaluators?|reviewers of the data|coders?|workers?|worker ?ids?|annotator_?ids?)\b",
    re.IGNORECASE,
)
_SUBJECTS: Final = re.compile(
    r"\b(?:speakers?|patients?|users?|authors?|participants?|subjects?|individuals?|people|persons?|contributors?"
    r"|donors?|volunteers?|respondents?|customers?|consumers?|interviewees?|personal(?:ly)?|names?|user ?names?|faces?"
    r"|tweets?|posts?|demographics)\b",
    re.IGNORECASE,
)


def objections_to(text: str, cue: re.Match[str]) -> set[Objection]:
    """Return the objections to a cue.

    Args:
        text: the sentence.
        cue: the match of a rule in it.
    """
    clause_before = _clause_before(text, cue.start())
    clause = clause_before + cue.group()
    negatable_part = clause_before[-_MAX_NEGATION_DISTANCE:] + cue.group()

    objections = set()
    if text.rstrip("\"'”’)* ").endswith("?"):
        objections.add(Objection.QUESTION)
    if _NEGATION.search(_FALSE_NEGATION.sub(" ", negatable_part)):
        objections.add(Objection.NEGATED)
    if _PLAN.search(clause):
        objections.add(Objection.PLANNED)
    if _SUPPOSITION.search(clause):
        objections.add(Objection.SUPPOSED)
    if _OTHER_DATASET.search(text[: cue.end()]):
        objections.add(Objection.OTHER_DATASET)
    if scope_of(text) is Scope.ANNOTATORS:
        objections.add(Objection.ANNOTATORS)
    return objections


def scope_of(text: str) -> Scope | None:
    """Return the group of people that a sentence mentions, or None.

    If it mentions both, the subjects of the data count: raters whose own answers are the data belong to both groups.
    """
    if _SUBJECTS.search(text):
        return Scope.SUBJECTS
    if _ANNOTATORS.search(text):
        return Scope.ANNOTATORS
    return None


def _clause_before(text: str, position: int) -> str:
    """Return the part of the clause before `position`, where negations and conditions are looked for."""
    before = text[:position]
    clause_start = 0
    for clause_break in _CLAUSE_BREAK.finditer(before):
        clause_start = clause_break.end()
    return before[clause_start:]
