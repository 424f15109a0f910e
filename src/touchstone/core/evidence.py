"""Levels of evidence, and the resulting evidence about an attribute."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, TypeAlias

import msgspec

from touchstone.core.attributes import FLAGS, NUMBERS

ClaimValue: TypeAlias = bool | int | float | None

CLAIMED_ATTRIBUTES: Final = (*FLAGS, *NUMBERS)
"""The attributes that can have claims: sixteen flags and five numbers."""


class EvidenceLevel(StrEnum):
    """The strength of the evidence for a claim, from the weakest level to the strongest."""

    DECLARED = "declared"
    """Stated by a user without evidence."""
    DOCUMENTED = "documented"
    """Supported by a verbatim quote from a document that a curator or the service imported from a named source."""
    MEASURED = "measured"
    """Computed from the data file."""
    REVIEWED = "reviewed"
    """Confirmed by a curator who has read the evidence."""

    @property
    def strength(self) -> int:
        """The position of the level, beginning at 0 for the weakest.

        The strongest of conflicting claims wins.
        """
        return list(EvidenceLevel).index(self)

    def counts_at(self, assurance: "Assurance") -> bool:
        """Return whether claims of this level count at an assurance. Measured claims always count."""
        if self is EvidenceLevel.MEASURED:
            return True
        return self.strength >= EvidenceLevel(assurance.value).strength


class Assurance(StrEnum):
    """The weakest level of evidence that a reader of the catalog accepts."""

    DECLARED = "declared"
    DOCUMENTED = "documented"
    REVIEWED = "reviewed"


class AttributeEvidence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The combined evidence of all claims about one attribute of one dataset.

    Attributes:
        level: the level of the claim that determines the value at the assurance `declared`, which records show.
        declared: the value declared by the creator of the record, even if a stronger claim overrides it.
        documented: the value at the assurance `documented`, or None if no claim counts at this assurance.
        reviewed: the value at the assurance `reviewed`, or None if no claim counts at this assurance.
        stricter_level: the level of the claim that determines the value at assurances above `declared`, or None if it
            is equal to `level`. It only differs if the record shows another value.
    """

    level: EvidenceLevel
    declared: ClaimValue = None
    documented: ClaimValue = None
    reviewed: ClaimValue = None
    stricter_level: EvidenceLevel | None = None

    def value_at(self, assurance: Assurance, shown_value: ClaimValue) -> ClaimValue:
        """Return the value at an assurance, where `shown_value` is the value that the record shows."""
        if assurance is Assurance.DECLARED:
            return shown_value
        return self.documented if assurance is Assurance.DOCUMENTED else self.reviewed

    def level_at(self, assurance: Assurance) -> EvidenceLevel:
        """Return the level of the claim that determines the value at an assurance."""
        if assurance is Assurance.DECLARED or self.stricter_level is None:
            return self.level
        return self.stricter_level


EvidenceByAttribute: TypeAlias = Mapping[str, AttributeEvidence]
"""The evidence by attribute. Attributes without an entry are only declared by the creator of the record."""
