"""One sentence, to be quoted, for each reason of a ranking: why a dataset is where it is, and how certain that is.

Each function makes a sentence of typed facts and nothing else, so that pages, reports and the command line say the same
of the same facts. Names of criteria and attributes come as pairs of a French and an English label.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from touchstone.messages.locales import LOCALES, Text
from touchstone.messages.numbers import (
    format_bound,
    format_count,
    format_decimal,
    format_distinct,
    format_percentage,
    format_signed,
    format_significant,
)
from touchstone.messages.plurals import with_count
from touchstone.messages.reason_phrases import REASON_PHRASES

_LISTED_CRITERIA: Final = 3  # further ones are counted
_ETHICAL_COUNT: Final = 10
_ROBUST_SHARE: Final = 0.9
_FIRST_ORDINALS: Final = {1: "st", 2: "nd", 3: "rd"}
_ROUNDING_ERROR: Final = 1e-12  # points that differ by less are equal
_TEENS: Final = (11, 12, 13)


@dataclass(frozen=True, slots=True)
class LabeledPoints:
    """What a criterion adds to a score or to the difference of two scores."""

    label: Text
    points: float


@dataclass(frozen=True, slots=True)
class RankFacts:
    """Why a dataset has its place.

    Attributes:
        place: 1 plus the number of datasets with a higher score.
        tied_with: How many other datasets have the same score.
        total_count: How many datasets are ranked.
        points: What each weighted criterion adds to the score.
        unknown: The labels of the weighted criteria of which nothing is known.
        known: How many of the ten ethical attributes are known; None if they do not count in this ranking.
        highest_score: The score if everything unknown were as favourable as possible; None if that is not known.
    """

    name: str
    place: int
    tied_with: int
    total_count: int
    score: float
    points: Sequence[LabeledPoints]
    unknown: Sequence[Text] = ()
    known: int | None = None
    highest_score: float | None = None


@dataclass(frozen=True, slots=True)
class WeightChange:
    """The change of one weight at which two datasets have the same score; beyond it, their order is reversed."""

    label: Text
    weight: float
    reversing_weight: float


@dataclass(frozen=True, slots=True)
class ComparisonFacts:
    """Why a dataset is above another.

    Attributes:
        above, below: Their names.
        differences: By how many points the upper dataset is better in each criterion; negative where it is worse.
        reversal: The smallest change of a single weight that reverses their order; None if there is none.
    """

    above: str
    below: str
    above_score: float
    below_score: float
    differences: Sequence[LabeledPoints]
    reversal: WeightChange | None


@dataclass(frozen=True, slots=True)
class StabilityFacts:
    """How a dataset among the first k fares when the weights vary.

    Attributes:
        samples: How many variations of the weights were tried.
        spread: The largest change of a weight, as a share of it.
        share: The share of variations in which the dataset stays among the first k.
        best_rank, worst_rank: Its ranks in the variations; None where they are beyond 10 k.
        overtaken_by: The name of the closest dataset that overtakes it; None if none does.
    """

    name: str
    k: int
    samples: int
    spread: float
    share: float
    best_rank: int | None
    worst_rank: int | None
    overtaken_by: str | None


@dataclass(frozen=True, slots=True)
class EstablishedValue:
    """A value that an attribute would have if somebody established it."""

    label: Text
    value: bool


@dataclass(frozen=True, slots=True)
class LiftsFacts:
    """What would raise a dataset to a rank: a smallest set of values to be established, or None if no set does."""

    name: str
    rank: int
    target_rank: int
    attributes: Sequence[EstablishedValue] | None


@dataclass(frozen=True, slots=True)
class RankRangeFacts:
    """The ranks that a dataset can have, whatever is found out about unknown ethical attributes."""

    name: str
    rank: int
    best_rank: int
    worst_rank: int


def rank_sentence(facts: RankFacts, locale: str) -> str:
    """Say why a dataset has its place: what its score is made of, and what is unknown."""
    key = "rank_tied" if facts.tied_with else "rank"
    beginning = _phrase(
        key,
        locale,
        name=facts.name,
        place=_ordinal(facts.place, locale),
        total=format_count(facts.total_count, locale),
        others=facts.tied_with,
        score=format_decimal(facts.score, locale),
    )
    parts = [beginning, _rank_points(facts.points, locale)]

    if facts.unknown:
        labels = _enumerate([_quoted(label, locale) for label in facts.unknown], locale)
        parts.append(_phrase("rank_unknown", locale, labels=labels))
    if facts.known is not None and facts.known < _ETHICAL_COUNT:
        unknown_count = _ETHICAL_COUNT - facts.known
        parts.append(_phrase("rank_unknown_ethical", locale, count=unknown_count, total=_ETHICAL_COUNT))
    if facts.highest_score is not None and facts.highest_score > facts.score:
        parts.append(_phrase("rank_highest", locale, score=format_decimal(facts.highest_score, locale)))

    return "".join(parts) + "."


def _rank_points(points: Sequence[LabeledPoints], locale: str) -> str:
    """Say what the criteria add to a score: the largest contributions by name, and the others together."""
    contributions = sorted((item for item in points if item.points > 0), key=lambda item: -item.points)
    if not contributions:
        return _phrase("rank_without_points", locale)

    listed, others = _split_listed(contributions)
    phrases: list[str] = []
    for item in listed:
        key = "next_points" if phrases else "first_points"
        item_points = format_decimal(item.points, locale)
        phrases.append(_phrase(key, locale, label=_quoted(item.label, locale), points=item_points))
    if others:
        other_points = format_decimal(sum(item.points for item in others), locale)
        phrases.append(_phrase("other_points", locale, count=len(others), points=other_points))

    return _phrase("rank_points", locale, points=_enumerate(phrases, locale))


def comparison_sentence(facts: ComparisonFacts, locale: str) -> str:
    """Say why a dataset is above another, and which change of a single weight would reverse their order."""
    if facts.above_score == facts.below_score:
        score = format_decimal(facts.above_score, locale)
        return _phrase("comparison_tied", locale, above=facts.above, below=facts.below, score=score)

    above_score, below_score = format_distinct(facts.above_score, facts.below_score, locale)
    parts = [
        _phrase(
            "comparison",
            locale,
            above=facts.above,
            below=facts.below,
            above_score=above_score,
            below_score=below_score,
        )
    ]

    gains = [item for item in facts.differences if item.points > _ROUNDING_ERROR]
    losses = [item for item in facts.differences if item.points < -_ROUNDING_ERROR]
    if gains:
        parts.append(_phrase("comparison_gains", locale, gains=_differences(gains, locale)))
    if losses:
        parts.append(_phrase("comparison_losses", locale, below=facts.below, losses=_differences(losses, locale)))

    parts.append(_reversal(facts.reversal, locale))
    return "".join(parts) + "."


def _differences(differences: Sequence[LabeledPoints], locale: str) -> str:
    """List differences of points: the largest by name, and the others together."""
    largest_first = sorted(differences, key=lambda item: -abs(item.points))
    listed, others = _split_listed(largest_first)

    phrases = []
    for item in listed:
        points = format_signed(item.points, locale)
        phrases.append(_phrase("difference", locale, label=_quoted(item.label, locale), points=points))
    if others:
        other_points = format_signed(sum(item.points for item in others), locale)
        phrases.append(_phrase("other_differences", locale, count=len(others), points=other_points))
    return _enumerate(phrases, locale)


def _reversal(reversal: WeightChange | None, locale: str) -> str:
    """Say which change of a single weight would reverse the order of two datasets."""
    if reversal is None:
        return _phrase("reversal_none", locale)

    if reversal.reversing_weight == 0 < reversal.weight:
        weight = format_significant(reversal.weight, locale)
        return _phrase("reversal_zero", locale, label=_quoted(reversal.label, locale), weight=weight)

    is_rise = reversal.reversing_weight >= reversal.weight
    return _phrase(
        "reversal_up" if is_rise else "reversal_down",
        locale,
        label=_quoted(reversal.label, locale),
        weight=format_significant(reversal.weight, locale),
        bound=format_bound(reversal.reversing_weight, locale, is_lower=is_rise),
    )


def stability_sentence(facts: StabilityFacts, locale: str) -> str:
    """Say how robust the place of a dataset is against changes of the weights."""
    verdict = "stability_robust" if facts.share >= _ROBUST_SHARE else "stability_fragile"
    parts = [
        _phrase(verdict, locale, name=facts.name),
        _phrase(
            "stability_share_one" if facts.k == 1 else "stability_share",
            locale,
            k=facts.k,
            kept=round(facts.share * facts.samples),
            samples=facts.samples,
            spread="±" + format_percentage(facts.spread, locale),
        ),
        _sampled_ranks(facts, locale),
    ]
    if facts.overtaken_by is not None:
        parts.append(_phrase("stability_overtaken", locale, name=facts.overtaken_by))
    return "".join(parts) + "."


def _sampled_ranks(facts: StabilityFacts, locale: str) -> str:
    """Say between which ranks a dataset moves when the weights vary."""
    if facts.best_rank is None:
        return _phrase("stability_beyond", locale, limit=10 * facts.k)
    if facts.worst_rank is None:
        return _phrase("stability_open", locale, best=facts.best_rank, limit=10 * facts.k)
    if facts.worst_rank == facts.best_rank:
        return _phrase("stability_constant", locale, best=facts.best_rank)
    return _phrase("stability_ranks", locale, best=facts.best_rank, worst=facts.worst_rank)


def lifts_sentence(facts: LiftsFacts, locale: str) -> str:
    """Say what would have to be established for a dataset to reach a rank."""
    rank, target = format_count(facts.rank, locale), format_count(facts.target_rank, locale)
    if facts.rank <= facts.target_rank:
        return _phrase("lifts_reached", locale, name=facts.name, rank=rank)
    if facts.attributes is None:
        return _phrase("lifts_none", locale, name=facts.name, rank=rank, target=target)

    phrases = []
    for attribute in facts.attributes:
        key = "lift_true" if attribute.value else "lift_false"
        phrases.append(_phrase(key, locale, label=_localized(attribute.label, locale)))
    attributes = _enumerate(phrases, locale)
    return _phrase("lifts", locale, name=facts.name, rank=rank, target=target, attributes=attributes)


def known_ranks_sentence(facts: RankRangeFacts, locale: str) -> str:
    """Say between which ranks a dataset is, whatever is found out about unknown ethical attributes."""
    is_certain = facts.best_rank == facts.worst_rank
    return _phrase(
        "known_ranks_certain" if is_certain else "known_ranks",
        locale,
        name=facts.name,
        rank=format_count(facts.rank, locale),
        best=format_count(facts.best_rank, locale),
        worst=format_count(facts.worst_rank, locale),
    )


def _split_listed(items: Sequence[LabeledPoints]) -> tuple[Sequence[LabeledPoints], Sequence[LabeledPoints]]:
    """Return the criteria that a sentence names, and those that it counts; a single one is always named."""
    if len(items) == _LISTED_CRITERIA + 1:
        return items, ()
    return items[:_LISTED_CRITERIA], items[_LISTED_CRITERIA:]


def _ordinal(position: int, locale: str) -> str:
    """Return a position as an ordinal number, such as `1st`, or `1re` in French."""
    number = format_count(position, locale)
    if locale == "fr":
        return number + ("re" if position == 1 else "e")
    if position % 100 in _TEENS:
        return number + "th"
    return number + _FIRST_ORDINALS.get(position % 10, "th")


def _enumerate(phrases: Sequence[str], locale: str) -> str:
    """Return phrases with commas between them, and the word for "and" before the last one."""
    *others, last = phrases
    if not others:
        return last
    return _phrase("and", locale, items=", ".join(others), last=last)


@cache
def _quoted(label: Text, locale: str) -> str:
    """Return the label of a criterion in quotation marks."""
    return _phrase("quoted", locale, label=_localized(label, locale))


def _localized(text: Text, locale: str) -> str:
    """Return one language of a text."""
    return text[LOCALES.index(locale)]


def _phrase(key: str, locale: str, **facts: str | int) -> str:
    """Return a part of a sentence with its placeholders filled in; numbers decide between singular and plural."""
    for name, fact in facts.items():
        if isinstance(fact, int):
            facts[name] = with_count(format_count(fact, locale), fact, locale)
    return _localized(REASON_PHRASES[key], locale).format(**facts)
