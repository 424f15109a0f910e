"""What a rule of the extractor is: words that show one value of one criterion."""

import re
from dataclasses import dataclass
from typing import Final

from touchstone.metadata.extraction.negations_and_plans import Objection

# Most rules accept only what is plainly asserted of this dataset.
ALL_OBJECTIONS: Final = frozenset(Objection)
# A rule whose words contain the negation themselves ("no consent was obtained").
UNLESS_UNCERTAIN: Final = ALL_OBJECTIONS - {Objection.NEGATED}
# A rule in force counts although it is written in the future ("we will fix what is reported").
STANDING_RULE: Final = ALL_OBJECTIONS - {Objection.PLANNED, Objection.SUPPOSED, Objection.ANNOTATORS}
# What annotators did to the data counts wherever consent, control and anonymisation are not the question.
ABOUT_DATA: Final = ALL_OBJECTIONS - {Objection.ANNOTATORS}
ABOUT_DATA_NEGATIVE: Final = ABOUT_DATA - {Objection.NEGATED}

# Passages that describe the hub's files, its contributors or an example, but not where the data come from.
_SILENT_HEADINGS: Final = (
    r"table of contents|supported tasks|leaderboard|contributions|data instances|how to use|(?<!intended )usage"
    r"|related work|(?:previous|prior|other) work"
)
# A licence is no agreement about purposes and no word on responsibility, and a citation names authors only.
_LEGAL_HEADINGS: Final = r"licen[cs]|citation|citing|references|acknowledg"

SILENT_HEADINGS: Final = re.compile(rf"\b(?:{_SILENT_HEADINGS})", re.IGNORECASE)
SILENT_OR_LEGAL_HEADINGS: Final = re.compile(rf"\b(?:{_SILENT_HEADINGS}|{_LEGAL_HEADINGS})", re.IGNORECASE)


def words(pattern: str) -> re.Pattern[str]:
    """Compile the pattern of a rule, which ignores case and starts at the beginning of a word."""
    return re.compile(rf"(?<!\w)(?:{pattern})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CueRule:
    """Words that show one value of one criterion.

    Attributes:
        criterion: the name of the ethical attribute.
        value: the value that the words show.
        pattern: the words.
        note: which row of the codebook the rule applies, for the reader of a proposal.
        voided_by: the objections under which the words show nothing.
        unless: words in the same sentence under which the rule does not apply.
        under: headings under which alone the rule applies, or None for all.
        silent_under: headings under which the rule does not apply.
        facet: the part of the criterion that the words show, if several parts are needed together.
    """

    criterion: str
    value: bool
    pattern: re.Pattern[str]
    note: str
    voided_by: frozenset[Objection] = ALL_OBJECTIONS
    unless: re.Pattern[str] | None = None
    under: re.Pattern[str] | None = None
    silent_under: re.Pattern[str] = SILENT_OR_LEGAL_HEADINGS
    facet: str | None = None
