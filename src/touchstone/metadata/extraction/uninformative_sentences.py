"""Recognition of sentences that state nothing about a dataset: template instructions and references."""

import re
from typing import Final

from touchstone.metadata.placeholders import is_placeholder

# How instructions and questions begin in templates of dataset cards and datasheets.
_INSTRUCTION: Final = re.compile(
    r"^\W*(?:"
    r"(?:briefly )?(?:describe|summari[sz]e|explain|provide|state|list|specify|discuss|indicate|mention|identify) "
    r"(?:the|whether|any|how|what|who|why|all|here|if|your|each|some|people|who)\b"
    r"|if (?:you|the (?:data|dataset|annotations?)|applicable|available|possible|known|so|not|any|there (?:is|are))\b"
    r".{0,200}\b(?:describe|provide|state|explain|list|specify|include|link)\b"
    r"|(?:add|insert|put|fill in|write|give) (?:the|your|a|an|here|some|any)\b"
    r"|(?:what|who|how|why|where|when|which|does|do|is|are|was|were|has|have|did|will|can)\b.{0,400}\?\W*$"
    r"|for each (?:field|example|instance), (?:describe|provide|indicate)\b"
    r"|this section (?:should|describes|is for)\b"
    r")",
    re.IGNORECASE,
)
# "For more information, see the paper", "Please refer to the website".
_REFERENCE_ELSEWHERE: Final = re.compile(
    r"^\W*(?:for (?:more|further|additional|detailed|any|full) (?:information|details?|explanations?)\b|"
    r"(?:please|pls|kindly)?,? ?(?:refer|see|check|read|visit|consult|look|cf\.?)\b"
    r"|more (?:information|details?) (?:is|are|can)\b)",
    re.IGNORECASE,
)


def states_nothing(sentence: str) -> bool:
    """Return whether a sentence is a placeholder, a template instruction, or has no letters."""
    has_letters = any(character.isalpha() for character in sentence)
    return not has_letters or is_placeholder(sentence) or _INSTRUCTION.match(sentence) is not None


def refers_elsewhere(sentence: str) -> bool:
    """Return whether a sentence begins by referring the reader to a paper or page."""
    return _REFERENCE_ELSEWHERE.match(sentence) is not None
