"""The summary of a report, which answers four questions in a few sentences each."""

from collections.abc import Iterator, Sequence
from typing import Final

from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import Assurance
from touchstone.messages.reasons import (
    comparison_sentence,
    rank_range_sentence,
    rank_sentence,
    stability_sentence,
    target_rank_sentence,
)
from touchstone.services.selection.datasets.ranking_response import ExplainedItem
from touchstone.services.selection.gates import GateOutcome
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState
from touchstone.services.selection.report.document import Answer, Line, Section, Style
from touchstone.services.selection.report.fact_types import (
    ReportContent,
    ReportedAttribute,
    ReportedComparison,
    ReportedDecision,
    ReportedProspects,
)
from touchstone.services.selection.report.language import ReportLanguage
from touchstone.services.selection.report.sections.changes import is_robustness_trivial
from touchstone.services.selection.report.sections.choice import lines_without_choice
from touchstone.services.selection.report.sections.ranking import gate_lines, open_gates
from touchstone.services.selection.report.sentence_facts import (
    comparison_facts,
    known_ranks_facts,
    lifts_facts,
    stability_facts,
)

MIN_VISIBLE_GAIN: Final = 1e-9
"""Smaller differences between points are rounding errors."""


def summary_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section that summarizes the choice, the reasons, the unknown facts, and the effect of changes."""
    answers = [
        Answer(language.text("what_chosen"), list(_lines_about_choice(content, language))),
        Answer(_rival_question(content, language), list(_lines_about_rival(content, language))),
        Answer(language.text("what_unknown"), list(_lines_about_unknown_facts(content, language))),
        Answer(language.text("what_changes"), list(_lines_about_possible_changes(content, language))),
    ]
    return Section("summary", language.text("summary"), answers)


def _lines_about_choice(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the chosen dataset, its place in the ranking, and the reason for the choice."""
    choice = content.choice
    if choice is None:
        yield from lines_without_choice(content, language)
        yield _proposal_line(content, language)
        return

    if choice.state is ChosenDatasetState.WITHDRAWN:
        yield Line(language.text("chosen_gone", name=language.dataset(choice.dataset)), Style.BAD)
    elif choice.standing is None:
        yield Line(language.text("chosen_unranked", name=choice.dataset.name), Style.STRONG)
    else:
        facts = choice.standing.rank_facts(content.ranking.total_count)
        yield Line(language.text("chosen", name=choice.dataset.name), Style.STRONG)
        yield Line(language.with_fixed_spaces(rank_sentence(facts, language.locale)))
        if content.need.gates:
            yield from gate_lines(choice.standing, content.need, language)

    if content.history:
        yield _choice_date_line(content.history[0], language)
    if choice.reason:
        yield Line(language.text("reason_given"))
        yield Line(choice.reason, Style.QUOTE)
    else:
        yield Line(language.text("reason_none"), Style.BAD)
    if choice.state is ChosenDatasetState.CHANGED:
        yield Line(language.text("chosen_changed"), Style.UNKNOWN)
    replacement = _replacement_line(content, language)
    if replacement is not None:
        yield replacement


def _choice_date_line(decision: ReportedDecision, language: ReportLanguage) -> Line:
    """Return a line with the date of the present choice, and with its author if the author has a name."""
    date = language.timestamp(decision.at)
    if decision.by is None:
        return Line(language.text("chosen_on", date=date), Style.MUTED)
    return Line(language.text("chosen_by", author=language.author(decision), date=date), Style.MUTED)


def _replacement_line(content: ReportContent, language: ReportLanguage) -> Line | None:
    """Return a line with the dataset that the chosen one replaced, or None if nothing was chosen before it.

    Entries of the history that only change the reason for the present choice are skipped.
    """
    chosen_id = content.choice.dataset.id if content.choice else None
    for decision in content.history[1:]:
        if decision.dataset is None:
            return None
        if decision.dataset.id != chosen_id:
            name = language.dataset(decision.dataset)
            date = language.day(decision.at)
            return Line(language.text("replaces", name=name, date=date), Style.MUTED)
    return None


