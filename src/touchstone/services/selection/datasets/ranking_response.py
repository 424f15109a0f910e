"""Encoding of rankings. Long rankings are encoded while they are sent."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace
from starlette.responses import Response

from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import Assurance
from touchstone.http.responses import JsonResponse, JsonStream
from touchstone.messages import ranking_note_text
from touchstone.messages.locales import DEFAULT_LOCALE, in_language
from touchstone.messages.reasons import RankFacts, rank_sentence
from touchstone.ranking.array_types import Facts, Floats, Ints
from touchstone.ranking.catalog.results import RankedRecords, RankedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERION_LABELS, CRITERION_NAMES
from touchstone.ranking.reasons.best_case import best_case_criterion_scores
from touchstone.ranking.reasons.notes import NoteCollector, RankingNote
from touchstone.ranking.reasons.points import points_by_criterion, unknown_criteria
from touchstone.ranking.reasons.points_by_level import SupportedFacts, points_by_level
from touchstone.ranking.weighted_mean import score_matrix
from touchstone.services.selection.datasets.encoded_records import encode_members
from touchstone.services.selection.datasets.scoring_request import RankingOptions, ScoringRequest
from touchstone.services.selection.gates import GateOutcomes, judge_gates
from touchstone.services.selection.parameters import ParameterValues
from touchstone.services.selection.reason_labels import labeled_points
from touchstone.services.selection.weights import CriterionWeight

# Rankings with more items are streamed.
MAX_ITEMS_AT_ONCE: Final = 1000
# The number of items in a chunk. Encoding a chunk takes one to three milliseconds. Other requests can run in between.
CHUNK: Final = 4000
EXPLAINED_CHUNK: Final = 50


def _possible_ethical_intervals() -> dict[tuple[float, int], tuple[float, float]]:
    """Return the lowest and the highest possible ethical score for each score and number of known attributes.

    The ethical score is the share of the ten ethical attributes that are true. Unknown attributes count as false, so
    the score is also the lowest possible one. The highest possible score counts all unknown attributes as true. For
    example, a dataset with three true, two false and five unknown attributes has the key (0.3, 5) and the interval
    (0.3, 0.8). The scores of the catalog are results of the same division, so they are equal to the keys.
    """
    intervals = {}
    for known_count in range(len(ETHICAL) + 1):
        unknown_count = len(ETHICAL) - known_count
        for true_count in range(known_count + 1):
            score = true_count / len(ETHICAL)
            highest_score = (true_count + unknown_count) / len(ETHICAL)
            intervals[score, known_count] = (score, highest_score)

    return intervals


ETHICAL_INTERVALS: Final = _possible_ethical_intervals()
"""The lowest and the highest possible ethical score, by the score and the number of known ethical attributes.

