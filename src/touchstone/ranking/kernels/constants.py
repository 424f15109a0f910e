"""The numbers of criteria, flags and number columns in kernels, derived from CRITERIA and ATTRIBUTES."""

from typing import Final, NamedTuple

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.ranking.criteria import CRITERIA, CRITERION_NAMES, Criterion

FLOAT32_TOLERANCE: Final = 4e-6
"""An upper bound for the rounding error of a score computed in float32 as a sum of twelve products."""


class FlagState(NamedTuple):
    """A flag and a known value of it."""

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
"""The states of flags that criteria depend on. Each state has a bit in the flag byte of a record, lowest bit first."""


def _flag_bit(flag: str, value: bool) -> int:
    """Return the bit mask of a flag state in the flag byte of a record."""
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


def _binary_mask(criterion: Criterion) -> int:
    """Return the bits of the flag byte that fulfil a criterion, or 0 if the criterion is not binary."""
    if criterion.kind != "binary":
        return 0
    return sum(_flag_bit(flag, True) for flag in criterion.facts if flag in FLAGS)


BINARY_MASKS: Final = tuple(_binary_mask(criterion) for criterion in CRITERIA)
"""The bits of the flag byte that fulfil each criterion if at least one is set, or 0 if the criterion is not binary."""

GRADED_CRITERIA: Final = tuple(
    criterion.name
    for criterion in CRITERIA
    if criterion.kind != "binary" and criterion.name != "popularity_score"  # shares the grade of the citations
)
"""The criteria with a grade, in the order of the rows of `KernelColumns.grades`."""


def _grade_row(criterion: Criterion) -> int:
    """Return the row of a criterion's grade, or -1 if the criterion is binary."""
    if criterion.kind == "binary":
        return -1
    return GRADED_CRITERIA.index("citations" if criterion.name == "popularity_score" else criterion.name)


GRADE_ROWS: Final = tuple(_grade_row(criterion) for criterion in CRITERIA)
"""The row of each criterion's grade, or -1 for binary criteria, which are computed from the flag byte."""

GRADE_SCALE: Final = 255.0
"""The factor from a criterion to its grade, before rounding up."""

ETHICAL_GRADE: Final = GRADED_CRITERIA.index("ethical_score")
TECHNICAL_GRADE: Final = GRADED_CRITERIA.index("technical_score")

YEAR_COLUMN: Final = NUMBERS.index("year")
INSTANCES_COLUMN: Final = NUMBERS.index("instances_number")
FEATURES_COLUMN: Final = NUMBERS.index("features_number")
CITATIONS_COLUMN: Final = NUMBERS.index("citations")
