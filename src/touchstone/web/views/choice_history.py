"""The history of the choices for a project, formatted for display.

A choice is a dataset that the owner of a project has selected. Its entry shows the rank that the dataset had at that
time, and the need of the project, which consists of the level of evidence, the weights and the gates.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import Choice, Weight
from touchstone.client.choice_models import ChoiceRanking
from touchstone.web.localizer import Localizer
from touchstone.web.views.record_changes import ChangeDescriber

RECENT_CHOICES: Final = 5  # older choices are hidden until the reader unfolds them


@dataclass(frozen=True, slots=True)
class ChoiceEntry:
    """One choice in the history of a project, formatted for display.

    Attributes:
        choice: The choice.
        is_current: Whether no later choice has replaced it.
        rank: The rank and the score of the dataset when it was chosen; empty if they were not recorded.
        need: The need of the project at that time; empty if the rank was not recorded.
    """

    choice: Choice
    is_current: bool
    rank: str
    need: str


def choice_entries(choices: Iterable[Choice], describer: ChangeDescriber) -> tuple[ChoiceEntry, ...]:
    """Return the entries of a project's history, in the order of the given choices."""
    return tuple(_describe_choice(choice, describer) for choice in choices)


def _describe_choice(choice: Choice, describer: ChangeDescriber) -> ChoiceEntry:
    """Return the entry of a choice; its rank and need are empty if the rank was not recorded."""
    rank_text = ""
    need_text = ""
    if choice.ranking is not None:
        rank_text = _describe_rank(choice.ranking, describer.localizer)
        need_text = _describe_need(choice.ranking, describer)

    return ChoiceEntry(choice=choice, is_current=choice.superseded_at is None, rank=rank_text, need=need_text)


def _describe_rank(ranking: ChoiceRanking, localizer: Localizer) -> str:
    """Describe the rank and the score of a dataset, or say that it did not match the filters."""
    if ranking.rank is None:
        return localizer.text("history_unranked")

    return localizer.text(
        "history_rank",
        rank=localizer.place(ranking.place or ranking.rank, ranking.tied_with),
        total=localizer.number(ranking.total_count),
        score=localizer.number(ranking.score, digits=3),
    )


def _describe_need(ranking: ChoiceRanking, describer: ChangeDescriber) -> str:
    """Describe the required level of evidence, the weights and any gates of a ranking."""
    localizer = describer.localizer
    assurance = localizer.text(f"assurance_{ranking.assurance.value}")
    shares = _describe_shares(ranking.weights, describer)
    need = localizer.text("history_need", assurance=assurance, shares=shares)
    if not ranking.gates:
        return need

    gates = localizer.text("history_gates", gates=describer.format_value(ranking.gates))
    return f"{need} {gates}"


def _describe_shares(weights: Sequence[Weight], describer: ChangeDescriber) -> str:
    """List the share of each criterion in the score, such as "Year 60%, Citations 40%"."""
    total_weight = sum(weight.weight for weight in weights)
    if not total_weight:
        return describer.localizer.text("weights_none")

    shares = []
    for weight in weights:
        label = describer.criterion_labels.get(weight.criterion_name, weight.criterion_name)
        shares.append(f"{label} {describer.localizer.percent(weight.weight / total_weight)}")
    return ", ".join(shares)
