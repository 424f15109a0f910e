"""What a ranking says about evidence: how much is known about each dataset, who declares it, and what ranks lower."""

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

_MAX_LOWERED_NAMES: Final = 3  # named in the sentence about datasets that rank lower
_MAX_LOWERED_NAME_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class RankingBackground:
    """What a page shows beside a ranking: the evidence behind it, and how robust it is.

    Attributes:
        declared_ranking: The same page of the ranking in which every declaration counts; None if it is the ranking.
        declarers: Who has declared each dataset, by its id; None for a record of the service.
        robustness: How robust the rank of each dataset is, by its id; empty if that was not requested.
        robustness_summary: How many of these ranks are robust, in a sentence; empty if that was not requested.
    """

    declared_ranking: Ranking | None = None
    declarers: Mapping[int, Person | None] = field(default_factory=dict)
    robustness: Mapping[int, RowRobustness] = field(default_factory=dict)
    robustness_summary: str = ""


def describe_known_criteria(dataset: ScoredDataset, localizer: Localizer) -> str:
    """Return in words how many ethical criteria of a dataset are known, and how many of all criteria may be met.

    If some criteria have been declared with too little evidence to count as known, the text mentions how many. It is
    empty if the API has not returned these numbers.
    """
    known = dataset.known
    interval = dataset.ethical_interval
    if known is None or interval is None:
        return ""

    # The API gives both ends of the interval as shares of all ethical criteria.
    lowest_share, highest_share = interval
    lowest_count = round(lowest_share * len(ETHICAL))
    highest_count = round(highest_share * len(ETHICAL))
    statements = [_known_text(known, lowest_count, highest_count, localizer)]

    declared = dataset.declared
    if declared is not None and declared.known > known:
        statements.append(localizer.counted("merely_declared_row", declared.known - known))
    return ", ".join(statements)


def _known_text(known: int, low: int, high: int, localizer: Localizer) -> str:
    """Describe the number of known ethical criteria and the possible range of criteria that are met."""
    if not known:
        return localizer.text("known_none")
    if low == high:
        return localizer.text("known_exact", known=known, low=low)
    return localizer.text("known_interval", known=known, low=low, high=high)


def describe_declarer(person: Person | None, localizer: Localizer) -> str:
    """Return who has declared a record, or an empty string for a record of the service."""
    if person is None:
        return ""

    pseudo = replace_control_characters(person.pseudo or localizer.text("somebody"))
    return localizer.text("declared_by", name=pseudo)


def describe_lowered(ranking: Ranking | Recommendations, declared_ranking: Ranking | None, localizer: Localizer) -> str:
    """Return the sentence that names the datasets which rank lower because nobody has proved what they declare.

    These datasets have a better rank in `declared_ranking`, the same page of a ranking in which declarations count
    without evidence. The sentence names a few of them and counts the others. It is empty if there are none.
    """
    if declared_ranking is None:
        return ""

    ranks = {dataset.id: dataset.rank for dataset in ranking.datasets}
    names = []
    for dataset in declared_ranking.datasets:
        rank = ranks.get(dataset.id)
        is_lowered = rank is None or dataset.rank < rank
        if is_lowered and _is_merely_declared(dataset):
            names.append(replace_control_characters(dataset.dataset_name))

    if not names:
        return ""

    first_names = names[:_MAX_LOWERED_NAMES]
    listed = [shorten(name, _MAX_LOWERED_NAME_LENGTH, placeholder="…") for name in first_names]
    unlisted_count = len(names) - len(first_names)
    if unlisted_count:
        listed.append(localizer.counted("lowered_more", unlisted_count))
    return localizer.text("lowered", names=", ".join(listed))


def _is_merely_declared(dataset: ScoredDataset) -> bool:
    """Return whether a part of the score of a dataset is supported only by declarations."""
    points = dataset.points_by_level
    return points is None or points.get(EvidenceLevel.DECLARED, 0.0) > 0
