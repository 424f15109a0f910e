"""The type of the extraction rules, and the sets of objections that void them.

A rule is a pattern for sentences such as "all faces were blurred", and the value of a criterion that such a sentence
shows. The tables of rules are in `people_rules`, `stewardship_rules` and `origin_rules`.
"""

import re
from dataclasses import dataclass
from typing import Final

from touchstone.metadata.extraction.negations_and_plans import Objection

# Most rules apply only to plain assertions about this dataset: "faces were blurred", not "faces will be blurred".
ALL_OBJECTIONS: Final = frozenset(Objection)
# For rules whose pattern contains the negation itself ("no consent was obtained").
UNLESS_UNCERTAIN: Final = ALL_OBJECTIONS - {Objection.NEGATED}
# A standing rule counts although it is written in the future tense ("we will fix what is reported").
STANDING_RULE: Final = ALL_OBJECTIONS - {Objection.PLANNED, Objection.SUPPOSED, Objection.ANNOTATORS}
# The work of annotators counts for all criteria except consent, control and anonymization.
ABOUT_DATA: Final = ALL_OBJECTIONS - {Objection.ANNOTATORS}
ABOUT_DATA_NEGATIVE: Final = ABOUT_DATA - {Objection.NEGATED}

# Sections about files, contributors or examples on the hub, which say nothing about the origin of the data.
_SILENT_HEADINGS: Final = (
    r"table of contents|supported tasks|leaderboard|contributions|data instances|how to use|(?<!intended )usage"
    r"|related work|(?:previous|prior|other) work"
)
# A licence neither restricts purposes nor names a responsible party, and a citation only names authors.
_LEGAL_HEADINGS: Final = r"licen[cs]|citation|citing|references|acknowledg"

SILENT_HEADINGS: Final = re.compile(rf"\b(?:{_SILENT_HEADINGS})", re.IGNORECASE)
SILENT_OR_LEGAL_HEADINGS: Final = re.compile(rf"\b(?:{_SILENT_HEADINGS}|{_LEGAL_HEADINGS})", re.IGNORECASE)


def cue_pattern(pattern: str) -> re.Pattern[str]:
    """Compile the pattern of a rule, which ignores case and matches only at the start of a word."""
    return re.compile(rf"(?<!\w)(?:{pattern})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CueRule:
    """A pattern for sentences that show one value of one criterion.

    Attributes:
        criterion: the name of the ethical attribute.
        value: the value that a match shows.
        pattern: the pattern to search for in a sentence.
        note: the applied row of the codebook, shown beside the proposal.
        example: a sentence that the rule applies to.
        voided_by: the objections that void a match.
        unless: a pattern that rules out a sentence if it matches anywhere in it.
        under: the headings that the rule is limited to, or None for all headings.
        silent_under: the headings that the rule ignores.
        facet: the part of the criterion that a match shows, or None if a single match is enough.
    """

    criterion: str
    value: bool
    pattern: re.Pattern[str]
    note: str
    example: str
    voided_by: frozenset[Objection] = ALL_OBJECTIONS
    unless: re.Pattern[str] | None = None
    under: re.Pattern[str] | None = None
    silent_under: re.Pattern[str] = SILENT_OR_LEGAL_HEADINGS
    facet: str | None = None
