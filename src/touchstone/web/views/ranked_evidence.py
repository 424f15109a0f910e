"""The known criteria, the declarers and the effect of missing evidence in a ranking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Final

from touchstone.client import Ranking, Recommendations, ScoredDataset
from touchstone.client.evidence_models import Person
from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import EvidenceLevel
from touchstone.core.text import replace_control_characters
from touchstone.web.localizer import Localizer
from touchstone.web.views.robustness import RowRobustness

_MAX_LOWERED_NAMES: Final = 3  # datasets that the sentence about lowered ranks names
_MAX_LOWERED_NAME_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class RankingBackground:
    """The evidence and the robustness that a page shows beside a ranking.

    Attributes:
        declared_ranking: the first page of the ranking that would result if declarations counted without evidence; None
            if they already count, or on later pages.
        declarers: the declarer of each dataset, by dataset id; None for a record of the service.
        robustness: the robustness of the ranks, by dataset id; empty if it was not requested.
        robustness_summary: a sentence about the number of robust ranks; empty if it was not requested.
    """

    declared_ranking: Ranking | None = None
    declarers: Mapping[int, Person | None] = field(default_factory=dict)
    robustness: Mapping[int, RowRobustness] = field(default_factory=dict)
    robustness_summary: str = ""


def describe_known_criteria(dataset: ScoredDataset, localizer: Localizer) -> str:
    """Describe how many ethical criteria of a dataset are known, and how many are or may be met.

    If other criteria were only declared, with too little evidence to count as known, their number is added. The
    description is empty if the API has not returned these numbers.
    """
    known_count = dataset.known
    interval = dataset.ethical_interval
    if known_count is None or interval is None:
        return ""

    # The API returns both ends of the interval as shares of all ethical criteria.
    lowest_share, highest_share = interval
    lowest_count = round(lowest_share * len(ETHICAL))
    highest_count = round(highest_share * len(ETHICAL))
    phrases = [_describe_counts(known_count, lowest_count, highest_count, localizer)]

    declared = dataset.declared
    if declared is not None and declared.known > known_count:
        phrases.append(localizer.counted("merely_declared_row", declared.known - known_count))
    return ", ".join(phrases)


def _describe_counts(known_count: int, lowest_count: int, highest_count: int, localizer: Localizer) -> str:
    """Describe the numbers of known and of met ethical criteria."""
    if not known_count:
        return localizer.text("known_none")
    if lowest_count == highest_count:
        return localizer.text("known_exact", known=known_count, low=lowest_count)
    return localizer.text("known_interval", known=known_count, low=lowest_count, high=highest_count)


def describe_declarer(person: Person | None, localizer: Localizer) -> str:
    """Name the declarer of a record, or return an empty string for a record of the service."""
    if person is None:
        return ""

    pseudo = replace_control_characters(person.pseudo or localizer.text("somebody"))
    return localizer.text("declared_by", name=pseudo)


def describe_lowered(ranking: Ranking | Recommendations, declared_ranking: Ranking | None, localizer: Localizer) -> str:
    """Return the sentence about the datasets that rank lower, or not at all, because their declarations lack evidence.

    It names a few of these datasets and counts the others. It is empty if there are none.

    Args:
        ranking: the first page of the ranking at the required level of evidence.
        declared_ranking: the first page of the ranking if declarations counted without evidence; None if they do, or on
            later pages.
        localizer: the reader's language.
    """
    if declared_ranking is None:
        return ""

    ranks = {dataset.id: dataset.rank for dataset in ranking.datasets}
    lowered_names = []
    for dataset in declared_ranking.datasets:
        rank = ranks.get(dataset.id)
        ranks_lower = rank is None or rank > dataset.rank
        if ranks_lower and _relies_on_declarations(dataset):
            lowered_names.append(replace_control_characters(dataset.dataset_name))

    if not lowered_names:
        return ""

    phrases = [shorten(name, _MAX_LOWERED_NAME_LENGTH, placeholder="…") for name in lowered_names[:_MAX_LOWERED_NAMES]]
    unnamed_count = len(lowered_names) - len(phrases)
    if unnamed_count:
        phrases.append(localizer.counted("lowered_more", unnamed_count))
    return localizer.text("lowered", names=", ".join(phrases))


def _relies_on_declarations(dataset: ScoredDataset) -> bool:
    """Return whether a part of the score of a dataset is supported only by declarations.

    This is assumed if the API has not returned the points by level of evidence.
    """
    points = dataset.points_by_level
    return points is None or points.get(EvidenceLevel.DECLARED, 0.0) > 0
