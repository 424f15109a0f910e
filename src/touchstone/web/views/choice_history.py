"""The choices of a project as its page shows them, newest first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import Choice, Weight
from touchstone.client.choice_models import ChoiceRanking
from touchstone.web.views.record_changes import ChangeDescriber

RECENT_CHOICES: Final = 5  # shown at once; the page folds older ones away


@dataclass(frozen=True, slots=True)
class ChoiceEntry:
    """One choice in the history of a project.

    Attributes:
        choice: The choice.
        is_current: Whether no later choice has replaced it.
        rank: The rank and the score of the dataset when it was chosen, as text; empty if they were not recorded.
        need: The level of evidence, the weights and the gates at that time, as text; empty if they were not recorded.
    """

    choice: Choice
    is_current: bool
    rank: str
    need: str


def choice_entries(choices: Iterable[Choice], describer: ChangeDescriber) -> tuple[ChoiceEntry, ...]:
    """Return the choices of a project with their texts, in the order in which they are given."""
    return tuple(
        ChoiceEntry(
            choice=choice,
            is_current=choice.superseded_at is None,
            rank=_rank_text(choice.ranking, describer),
            need=_need_text(choice.ranking, describer),
        )
        for choice in choices
    )


def _rank_text(ranking: ChoiceRanking | None, describer: ChangeDescriber) -> str:
    """Return the rank and the score in a ranking, or that the dataset did not match the filters."""
    localizer = describer.localizer
    if ranking is None:
        return ""
    if ranking.rank is None:
        return localizer.text("history_unranked")

    return localizer.text(
        "history_rank",
        rank=localizer.number(ranking.rank),
        total=localizer.number(ranking.total_count),
        score=localizer.number(ranking.score, digits=3),
    )


def _need_text(ranking: ChoiceRanking | None, describer: ChangeDescriber) -> str:
    """Return the level of evidence, the shares of the criteria and the gates of a ranking."""
    if ranking is None:
        return ""

    localizer = describer.localizer
    assurance = localizer.text(f"assurance_{ranking.assurance.value}")
    need = localizer.text("history_need", assurance=assurance, shares=_shares_text(ranking.weights, describer))
    if not ranking.gates:
        return need

    gates = localizer.text("history_gates", gates=describer.value_text(ranking.gates))
    return f"{need} {gates}"


def _shares_text(weights: Sequence[Weight], describer: ChangeDescriber) -> str:
    """Return each criterion with its share of the score, such as "Year 60%, Citations 40%"."""
    total_weight = sum(weight.weight for weight in weights)
    if not total_weight:
        return describer.localizer.text("weights_none")

    shares = []
    for weight in weights:
        label = describer.criterion_labels.get(weight.criterion_name, weight.criterion_name)
        shares.append(f"{label} {describer.localizer.percent(weight.weight / total_weight)}")
    return ", ".join(shares)
