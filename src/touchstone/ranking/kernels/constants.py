"""The numbers by which kernels know criteria, flags and number columns, derived from CRITERIA and ATTRIBUTES."""

from typing import Final, NamedTuple

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES

FLOAT32_TOLERANCE: Final = 4e-6
"""More than a sum of twelve products in float32 can differ from the exact score."""


class FlagState(NamedTuple):
    """A flag that is known to have a value."""

    flag: str
    value: bool


FLAG_STATES: Final = (
    FlagState("metadata_provided_with_dataset", True),
    FlagState("external_documentation_available", True),
    FlagState("is_split", True),
    FlagState("has_missing_values", False),
    FlagState("has_missing_values", True),
    FlagState("anonymization_applied", True),
    FlagState("transparency", True),
    FlagState("informed_consent", True),
)
"""The states that criteria look at one by one: each has a bit in the flag byte of a record, the lowest bit first."""


def _flag_bit(flag: str, value: bool) -> int:
    """Return the mask of the bit that stands for a state of a flag in the flag byte of a record."""
    return 1 << FLAG_STATES.index(FlagState(flag, value))


METADATA_PROVIDED: Final = _flag_bit("metadata_provided_with_dataset", True)
EXTERNAL_DOCUMENTATION: Final = _flag_bit("external_documentation_available", True)
IS_SPLIT: Final = _flag_bit("is_split", True)
NO_MISSING_VALUES: Final = _flag_bit("has_missing_values", False)
HAS_MISSING_VALUES: Final = _flag_bit("has_missing_values", True)

ETHICAL_SCORE: Final = CRITERION_NAMES.index("ethical_score")
TECHNICAL_SCORE: Final = CRITERION_NAMES.index("technical_score")
POPULARITY_SCORE: Final = CRITERION_NAMES.index("popularity_score")
DATA_QUALITY: Final = CRITERION_NAMES.index("data_quality")
INSTANCES_COUNT: Final = CRITERION_NAMES.index("instances_count")
FEATURES_COUNT: Final = CRITERION_NAMES.index("features_count")
CITATIONS: Final = CRITERION_NAMES.index("citations")

BINARY_MASKS: Final = tuple(
    sum(_flag_bit(flag, True) for flag in criterion.facts if flag in FLAGS) if criterion.kind == "binary" else 0
    for criterion in CRITERIA
)
"""For each criterion the bits of the flag byte of which one must be set; 0 for criteria that are not binary."""

GRADED_CRITERIA: Final = tuple(
    criterion.name
    for criterion in CRITERIA
    if criterion.kind != "binary" and criterion.name != "popularity_score"  # which has the grade of the citations
)
"""The criteria that have a grade, in the order of the rows of `KernelColumns.grades`."""

GRADE_ROWS: Final = tuple(
    GRADED_CRITERIA.index("citations" if name == "popularity_score" else name) if not mask else -1
    for name, mask in zip(CRITERION_NAMES, BINARY_MASKS, strict=True)
)
"""For each criterion the row of its grade; -1 for binary criteria, which the flag byte decides exactly."""

GRADE_SCALE: Final = 255.0
"""A grade is its criterion times this, rounded up."""

ETHICAL_GRADE: Final = GRADED_CRITERIA.index("ethical_score")
TECHNICAL_GRADE: Final = GRADED_CRITERIA.index("technical_score")

YEAR_COLUMN: Final = NUMBERS.index("year")
INSTANCES_COLUMN: Final = NUMBERS.index("instances_number")
FEATURES_COLUMN: Final = NUMBERS.index("features_number")
CITATIONS_COLUMN: Final = NUMBERS.index("citations")
