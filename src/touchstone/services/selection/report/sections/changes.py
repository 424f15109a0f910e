"""The report section about the effect of other weights and of newly verified attributes on the ranking."""

from typing import Final

from touchstone.ranking.reasons.stability import Verdict
from touchstone.services.selection.report.document import (
    Block,
    Column,
    Row,
    Section,
    Style,
    Table,
    paragraph,
    text_cell,
)
from touchstone.services.selection.report.fact_types import (
    ReportContent,
    ReportedPlace,
    ReportedProspects,
    ReportedRobustness,
)
from touchstone.services.selection.report.language import DASH, ReportLanguage

MAX_LIFTS: Final = 5
"""The maximum number of attributes in a table of score gains. The JSON format contains all of them."""
_VERDICT_STYLES: Final = {Verdict.ROBUST: Style.GOOD, Verdict.FRAGILE: Style.UNKNOWN}


def changes_section(content: ReportContent, language: ReportLanguage) -> Section:
    """Return the section with the stability of the first places, and the possible gains of the compared datasets."""
    title = language.text("changes")
    if content.robustness is None:
        return Section("changes", title, [paragraph(language.text("nothing_matches"))])

    robustness = content.robustness
    spread = language.percent(robustness.spread)
    lead = language.text("robustness_lead", k=robustness.k, samples=robustness.samples, spread=spread)
    blocks: list[Block] = [paragraph(lead)]
    if is_robustness_trivial(content):
        total = content.ranking.total_count
        blocks.append(paragraph(language.text("robustness_trivial", total=total, k=robustness.k)))
    blocks.append(_robustness_table(content, robustness, language))

    # The first dataset cannot rise any further.
    for prospects in content.prospects:
        if prospects.rank > 1:
            blocks += _prospects_blocks(prospects, language)
    return Section("changes", title, blocks)


def is_robustness_trivial(content: ReportContent) -> bool:
    """Return whether at most k datasets are ranked, so that none can leave the first k."""
    return content.robustness is not None and content.ranking.total_count <= content.robustness.k


def _robustness_table(content: ReportContent, robustness: ReportedRobustness, language: ReportLanguage) -> Table:
    """Return the table that shows how stable the first places are when the weights vary."""
    columns = [
        Column(language.text("rank"), is_number=True),
        Column(language.text("dataset"), width=3),
        Column(language.text("share_of_samples", k=robustness.k), is_number=True, width=1.2),
        Column(language.text("share_of_same_rank"), is_number=True, width=0.8),
        Column(language.text("sampled_ranks"), is_number=True, width=1.2),
        Column(language.text("overtaken_by"), width=2),
    ]
    chosen_id = content.choice.dataset.id if content.choice else None
    has_verdict = not is_robustness_trivial(content)
    if has_verdict:
        columns.append(Column(language.text("verdict")))
    rows = [
        _place_row(place, robustness, language, is_chosen=place.dataset_id == chosen_id, has_verdict=has_verdict)
        for place in robustness.places
    ]
    return Table(language.text("robustness_caption"), columns, rows)


def _place_row(
    place: ReportedPlace,
    robustness: ReportedRobustness,
    language: ReportLanguage,
    *,
    is_chosen: bool,
    has_verdict: bool,
) -> Row:
    """Return the row that shows how stable the place of one dataset is when the weights vary.

    Args:
        place: the stability of the place. A best or worst place is None if it is beyond the first 10 k places.
        robustness: the options and results for all places.
        language: the language of the report.
        is_chosen: whether it is the place of the chosen dataset.
        has_verdict: whether the table has a column with verdicts.
    """
    beyond_limit = language.text("beyond", limit=10 * robustness.k)
    best = beyond_limit if place.best_place is None else language.integer(place.best_place)
    worst = beyond_limit if place.worst_place is None else language.integer(place.worst_place)
    sampled_places = best if best == worst else f"{best} – {worst}"

    cells = [
        text_cell(language.rank(place)),
        text_cell(place.name, Style.STRONG if is_chosen else Style.PLAIN),
        text_cell(language.percent(place.share)),
        text_cell(language.percent(place.same_rank_share)),
        text_cell(sampled_places),
        text_cell(place.overtaken_by or DASH),
    ]
    if has_verdict:
        cells.append(text_cell(language.text(f"verdict_{place.verdict}"), _VERDICT_STYLES[place.verdict]))
    return Row(cells, is_emphasized=is_chosen)


def _prospects_blocks(prospects: ReportedProspects, language: ReportLanguage) -> list[Block]:
    """Return a table of the attributes that would raise the score of one dataset most, or a sentence if none would."""
    if not prospects.lifts:
        return [paragraph(language.text("lifts_nothing", name=prospects.name), Style.MUTED)]

    shown_lifts = prospects.lifts[:MAX_LIFTS]
    columns = [
        Column(language.text("attribute"), width=3),
        Column(language.text("established_value"), is_number=True, width=1.5),
        Column(language.text("gain"), is_number=True),
        Column(language.text("new_score"), is_number=True),
        Column(language.text("new_rank"), is_number=True),
    ]
    rows = [
        Row(
            [
                text_cell(language.attribute(lift.attribute)),
                text_cell(language.claim_value(lift.value)),
                text_cell(language.signed(lift.gain)),
                text_cell(language.decimal(lift.score)),
                text_cell(language.integer(lift.rank)),
            ]
        )
        for lift in shown_lifts
    ]
    caption = language.text("lifts_caption", name=prospects.name, shown=len(shown_lifts), count=len(prospects.lifts))
    return [Table(caption, columns, rows)]
