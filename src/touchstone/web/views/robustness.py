"""The robustness of the first ranks: a summary above the ranking, and a verdict in each row.

The API repeats the ranking with many samples of slightly different weights. The rank of one of the first k datasets is
robust if the dataset stays among the first k in nearly all samples, and fragile otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from touchstone.client import DatasetStability, Stability
from touchstone.core.text import replace_control_characters
from touchstone.web.localizer import Localizer

_DEPTH_FACTOR: Final = 10  # the API computes ranks in the samples only up to this multiple of k
# The CSS class for each verdict, with the sign and the colour of a true or false value.
_CSS_CLASS_BY_VERDICT: Final = {"robust": "yes", "fragile": "no"}


@dataclass(frozen=True, slots=True)
class RowRobustness:
    """The robustness of the rank of one dataset, formatted for display.

    Attributes:
        state: the CSS class with the sign and the colour of the verdict.
        text: the verdict, the ranks in the samples, and the share of samples with the dataset among the first k.
        sentence: a sentence with the same content, which also names a dataset that overtakes this one.
    """

    state: str
    text: str
    sentence: str


def robustness_by_id(stability: Stability | None, localizer: Localizer) -> Mapping[int, RowRobustness]:
    """Return the robustness of the first ranks by dataset id, or {} if it was not computed."""
    if stability is None:
        return {}
    return {dataset.id: _row_robustness(dataset, stability, localizer) for dataset in stability.datasets}


def _row_robustness(dataset: DatasetStability, stability: Stability, localizer: Localizer) -> RowRobustness:
    """Return the robustness of the rank of one of the first k datasets.

    If at most k datasets are ranked, they always stay among the first k. There is no verdict then, but only the ranks.
    """
    ranks = _describe_ranks(dataset, stability.k, localizer)
    if stability.total_count <= stability.k:
        sentence = replace_control_characters(dataset.sentence or ranks)
        return RowRobustness("unknown", ranks, sentence)

    verdict = localizer.text(f"verdict_{dataset.verdict}")
    share = localizer.percent(dataset.share)
    text = localizer.text("robustness_row", verdict=verdict, ranks=ranks, share=share)
    sentence = replace_control_characters(dataset.sentence or text)
    return RowRobustness(_CSS_CLASS_BY_VERDICT[dataset.verdict], text, sentence)


def _describe_ranks(dataset: DatasetStability, k: int, localizer: Localizer) -> str:
    """Describe the best and the worst rank of a dataset in the samples.

    The API does not compute very low ranks, so the worst rank may be unknown.
    """
    best_place = localizer.number(dataset.best_place)
    if dataset.worst_place is None:
        return localizer.text("ranks_open", best=best_place, limit=_DEPTH_FACTOR * k)
    if dataset.worst_place == dataset.best_place:
        return localizer.text("ranks_single", rank=best_place)
    return localizer.text("ranks_range", best=best_place, worst=localizer.number(dataset.worst_place))


def describe_robustness(stability: Stability | None, localizer: Localizer) -> str:
    """Return the summary above the ranking, with the number of robust ranks and an explanation.

    If datasets beyond the first k have the same score as the last of these, it also says that the alphabet decides. It
    is empty if the ranking is empty or the robustness was not computed.
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
    summary = localizer.text(
        "robustness_summary",
        robust=robust_count,
        count=len(stability.datasets),
        k=stability.k,
        samples=stability.samples,
        spread=localizer.percent(stability.spread),
    )

    last_dataset = stability.datasets[-1]
    first_tied_rank = last_dataset.place or last_dataset.rank
    last_tied_rank = first_tied_rank + last_dataset.tied_with
    if last_tied_rank <= stability.k:
        return summary
    ties = localizer.text(
        "robustness_ties",
        first=localizer.number(first_tied_rank),
        last=localizer.number(last_tied_rank),
        k=stability.k,
    )
    return f"{summary} {ties}"
