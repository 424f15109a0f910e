"""Bilingual labels of criteria and attributes for the sentences in `messages.reasons`."""

from collections.abc import Mapping
from typing import Final

from touchstone.core.attributes import ATTRIBUTES
from touchstone.messages.locales import Text
from touchstone.messages.reasons import LabeledPoints
from touchstone.ranking.criteria import CRITERION_LABELS

ATTRIBUTE_LABELS: Final[Mapping[str, Text]] = {
    attribute.name: (attribute.label_fr, attribute.label_en) for attribute in ATTRIBUTES
}


def labeled_points(points: Mapping[str, float]) -> list[LabeledPoints]:
    """Combine the points of criteria, or differences of points, with the labels of the criteria."""
    return [LabeledPoints(CRITERION_LABELS[criterion], value) for criterion, value in points.items()]
