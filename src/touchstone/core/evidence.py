"""Levels of evidence, and what the claims about an attribute amount to."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeAlias

import msgspec

from touchstone.core.attributes import FLAGS, NUMBERS

ClaimValue: TypeAlias = bool | int | float | None

CLAIMED_ATTRIBUTES: Final = (*FLAGS, *NUMBERS)
"""The attributes about which there are claims: sixteen flags and five numbers."""


class EvidenceLevel(StrEnum):
    """How well a claim is supported, from the weakest to the strongest."""

    DECLARED = "declared"
    """Somebody says so."""
    DOCUMENTED = "documented"
    """A verbatim quote from a document that a curator or the service imported from a named source."""
    MEASURED = "measured"
    """Computed from the data file."""
    REVIEWED = "reviewed"
    """Confirmed by a curator who has read the evidence."""

    @property
    def strength(self) -> int:
        """The position of the level, 0 for the weakest; of conflicting claims, those of the strongest level win."""
        return list(EvidenceLevel).index(self)

    def counts_at(self, assurance: "Assurance") -> bool:
        """Return whether claims of this level count at an assurance; measured claims count at every one."""
        if self is EvidenceLevel.MEASURED:
            return True
        return self.strength >= EvidenceLevel(assurance.value).strength


class Assurance(StrEnum):
    """The weakest level of evidence that a reader of the catalog accepts."""

    DECLARED = "declared"
    DOCUMENTED = "documented"
    REVIEWED = "reviewed"


class AttributeEvidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What all claims about one attribute of one dataset amount to.

    Attributes:
        level: the level of the claim that decides the value at the assurance `declared`, which records show.
        declared: the value that the creator of the record declares, even if a stronger claim overrides it.
        documented: the value at the assurance `documented`; None if no claim of that level counts.
        reviewed: the value at the assurance `reviewed`; None if no claim of that level counts.
        stricter_level: the level of the claim that decides the value at the assurances above `declared`; None if it is
            `level`, which it is unless the record shows another value.
    """

    level: EvidenceLevel
    declared: ClaimValue = None
    documented: ClaimValue = None
    reviewed: ClaimValue = None
    stricter_level: EvidenceLevel | None = None

    def value_at(self, assurance: Assurance, shown_value: ClaimValue) -> ClaimValue:
        """Return the value at an assurance; `shown_value` is the one that the record shows."""
        if assurance is Assurance.DECLARED:
            return shown_value
        return self.documented if assurance is Assurance.DOCUMENTED else self.reviewed

    def level_at(self, assurance: Assurance) -> EvidenceLevel:
        """Return the level of the claim that decides the value at an assurance."""
        if assurance is Assurance.DECLARED or self.stricter_level is None:
            return self.level
        return self.stricter_level


EvidenceByAttribute: TypeAlias = Mapping[str, AttributeEvidence]
"""The evidence about the attributes of a dataset; an attribute without an entry is declared by the record's creator."""
