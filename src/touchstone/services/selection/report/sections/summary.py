"""The first section of a report: four questions, answered in a few sentences each."""

from collections.abc import Iterator
from typing import Final

from touchstone.core.attributes import ETHICAL
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
from touchstone.services.selection.report.fact_types import ReportContent, ReportedDecision, ReportedProspects
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

_ROUNDING_ERROR: Final = 1e-9


def summary_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section that answers what was chosen, why not another, what is unknown, and what would change that."""
    answers = [
        Answer(language.text("what_chosen"), list(_what_was_chosen(content, language))),
        Answer(_rival_question(content, language), list(_why_not_the_rival(content, language))),
        Answer(language.text("what_unknown"), list(_what_is_unknown(content, language))),
        Answer(language.text("what_changes"), list(_what_would_change_it(content, language))),
    ]
    return Section("summary", language.text("summary"), answers)


def _what_was_chosen(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the chosen dataset and the reason for the choice."""
    choice = content.choice
    if choice is None:
        yield from lines_without_choice(content, language)
        yield _first_proposal(content, language)
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
        yield _when_it_was_chosen(content.history[0], language)
    if choice.reason:
        yield Line(language.text("reason_given"))
        yield Line(choice.reason, Style.QUOTE)
    else:
        yield Line(language.text("reason_none"), Style.BAD)
    if choice.state is ChosenDatasetState.CHANGED:
        yield Line(language.text("chosen_changed"), Style.UNKNOWN)
    yield from _what_was_replaced(content, language)


def _when_it_was_chosen(decision: ReportedDecision, language: ReportLanguage) -> Line:
    """Return the date of the present choice, and its author if the author has a name."""
    date = language.moment(decision.at)
    if decision.by is None:
        return Line(language.text("chosen_on", date=date), Style.MUTED)
    return Line(language.text("chosen_by", author=language.author(decision), date=date), Style.MUTED)