def _proposal_line(content: ReportContent, language: ReportLanguage) -> Line:
    """Return a line with the first dataset of the ranking, which is proposed while nothing is chosen."""
    if not content.ranking.items:
        return Line(language.text("nothing_matches"))
    first = content.ranking.items[0]
    return Line(language.text("first_proposed", name=first.dataset_name, score=language.decimal(first.score)))


def _rival_question(content: ReportContent, language: ReportLanguage) -> str:
    """Return the question why the chosen dataset is preferred to its rival, or why the ranking has this order."""
    choice = content.choice
    if choice is None:
        return language.text("why_this_order")
    is_first = choice.standing is not None and choice.standing.rank == 1
    return language.text("why_not_second" if is_first else "why_not_first")


def _lines_about_rival(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the reasons why one of the two compared datasets is ranked above the other."""
    comparison = content.comparison
    if comparison is None:
        yield Line(language.text(_key_without_comparison(content)))
        return

    sentence = comparison_sentence(comparison_facts(comparison), language.locale)
    yield Line(language.with_fixed_spaces(sentence), Style.STRONG)

    is_lower_chosen = _is_lower_chosen(content, comparison)
    if is_lower_chosen:
        yield Line(language.text("chosen_in_spite", below=comparison.below.dataset_name))
    if content.need.gates:
        rival = comparison.above if is_lower_chosen else comparison.below
        yield from _gate_lines_of_rival(rival, content, language)


def _is_lower_chosen(content: ReportContent, comparison: ReportedComparison) -> bool:
    """Return whether the lower one of the two compared datasets is the chosen one."""
    return content.choice is not None and content.choice.dataset.id == comparison.below.id


def _gate_lines_of_rival(rival: ExplainedItem, content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the gates that the rival does not pass, and the number of leading datasets that pass all gates."""
    for name, outcome in open_gates(rival).items():
        gate = language.gate_sentence(name, content.need.gates[name])
        style = Style.BAD if outcome is GateOutcome.FAILED else Style.UNKNOWN
        yield Line(language.text(f"rival_gate_{outcome}", name=rival.dataset_name, gate=gate), style)
    if not open_gates(rival):
        yield Line(language.text("rival_gates_passed", name=rival.dataset_name))

    shown = len(content.ranking.items)
    total = content.ranking.total_count
    passing = [item.dataset_name for item in content.ranking.items if not open_gates(item)]
    if not passing:
        yield Line(language.text("none_passing", shown=shown, total=total))
    elif len(passing) == 1:
        yield Line(language.text("only_passing", name=passing[0], shown=shown, total=total))
    else:
        yield Line(language.text("passing_count", count=len(passing), shown=shown, total=total))


def _key_without_comparison(content: ReportContent) -> str:
    """Return the key of the sentence that explains the lack of two datasets to compare."""
    is_unranked = content.choice is not None and content.choice.standing is None
    return "rival_unranked" if is_unranked else "no_rival"


def _lines_about_unknown_facts(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the unknown facts about the dataset in question, and their effect on its score and its rank."""
    evidence = content.evidence
    if evidence is None:
        yield Line(language.text("nothing_to_know"), Style.BAD)
        return

    ethical_attributes = [attribute for attribute in evidence.attributes if attribute.name in ETHICAL]
    yield from _ethical_lines(evidence.dataset.name, ethical_attributes, content.need.assurance, language)

    open_points = _open_points(content, language)
    if open_points:
        yield Line(language.text("open_points", points=language.enumeration(open_points)))
    for prospects in content.prospects:
        if prospects.dataset_id == evidence.dataset.id:
            yield Line(_rank_range_sentence(prospects, language))

    unknown_criteria = _unknown_weighted_criteria(content)
    if unknown_criteria:
        names = language.enumeration([language.criterion(name) for name in unknown_criteria])
        yield Line(language.text("unknown_criteria", names=names), Style.UNKNOWN)
    elif all(attribute.counted_value is not None for attribute in ethical_attributes):
        yield Line(language.text("nothing_unknown"), Style.GOOD)


def _ethical_lines(
    dataset_name: str, attributes: Sequence[ReportedAttribute], assurance: Assurance, language: ReportLanguage
) -> Iterator[Line]:
    """Yield the known and the unknown ethical attributes of a dataset, and the resulting bounds of its ethical score.

    The ethical score is the share of the ethical attributes that are true. It is lowest if all unknown attributes are
    false, and highest if all of them are true.
    """
    known = [attribute for attribute in attributes if attribute.counted_value is not None]
    unknown = [attribute for attribute in attributes if attribute.counted_value is None]
    assurance_name = language.assurance(assurance)
    key = "known_of_ten" if known else "none_known_of_ten"
    sentence = language.text(key, name=dataset_name, known=len(known), assurance=assurance_name)
    yield Line(sentence, Style.STRONG)

    if known:
        known_names = [
            f"{language.attribute(attribute.name)} ({language.claim_value(attribute.counted_value)})"
            for attribute in known
        ]
        yield Line(language.text("known_names", names=language.enumeration(known_names)))
    if unknown:
        unknown_names = [language.attribute(attribute.name) for attribute in unknown]
        yield Line(language.text("unknown_names", names=language.enumeration(unknown_names)), Style.UNKNOWN)

        true_count = sum(attribute.counted_value is True for attribute in known)
        lowest = true_count / len(ETHICAL)
        highest = (true_count + len(unknown)) / len(ETHICAL)
        yield Line(language.text("ethical_bounds", low=language.decimal(lowest), high=language.decimal(highest)))


def _item_in_question(content: ReportContent) -> ExplainedItem | None:
    """Return the ranking item of the chosen dataset, or the first item if nothing is chosen, or None."""
    if content.choice is not None:
        return content.choice.standing
    return content.ranking.items[0] if content.ranking.items else None


def _open_points(content: ReportContent, language: ReportLanguage) -> list[str]:
    """Return the points that unknown facts could add to the score of the dataset in question, by criterion."""
    item = _item_in_question(content)
    if item is None:
        return []

    open_points: list[str] = []
    for weight in content.need.weights:
        name = weight.criterion_name
        best_points = weight.share * item.best_case.criterion_scores[name]
        gain = best_points - item.points[name]
        if gain > MIN_VISIBLE_GAIN:
            open_points.append(f"{language.criterion(name)} {language.signed(gain)}")
    return open_points


def _rank_range_sentence(prospects: ReportedProspects, language: ReportLanguage) -> str:
    """Return the sentence about the ranks that are possible for a dataset, given the unknown ethical attributes."""
    if prospects.best_rank == prospects.worst_rank:
        sentence = rank_range_sentence(known_ranks_facts(prospects), language.locale)
        return language.with_fixed_spaces(sentence)
    return language.text(
        "unknown_ranks",
        name=prospects.name,
        rank=language.rank(prospects),
        best=prospects.best_rank,
        worst=prospects.worst_rank,
    )


def _unknown_weighted_criteria(content: ReportContent) -> list[str]:
    """Return the weighted criteria that are unknown for the dataset in question."""
    item = _item_in_question(content)
    if item is None:
        return []

    weighted_names = [weight.criterion_name for weight in content.need.weights]
    return [name for name in weighted_names if name in item.unknown]


def _lines_about_possible_changes(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the changes that would reverse the compared datasets, and the stability of the chosen dataset's place."""
    comparison = content.comparison
    if comparison is None or content.robustness is None:
        yield Line(language.text(_key_without_comparison(content)))
        return

    for prospects in content.prospects:
        if prospects.target_rank is not None:
            sentence = target_rank_sentence(lifts_facts(prospects), language.locale)
            yield Line(language.with_fixed_spaces(sentence))

    subject = comparison.below if _is_lower_chosen(content, comparison) else comparison.above
    place = next((place for place in content.robustness.places if place.dataset_id == subject.id), None)
    if place is not None:
        facts = stability_facts(place, content.robustness, content.ranking.total_count)
        yield Line(language.with_fixed_spaces(stability_sentence(facts, language.locale)))
        key = "same_rank_trivial" if is_robustness_trivial(content) else "same_rank"
        yield Line(language.text(key, share=language.percent(place.same_rank_share)))

    if comparison.reversal is not None:
        yield Line(language.text("reversal_hint"), Style.MUTED)
