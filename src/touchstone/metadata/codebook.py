"""The codebook: a table that says what each ethical criterion asks and when it is met.

The extractor, the pages, the documentation and the review form read it. The sentences are defined in
`touchstone.messages.codebook`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.core.attributes import ETHICAL
from touchstone.messages.codebook import DEFINITIONS, NOT_EVIDENCE, WHEN_FALSE, WHEN_TRUE
from touchstone.messages.locales import Text


@dataclass(frozen=True, slots=True)
class CriterionRule:
    """The rule of one criterion, in French and English.

    Attributes:
        name: the name of the ethical attribute.
        definition: what the criterion asks.
        when_true: what a document must show for the criterion to be met.
        when_false: what a document must say for the criterion not to be met.
        not_evidence: what looks like evidence and leaves the criterion unknown.
    """

    name: str
    definition: Text
    when_true: Text
    when_false: Text
    not_evidence: Text


CODEBOOK: Final[Mapping[str, CriterionRule]] = {
    name: CriterionRule(name, DEFINITIONS[name], WHEN_TRUE[name], WHEN_FALSE[name], NOT_EVIDENCE[name])
    for name in ETHICAL
}
