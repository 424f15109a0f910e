"""How robust the first ranks are, as the rank page shows it: a summary above the ranking, and a verdict in each row.

The API ranks again with many samples of slightly different weights. A rank is robust if the dataset stays among the
first k in nearly all samples, and fragile otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.client import DatasetStability, Stability
from touchstone.core.text import replace_control_characters
from touchstone.web.localizer import Localizer

# How each verdict is drawn: with the sign and the colour of a value that is true or false.
_VERDICT_STATES: Final = {"robust": "yes", "fragile": "no"}


@dataclass(frozen=True, slots=True)
class RowRobustness:
    """How robust the rank of one dataset is.

    Attributes:
        state: The CSS class with the sign and the colour of the verdict.
        text: The verdict, with the ranks in the samples, and the share of samples in which it stays among the first k.
        sentence: The same in a whole sentence, which also names the dataset that overtakes it, if any.
    """

    state: str
    text: str
    sentence: str


def robustness_by_id(stability: Stability | None, localizer: Localizer) -> Mapping[int, RowRobustness]:
    """Return the robustness of each rank by dataset id, or an empty mapping if it was not computed."""
    if stability is None:
        return {}
    return {dataset.id: _row_robustness(dataset, stability, localizer) for dataset in stability.datasets}


def _row_robustness(dataset: DatasetStability, stability: Stability, localizer: Localizer) -> RowRobustness:
    """Return the robustness of the rank of one of the first k datasets.

    If no more than k datasets are ranked, a verdict would say nothing, and the text has only the ranks.
    """
    ranks = _ranks_text(dataset, stability.k, localizer)
    if stability.total_count <= stability.k:
        sentence = replace_control_characters(dataset.sentence or ranks)
        return RowRobustness("unknown", ranks, sentence)

    verdict = localizer.text(f"verdict_{dataset.verdict}")
    share = localizer.percent(dataset.share)
    text = localizer.text("robustness_row", verdict=verdict, ranks=ranks, share=share)
    sentence = replace_control_characters(dataset.sentence or text)
    return RowRobustness(_VERDICT_STATES[dataset.verdict], text, sentence)


def _ranks_text(dataset: DatasetStability, k: int, localizer: Localizer) -> str:
    """Return in words the best and the worst rank that a dataset had when the weights were varied at random.

    The API counts ranks only up to 10 k. If the worst rank lies beyond that, the text says so.
    """
    best_place = localizer.number(dataset.best_place)
    if dataset.worst_place is None:
        return localizer.text("ranks_open", best=best_place, limit=10 * k)
    if dataset.worst_place == dataset.best_place:
        return localizer.text("ranks_single", rank=best_place)
    return localizer.text("ranks_range", best=best_place, worst=localizer.number(dataset.worst_place))


def describe_robustness(stability: Stability | None, localizer: Localizer) -> str:
    """Return the summary above the ranking: how many of the first ranks are robust, and what that means.

    It is empty for an empty ranking, and if the robustness was not computed.
    """
    if stability is None or not stability.datasets:
        return ""
    if stability.total_count <= stability.k:
        return localizer.text(
            "robustness_trivial",
            total=stability.total_count,
            k=stability.k,
            samples=stability.samples,
            spread=localizer.percent(stability.spread),
        )

    robust_count = sum(dataset.verdict == "robust" for dataset in stability.datasets)
    return localizer.text(
        "robustness_summary",
        robust=robust_count,
        count=len(stability.datasets),
        k=stability.k,
        samples=stability.samples,
        spread=localizer.percent(stability.spread),
    )
