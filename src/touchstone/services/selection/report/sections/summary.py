"""The first section of a report: four questions, answered in a few sentences each."""

from collections.abc import Iterator

from touchstone.core.attributes import ETHICAL
from touchstone.messages.reasons import (
    comparison_sentence,
    rank_range_sentence,
    rank_sentence,
    stability_sentence,
    target_rank_sentence,
)
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState
from touchstone.services.selection.report.content import ReportContent
from touchstone.services.selection.report.document import Answer, Line, Section, Style
from touchstone.services.selection.report.language import ReportLanguage
from touchstone.services.selection.report.sections.ranking import gate_lines
from touchstone.services.selection.report.sentence_facts import (
    comparison_facts,
    known_ranks_facts,
    lifts_facts,
    stability_facts,
)


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
    """Yield which dataset was chosen, and for which reason."""
    choice = content.choice
    if choice is None:
        yield Line(language.text("chosen_nothing"), Style.STRONG)
        yield _first_proposal(content, language)
        return

    if choice.state is ChosenDatasetState.WITHDRAWN:
        yield Line(language.text("chosen_gone", name=language.dataset(choice.dataset)), Style.BAD)
    elif choice.standing is None:
        yield Line(language.text("chosen_unranked", name=choice.dataset.name), Style.STRONG)
    else:
        facts = choice.standing.rank_facts(content.ranking.total_count)
        yield Line(language.text("chosen", name=choice.dataset.name), Style.STRONG)
        yield Line(rank_sentence(facts, language.locale))
        if content.need.gates:
            yield from gate_lines(choice.standing, content.need, language)

    if choice.reason:
        yield Line(language.text("reason_given", reason=choice.reason))
    else:
        yield Line(language.text("reason_none"), Style.BAD)
    if choice.state is ChosenDatasetState.CHANGED:
        yield Line(language.text("chosen_changed"), Style.UNKNOWN)


def _first_proposal(content: ReportContent, language: ReportLanguage) -> Line:
    """Return which dataset the ranking proposes while nothing is chosen."""
    if not content.ranking.items:
        return Line(language.text("nothing_matches"))
    first = content.ranking.items[0]
    return Line(language.text("first_proposed", name=first.dataset_name, score=language.decimal(first.score)))


def _rival_question(content: ReportContent, language: ReportLanguage) -> str:
    """Return the question about the dataset with which the chosen one is compared."""
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

    yield Line(comparison_sentence(comparison_facts(comparison), language.locale), Style.STRONG)

    choice = content.choice
    if choice is not None and choice.dataset.id == comparison.below.id:
        yield Line(language.text("chosen_in_spite", below=comparison.below.dataset_name))


def _reason_without_comparison(content: ReportContent) -> str:
    """Return the key of the sentence that says why there are no two datasets to compare."""
    is_unranked = content.choice is not None and content.choice.standing is None
    return "rival_unranked" if is_unranked else "no_rival"


def _what_is_unknown(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield what is not known about the dataset in question, and what that means for its scores."""
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
    if unknown:
        names = language.enumeration([language.attribute(attribute.name) for attribute in unknown])
        yield Line(language.text("unknown_names", names=names), Style.UNKNOWN)
        low, high = true_count / len(ETHICAL), (true_count + len(unknown)) / len(ETHICAL)
        yield Line(
            language.text("ethical_bounds", low=language.decimal(low, digits=1), high=language.decimal(high, digits=1))
        )

    for prospects in content.prospects:
        if prospects.dataset_id == evidence.dataset.id:
            yield Line(rank_range_sentence(known_ranks_facts(prospects), language.locale))

    unknown_criteria = _unknown_weighted_criteria(content)
    if unknown_criteria:
        names = language.enumeration([language.criterion(name) for name in unknown_criteria])
        yield Line(language.text("unknown_criteria", names=names), Style.UNKNOWN)
    if not unknown and not unknown_criteria:
        yield Line(language.text("nothing_unknown"), Style.GOOD)


def _unknown_weighted_criteria(content: ReportContent) -> list[str]:
    """Return the weighted criteria of which nothing is known about the dataset in question."""
    if content.choice is not None:
        item = content.choice.standing
    else:
        item = content.ranking.items[0] if content.ranking.items else None
    if item is None:
        return []

    weighted = [weight.criterion_name for weight in content.need.weights]
    return [name for name in weighted if name in item.unknown]


def _what_would_change_it(content: ReportContent, language: ReportLanguage) -> Iterator[Line]:
    """Yield what would put the rival in the place of the chosen dataset, and how robust that place is."""
    if content.comparison is None or content.robustness is None:
        yield Line(language.text(_reason_without_comparison(content)))
        return

    above, below = content.comparison.above, content.comparison.below
    for prospects in content.prospects:
        if prospects.target_rank is not None:
            yield Line(target_rank_sentence(lifts_facts(prospects), language.locale))

    subject = below if content.choice and content.choice.dataset.id == below.id else above
    places = {place.dataset_id: place for place in content.robustness.places}
    if subject.id in places:
        facts = stability_facts(places[subject.id], content.robustness)
        yield Line(stability_sentence(facts, language.locale))
    if content.comparison.reversal is not None:
        yield Line(language.text("reversal_hint"), Style.MUTED)
