"""The history of the choices for a project, as the page of the project shows it.

A choice is the dataset that the owner has decided for. Its entry shows the rank that the dataset had at that moment,
and the need by which it was ranked: the level of evidence, the weights and the gates.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from touchstone.client import Choice, Weight
from touchstone.client.choice_models import ChoiceRanking
from touchstone.web.localizer import Localizer
from touchstone.web.views.record_changes import ChangeDescriber

RECENT_CHOICES: Final = 5  # shown at once; the page folds older ones away


@dataclass(frozen=True, slots=True)
class ChoiceEntry:
    """One choice in the history of a project, formatted for display.

    Attributes:
        choice: The choice.
        is_current: Whether no later choice has replaced it.
        rank: The rank and the score of the dataset when it was chosen; empty if they were not recorded.
        need: The need by which it was ranked; empty if the rank was not recorded.
    """

    choice: Choice
    is_current: bool
    rank: str
    need: str


def choice_entries(choices: Iterable[Choice], describer: ChangeDescriber) -> tuple[ChoiceEntry, ...]:
    """Return the entries of a project's history, in the order of the given choices.

    An entry says which rank the chosen dataset had, and what the project required at that time. Both texts are empty
    for a choice without a ranking.
    """
    entries = []
    for choice in choices:
        rank_text = ""
        need_text = ""
        if choice.ranking is not None:
            rank_text = _describe_rank(choice.ranking, describer.localizer)
            need_text = _describe_need(choice.ranking, describer)

        is_current = choice.superseded_at is None
        entry = ChoiceEntry(choice=choice, is_current=is_current, rank=rank_text, need=need_text)
        entries.append(entry)

    return tuple(entries)


def _describe_rank(ranking: ChoiceRanking, localizer: Localizer) -> str:
    """Return a sentence with the rank and the score of a dataset, or that it did not match the filters."""
    if ranking.rank is None:
        return localizer.text("history_unranked")

    return localizer.text(
        "history_rank",
        rank=localizer.place(ranking.place or ranking.rank, ranking.tied_with),
        total=localizer.number(ranking.total_count),
        score=localizer.number(ranking.score, digits=3),
    )


def _describe_need(ranking: ChoiceRanking, describer: ChangeDescriber) -> str:
    """Return in words how datasets were ranked: the required level of evidence, the weights, and the gates if any."""
    localizer = describer.localizer
    assurance = localizer.text(f"assurance_{ranking.assurance.value}")
    shares = _describe_shares(ranking.weights, describer)
    need = localizer.text("history_need", assurance=assurance, shares=shares)
    if not ranking.gates:
        return need

    gates = localizer.text("history_gates", gates=describer.value_text(ranking.gates))
    return f"{need} {gates}"


def _describe_shares(weights: Sequence[Weight], describer: ChangeDescriber) -> str:
    """Return each criterion with its share of the score, such as "Year 60%, Citations 40%".

    If no criterion has a weight, the text says so.
    """
    total_weight = sum(weight.weight for weight in weights)
    if not total_weight:
        return describer.localizer.text("weights_none")

    shares = []
    for weight in weights:
        label = describer.criterion_labels.get(weight.criterion_name, weight.criterion_name)
        shares.append(f"{label} {describer.localizer.percent(weight.weight / total_weight)}")
    return ", ".join(shares)