def _what_was_replaced(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the dataset that the present choice replaced, unless only the reason was changed."""
    chosen_id = content.choice.dataset.id if content.choice else None
    for decision in content.history[1:]:
        if decision.dataset is None:
            return
        if decision.dataset.id != chosen_id:
            name, date = language.dataset(decision.dataset), language.day(decision.at)
            yield Line(language.text("replaces", name=name, date=date), Style.MUTED)
            return


def _first_proposal(content: ReportContent, language: ReportLanguage) -> Line:
    """Return the dataset that the ranking proposes as long as nothing is chosen."""
    if not content.ranking.items:
        return Line(language.text("nothing_matches"))
    first = content.ranking.items[0]
    return Line(language.text("first_proposed", name=first.dataset_name, score=language.decimal(first.score)))


def _rival_question(content: ReportContent, language: ReportLanguage) -> str:
    """Return the heading that asks why the chosen dataset is preferred to its rival."""
    choice = content.choice
    if choice is None:
        return language.text("why_this_order")
    is_first = choice.standing is not None and choice.standing.rank == 1
    return language.text("why_not_second" if is_first else "why_not_first")


def _why_not_the_rival(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield why one of two datasets is ranked before the other."""
    comparison = content.comparison
    if comparison is None:
        yield Line(language.text(_reason_without_comparison(content)))
        return

    sentence = comparison_sentence(comparison_facts(comparison), language.locale)
    yield Line(language.with_fixed_spaces(sentence), Style.STRONG)

    is_lower_chosen = content.choice is not None and content.choice.dataset.id == comparison.below.id
    if is_lower_chosen:
        yield Line(language.text("chosen_in_spite", below=comparison.below.dataset_name))
    if content.need.gates:
        yield from _gates_of_rival(comparison.above if is_lower_chosen else comparison.below, content, language)


def _gates_of_rival(rival: ExplainedItem, content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the gate verdicts of the rival, and the number of leading datasets that pass all gates."""
    for name, outcome in open_gates(rival).items():
        gate = language.gate_sentence(name, content.need.gates[name])
        style = Style.BAD if outcome is GateOutcome.FAILED else Style.UNKNOWN
        yield Line(language.text(f"rival_gate_{outcome}", name=rival.dataset_name, gate=gate), style)
    if not open_gates(rival):
        yield Line(language.text("rival_gates_passed", name=rival.dataset_name))

    shown = len(content.ranking.items)
    total = content.ranking.total_count
    passing = [item.dataset_name for item in content.ranking.items if not open_gates(item)]
    if len(passing) == 1:
        yield Line(language.text("only_passing", name=passing[0], shown=shown, total=total))
    else:
        yield Line(language.text("passing_count", count=len(passing), shown=shown, total=total))


def _reason_without_comparison(content: ReportContent) -> str:
    """Return the key of the sentence that says why there are no two datasets to compare."""
    is_unranked = content.choice is not None and content.choice.standing is None
    return "rival_unranked" if is_unranked else "no_rival"


def _what_is_unknown(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the unknown facts about the dataset in question, and their effect on its scores."""
    evidence = content.evidence
    if evidence is None:
        yield Line(language.text("nothing_to_know"), Style.BAD)
        return

    ethical = [attribute for attribute in evidence.attributes if attribute.name in ETHICAL]
    unknown = [attribute for attribute in ethical if attribute.counted_value is None]
    true_count = sum(attribute.counted_value is True for attribute in ethical)
    yield Line(
        language.text(
            "known_of_ten",
            name=evidence.dataset.name,
            known=len(ethical) - len(unknown),
            assurance=language.assurance(content.need.assurance),
        ),
        Style.STRONG,
    )
    known_names = [
        f"{language.attribute(attribute.name)} ({language.claim_value(attribute.counted_value)})"
        for attribute in ethical
        if attribute.counted_value is not None
    ]
    if known_names:
        yield Line(language.text("known_names", names=language.enumeration(known_names)))
    if unknown:
        names = language.enumeration([language.attribute(attribute.name) for attribute in unknown])
        yield Line(language.text("unknown_names", names=names), Style.UNKNOWN)
        low, high = true_count / len(ETHICAL), (true_count + len(unknown)) / len(ETHICAL)
        yield Line(language.text("ethical_bounds", low=language.decimal(low), high=language.decimal(high)))
    yield from _open_points(content, language)

    for prospects in content.prospects:
        if prospects.dataset_id == evidence.dataset.id:
            yield Line(_unknown_ranks(prospects, language))

    unknown_criteria = _unknown_weighted_criteria(content)
    if unknown_criteria:
        names = language.enumeration([language.criterion(name) for name in unknown_criteria])
        yield Line(language.text("unknown_criteria", names=names), Style.UNKNOWN)
    if not unknown and not unknown_criteria:
        yield Line(language.text("nothing_unknown"), Style.GOOD)


def _item_in_question(content: ReportContent) -> ExplainedItem | None:
    """Return the chosen dataset in the ranking, or the first of the ranking if nothing is chosen."""
    if content.choice is not None:
        return content.choice.standing
    return content.ranking.items[0] if content.ranking.items else None


def _open_points(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield, by criterion, the points that unknown facts could add to the score of the dataset in question."""
    item = _item_in_question(content)
    if item is None:
        return

    points: list[str] = []
    for weight in content.need.weights:
        name = weight.criterion_name
        best_points = weight.share * item.best_case.criterion_scores[name]
        gain = best_points - item.points[name]
        if gain > _ROUNDING_ERROR:
            points.append(f"{language.criterion(name)} {language.signed(gain)}")

    if points:
        yield Line(language.text("open_points", points=language.enumeration(points)))


def _unknown_ranks(prospects: ReportedProspects, language: ReportLanguage) -> str:
    """Return between which ranks a dataset is, and whose unknown attributes that depends on."""
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
    """Return the weighted criteria for which no fact about the dataset in question is known."""
    item = _item_in_question(content)
    if item is None:
        return []

    weighted = [weight.criterion_name for weight in content.need.weights]
    return [name for name in weighted if name in item.unknown]


def _what_would_change_it(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield the changes that would put the rival first, and the robustness of the chosen dataset's place."""
    if content.comparison is None or content.robustness is None:
        yield Line(language.text(_reason_without_comparison(content)))
        return

    above, below = content.comparison.above, content.comparison.below
    for prospects in content.prospects:
        if prospects.target_rank is not None:
            sentence = target_rank_sentence(lifts_facts(prospects), language.locale)
            yield Line(language.with_fixed_spaces(sentence))

    is_lower_chosen = content.choice is not None and content.choice.dataset.id == below.id
    subject = below if is_lower_chosen else above
    places = {place.dataset_id: place for place in content.robustness.places}
    if subject.id in places:
        place = places[subject.id]
        facts = stability_facts(place, content.robustness, content.ranking.total_count)
        yield Line(language.with_fixed_spaces(stability_sentence(facts, language.locale)))
        key = "same_rank_trivial" if is_robustness_trivial(content) else "same_rank"
        yield Line(language.text(key, share=language.percent(place.same_rank_share)))

    if content.comparison.reversal is not None:
        yield Line(language.text("reversal_hint"), Style.MUTED)
