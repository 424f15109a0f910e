"""Pairs of strongly associated columns, which share their importance."""

from typing import Final

from touchstone.learning.explaining.associations import association_matrix, is_comparable, strongest_pairs
from touchstone.learning.explaining.explanation_context import ExplanationContext
from touchstone.learning.task_interface import Json

MAX_COLUMNS: Final = 40
MAX_PAIRS: Final = 10
STRONG_ASSOCIATION: Final = 0.7


def related_pairs(context: ExplanationContext) -> list[Json]:
    """Return the strongly associated pairs of columns as `{first, second, association}`.

    The strongest pair comes first. Only the first columns of a wide table are compared.
    """
    columns = [column for column in context.explained.columns if is_comparable(column)][:MAX_COLUMNS]
    names = [column.name for column in columns]
    strengths = association_matrix(columns, context.test_frame)
    return strongest_pairs(names, strengths, minimum=STRONG_ASSOCIATION)[:MAX_PAIRS]
