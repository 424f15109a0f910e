"""Pairs of strongly associated columns, which share their importance."""

from typing import Final

from touchstone.learning.explaining.associations import association_matrix, is_comparable
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
    strengths = association_matrix(columns, context.test_frame)

    pairs: list[Json] = []
    for second in range(len(columns)):
        for first in range(second):
            strength = float(strengths[first, second])
            if strength >= STRONG_ASSOCIATION:
                pairs.append({"first": columns[first].name, "second": columns[second].name, "association": strength})

    strongest_first = sorted(pairs, key=lambda pair: pair["association"], reverse=True)
    return strongest_first[:MAX_PAIRS]