A long ranking needs millions of intervals, but only 66 of them are different.
"""


class ScoredItem(msgspec.Struct, frozen=True, gc=False):
    """A dataset in a ranking (interface, section 2.6).

    Attributes:
        rank: the position in the ranking, which is unique.
        place: 1 + the number of datasets with a higher score, so that equal scores share a place.
        tied_with: the number of other datasets in the whole ranking with exactly the same score.
        known: the number of the ten ethical attributes that are known to be true or false, at the assurance of the
            request.
        ethical_interval: the ethical score if all unknown attributes were false, and if all were true.
        gates: the outcome of each gate, or UNSET if the request has no gates.
    """

    dataset_id: str
    dataset_name: str
    score: float
    ethical_score: float
    technical_score: float
    popularity_score: float
    instances_number: int | None
    features_number: int | None
    objective: str | None
    id: int
    rank: int
    place: int
    tied_with: int
    known: int
    ethical_interval: tuple[float, float]
    gates: GateOutcomes | UnsetType


class DeclaredStanding(msgspec.Struct, frozen=True, gc=False):
    """The score and the number of known ethical attributes if mere declarations counted as evidence."""

    score: float
    known: int


class BestCase(msgspec.Struct, frozen=True, gc=False):
    """The scores of a dataset if all unknown attributes had the most favourable values."""

    score: float
    criterion_scores: dict[str, float]


class ExplainedItem(ScoredItem, frozen=True, gc=False):
    """A dataset in a ranking with the composition of its score.

    Attributes:
        criterion_scores: the value of each criterion.
        points: the contribution of each criterion to the score; they add up to the score.
        unknown: the criteria without any known attribute; their value is 0.
        points_by_level: the part of the score that each level of evidence supports; the parts add up to the score.
        declared: the score and the number of known attributes at the assurance `declared`.
        best_case: the highest score and criterion values that the unknown attributes allow.
        sentence: an explanation of the place in one sentence, or UNSET if the ranking has no language.
    """

    criterion_scores: dict[str, float]
    points: dict[str, float]
    unknown: list[str]
    points_by_level: dict[str, float]
    declared: DeclaredStanding
    best_case: BestCase
    sentence: str | UnsetType = UNSET

    def rank_facts(self, total_count: int) -> RankFacts:
        """Return the facts for the sentence that explains the place of this dataset.

        Unknown criteria are only included if they have a weight. The number of known ethical attributes is only
        included if the ethical score has a weight and is not unknown itself.
        """
        has_ethical_weight = "ethical_score" in self.points
        is_ethical_score_unknown = "ethical_score" in self.unknown
        includes_known_count = has_ethical_weight and not is_ethical_score_unknown
        weighted_unknown = [criterion for criterion in self.unknown if criterion in self.points]

        return RankFacts(
            name=self.dataset_name,
            place=self.place,
            tied_with=self.tied_with,
            total_count=total_count,
            score=self.score,
            points=labeled_points(self.points),
            unknown=[CRITERION_LABELS[criterion] for criterion in weighted_unknown],
            known=self.known if includes_known_count else None,
            highest_score=self.best_case.score,
        )


class NoteJson(msgspec.Struct, frozen=True):
    """A note on a weighted criterion that does not distinguish the returned datasets, with its sentence."""

    code: str
    criterion_name: str
    value: float | None
    sentence: str


class RankingSummary(msgspec.Struct, frozen=True):
    """The members of the JSON object with a ranking, apart from the items."""

    total_count: int
    effective_weights: list[CriterionWeight]
    assurance: Assurance
    notes: list[NoteJson]


class ScoreSummary(RankingSummary, frozen=True):
    """The members of the envelope of a scoring response, apart from the items."""

    profile: str | None
    plan: str


@dataclass(frozen=True, slots=True)
class RankingResult:
    """A window of a ranking over one view of the catalog, ready to be encoded.

    Attributes:
        gates: the gates to report the outcome of for each item.
        locale: the language of the sentences that explain items, or None to leave them out.
    """

    view: View
    ranked: RankedWindow
    weights: Mapping[str, float]
    options: RankingOptions
    gates: ParameterValues = field(default_factory=dict)
    locale: str | None = None

    def items(self, records: RankedRecords) -> list[ScoredItem]:
        """Return the response items for a part of the ranking, with explanations if the request asks for them."""
        positions = records.positions
        columns = self.view.items(positions)
        # Long rankings have millions of items, so zip whole columns, in the order of the fields of ScoredItem.
        fields = (
            columns.dataset_id,
            columns.dataset_name,
            records.scores.tolist(),
            columns.ethical_score,
            columns.technical_score,
            columns.popularity_score,
            columns.instances_number,
            columns.features_number,
            columns.objective,
            columns.id,
            records.ranks,
            records.places.tolist(),
            records.tied_with.tolist(),
            columns.known,
            map(ETHICAL_INTERVALS.__getitem__, zip(columns.ethical_score, columns.known, strict=True)),
            judge_gates(self.view, positions, self.gates) if self.gates else repeat(UNSET),
        )
        if not self.options.explain:
            return list(map(ScoredItem, *fields))

        explained_items = map(ExplainedItem, *fields, *self._explanations(positions))
        return [self._with_sentence(item) for item in explained_items]

    def _with_sentence(self, item: ExplainedItem) -> ExplainedItem:
        """Return an item with the sentence about its rank, unless the ranking has no language."""
        if self.locale is None:
            return item

        facts = item.rank_facts(self.ranked.total_count)
        return replace(item, sentence=rank_sentence(facts, self.locale))

    def _explanations(self, positions: Ints) -> tuple[Iterable[Any], ...]:
        """Return the columns that explain the scores of records, in the order of the fields of ExplainedItem."""
        facts = self.view.facts(positions)
        criterion_scores = self.view.criterion_scores(positions)

        declared_view = self.view.declared
        declared_scores = score_matrix(declared_view.criterion_scores(positions).T, self.weights)
        supported_facts = SupportedFacts.from_packed_levels(facts, self.view.evidence_levels(positions))
        return (
            _by_criterion_name(criterion_scores),
            points_by_criterion(criterion_scores, self.weights),
            unknown_criteria(facts),
            points_by_level(supported_facts, criterion_scores, self.weights),
            map(DeclaredStanding, declared_scores.tolist(), declared_view.known_ethical_counts(positions).tolist()),
            best_cases(facts, self.weights),
        )

    def encode_chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the items of the JSON array in chunks, with separating commas but without the brackets."""
        chunk_size = EXPLAINED_CHUNK if self.options.explain else CHUNK
        is_first_chunk = True

        for records in self.ranked.chunks(chunk_size):
            if not is_first_chunk:
                yield b","

            encoded_array = msgspec.json.encode(self.items(records))
            # Remove the brackets without copying the array.
            yield memoryview(encoded_array)[1:-1]

            is_first_chunk = False


