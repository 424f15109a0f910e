"""The first section of a report: four questions, answered in a few sentences each."""

from collections.abc import Iterator

from touchstone.core.attributes import ETHICAL
from touchstone.services.selection.projects.chosen_dataset import ChosenDatasetState
from touchstone.services.selection.report.content import ReportContent, ReportedComparison
from touchstone.services.selection.report.document import Answer, Line, Section, Style
from touchstone.services.selection.report.language import ReportLanguage


def summary_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section that answers what was chosen, why not another dataset, what is unknown and what would help."""
    answers = [
        Answer(language.text("what_chosen"), list(_what_was_chosen(content, language))),
        Answer(_rival_question(content, language), list(_why_not_the_rival(content, language))),
        Answer(language.text("what_unknown"), list(_what_is_unknown(content, language))),
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
        yield Line(
            language.text(
                "chosen_ranked",
                name=choice.dataset.name,
                rank=language.rank(choice.standing),
                total=content.ranking.total_count,
                score=language.decimal(choice.standing.score),
            ),
            Style.STRONG,
        )

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
        is_unranked = content.choice is not None and content.choice.standing is None
        yield Line(language.text("rival_unranked" if is_unranked else "no_rival"))
        return

    yield Line(lead_sentence(comparison, language), Style.STRONG)
    above, below = comparison.above.dataset_name, comparison.below.dataset_name
    criteria_for = _criteria_with_points(comparison, language, sign=1)
    if criteria_for:
        yield Line(language.text("lead_for", above=above, criteria=criteria_for))
    criteria_against = _criteria_with_points(comparison, language, sign=-1)
    if criteria_against:
        yield Line(language.text("lead_against", below=below, criteria=criteria_against))

    choice = content.choice
    if choice is not None and choice.dataset.id == comparison.below.id:
        yield Line(language.text("chosen_in_spite", below=below))


def lead_sentence(comparison: ReportedComparison, language: ReportLanguage) -> str:
    """Return the sentence that says by how much one dataset is ahead of another."""
    above, below = comparison.above, comparison.below
    return language.text(
        "lead" if above.score > below.score else "lead_none",
        above=above.dataset_name,
        below=below.dataset_name,
        lead=language.decimal(above.score - below.score),
        above_score=language.decimal(above.score),
        below_score=language.decimal(below.score),
    )


def _criteria_with_points(comparison: ReportedComparison, language: ReportLanguage, *, sign: int) -> str:
    """Return the criteria in which one dataset is ahead, with the points, the most decisive first.

    With the sign 1 they are those in which the first dataset is ahead, with -1 those of the second.
    """
    leading = [difference for difference in comparison.differences if difference.difference * sign > 0]
    leading.sort(key=lambda difference: -abs(difference.difference))
    return language.enumeration(
        [
            language.text(
                "criterion_points",
                criterion=language.criterion(difference.criterion_name),
                points=language.signed(abs(difference.difference)),
            )
            for difference in leading
        ]
    )


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