def best_cases(facts: Facts, weights: Mapping[str, float]) -> list[BestCase]:
    """Return the best case of each record, given the known and unknown attributes of all records."""
    criterion_scores = best_case_criterion_scores(facts)
    scores = score_matrix(criterion_scores.T, weights)
    return list(map(BestCase, scores.tolist(), _by_criterion_name(criterion_scores)))


def _by_criterion_name(criterion_scores: Floats) -> list[dict[str, float]]:
    """Return the criterion scores of each record by criterion name."""
    return [dict(zip(CRITERION_NAMES, values, strict=True)) for values in criterion_scores.tolist()]


async def score_response(result: RankingResult, scoring: ScoringRequest) -> Response:
    """Return the response to a scoring request, which is an array of the ranked datasets.

    If the request asks for an envelope, the array is part of an object with the counts, the weights and the notes.
    """
    total_count = result.ranked.total_count
    plan = result.ranked.plan
    headers = {"X-Total-Count": str(total_count)}
    if result.options.explain:
        headers["X-Ranking-Plan"] = plan
    if not result.options.is_enveloped:
        return await encode_response(result, b"[", b"]", headers)

    summary = ScoreSummary(
        total_count=total_count,
        effective_weights=scoring.effective_weights(),
        assurance=result.view.assurance,
        notes=await _collect_notes(result),
        profile=scoring.profile,
        plan=plan,
    )
    return await encode_response(result, b'{"datasets":[', b"]," + encode_members(summary), headers)


async def recommendations_response(
    result: RankingResult, scoring: ScoringRequest, project: Mapping[str, Any]
) -> Response:
    """Return the response with a project and the datasets that are recommended for it."""
    summary = RankingSummary(
        total_count=result.ranked.total_count,
        effective_weights=scoring.effective_weights(),
        assurance=result.view.assurance,
        notes=await _collect_notes(result),
    )
    headers = {"X-Total-Count": str(summary.total_count)}

    # Long rankings are encoded item by item, between the beginning and the end of the JSON object.
    prefix = b'{"project":' + msgspec.json.encode(project) + b',"datasets":['
    suffix = b"]," + encode_members(summary)
    return await encode_response(result, prefix, suffix, headers)


async def _collect_notes(result: RankingResult) -> list[NoteJson]:
    """Return a note on each weighted criterion that does not distinguish the datasets in the response.

    Usually the first chunk of datasets already shows that there are no notes. Otherwise, other requests can run before
    the next chunk is examined.
    """
    collector = NoteCollector(result.view, result.weights)
    positions = result.ranked.positions
    for start in range(0, len(positions), CHUNK):
        if start > 0:
            await asyncio.sleep(0)
        collector.add(positions[start : start + CHUNK])
        if collector.is_complete:
            break

    locale = result.locale or DEFAULT_LOCALE
    return [_note_json(note, locale) for note in collector.notes()]


def _note_json(note: RankingNote, locale: str) -> NoteJson:
    """Convert a note to JSON, with its sentence in the language `locale`."""
    label = in_language(CRITERION_LABELS[note.criterion_name], locale)
    sentence = ranking_note_text(note.code, label, locale)
    return NoteJson(note.code, note.criterion_name, note.value, sentence)


async def encode_response(result: RankingResult, prefix: bytes, suffix: bytes, headers: Mapping[str, str]) -> Response:
    """Return a response with the items of a ranking between `prefix` and `suffix`.

    A long response is streamed.
    """
    chunks = _stream(result, prefix, suffix)
    if len(result.ranked.positions) > MAX_ITEMS_AT_ONCE:
        return JsonStream(chunks, headers=headers)

    content = b"".join([chunk async for chunk in chunks])
    return JsonResponse(content, headers=dict(headers))


async def _stream(result: RankingResult, prefix: bytes, suffix: bytes) -> AsyncIterator[bytes | memoryview]:
    """Yield the parts of a response, and let other requests run between chunks."""
    yield prefix

    for index, chunk in enumerate(result.encode_chunks()):
        if index > 0:
            await asyncio.sleep(0)
        yield chunk

    yield suffix
