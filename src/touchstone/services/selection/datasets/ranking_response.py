"""Encoding of rankings: short ones at once, long ones as they are sent."""

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
from touchstone.messages.locales import DEFAULT_LOCALE, LOCALES
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

# Rankings with more items than these are streamed.
MAX_ITEMS_AT_ONCE: Final = 1000
# Items in a chunk. Encoding one takes one to three milliseconds; other requests get their turn between chunks.
CHUNK: Final = 4000
EXPLAINED_CHUNK: Final = 50


def _ethical_intervals() -> dict[tuple[float, int], tuple[float, float]]:
    """Return the lowest and the highest possible ethical score, by the score and the number of known attributes.

    The ethical score is the share of the ten ethical attributes that are true. Attributes that are unknown count as
    false in it, so that it is also the lowest possible score. It is highest if all of them turn out to be true.
    """
    intervals = {}
    for known_count in range(len(ETHICAL) + 1):
        unknown_count = len(ETHICAL) - known_count
        for true_count in range(known_count + 1):
            score = true_count / len(ETHICAL)
            highest_score = (true_count + unknown_count) / len(ETHICAL)
            intervals[score, known_count] = (score, highest_score)

    return intervals


# A long ranking looks up millions of intervals, and there are only 66 different ones.
_ETHICAL_INTERVALS: Final = _ethical_intervals()


class ScoredItem(msgspec.Struct, frozen=True, gc=False):
    """A dataset in a ranking (interface, section 2.6).

    Attributes:
        rank: the place in the order, in which no two datasets share one.
        place: 1 + the number of datasets with a higher score, so that equal scores share a place.
        tied_with: how many other datasets of the whole ranking have exactly this score.
        known: of how many of the ten ethical attributes it is known, at the assurance of the request, whether they are
            true or false.
        ethical_interval: the ethical score if all unknown attributes were false, and if all were true.
        gates: the outcome of each gate for the dataset; UNSET if the request has no gates.
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
    """The score of a dataset, and its number of known ethical attributes, if mere declarations counted as evidence."""

    score: float
    known: int


class BestCase(msgspec.Struct, frozen=True, gc=False):
    """The scores of a dataset if everything unknown about it turned out as favourably as possible."""

    score: float
    criterion_scores: dict[str, float]


class ExplainedItem(ScoredItem, frozen=True, gc=False):
    """A dataset in a ranking with the composition of its score.

    Attributes:
        criterion_scores: the value of each criterion.
        points: what each criterion contributes; the points add up to the score.
        unknown: the criteria of which nothing is known; their value is 0.
        points_by_level: which part of the score each level of evidence supports; the parts add up to the score.
        declared: the score and the known attributes at the assurance `declared`.
        best_case: the highest score, and the highest values of the criteria, that the unknown attributes allow.
        sentence: why the dataset has its place, in one sentence; UNSET in what does not depend on a language.
    """

    criterion_scores: dict[str, float]
    points: dict[str, float]
    unknown: list[str]
    points_by_level: dict[str, float]
    declared: DeclaredStanding
    best_case: BestCase
    sentence: str | UnsetType = UNSET

    def rank_facts(self, total_count: int) -> RankFacts:
        """Return the facts from which the sentence about the place of this dataset in the ranking is written.

        The sentence mentions unknown criteria only if they have a weight. It counts the known ethical attributes only
        if the ethical score has a weight and is not itself among the unknown criteria.
        """
        has_ethical_weight = "ethical_score" in self.points
        is_ethical_score_unknown = "ethical_score" in self.unknown
        counts_ethical_attributes = has_ethical_weight and not is_ethical_score_unknown
        weighted_unknown = [criterion for criterion in self.unknown if criterion in self.points]

        return RankFacts(
            name=self.dataset_name,
            place=self.place,
            tied_with=self.tied_with,
            total_count=total_count,
            score=self.score,
            points=labeled_points(self.points),
            unknown=[CRITERION_LABELS[criterion] for criterion in weighted_unknown],
            known=self.known if counts_ethical_attributes else None,
            highest_score=self.best_case.score,
        )


class NoteJson(msgspec.Struct, frozen=True):
    """A note on a weighted criterion that does not distinguish the datasets shown, with its sentence."""

    code: str
    criterion_name: str
    value: float | None
    sentence: str


class RankingSummary(msgspec.Struct, frozen=True):
    """What an object with a ranking contains beside the items."""

    total_count: int
    effective_weights: list[CriterionWeight]
    assurance: Assurance
    notes: list[NoteJson]


class ScoreSummary(RankingSummary, frozen=True):
    """What the envelope of a score contains beside the items."""

    profile: str | None
    plan: str


@dataclass(frozen=True, slots=True)
class RankingResult:
    """A window of a ranking over one view of the catalog, ready to be encoded.

    Attributes:
        gates: the gates whose outcome each item reports.
        locale: the language of the sentences that explain items; None leaves the sentences out.
    """

    view: View
    ranked: RankedWindow
    weights: Mapping[str, float]
    options: RankingOptions
    gates: ParameterValues = field(default_factory=dict)
    locale: str | None = None

    def items(self, records: RankedRecords) -> list[ScoredItem]:
        """Return the items of the response for some records of the ranking.

        If the request asks for explanations, each item explains how its score is composed.
        """
        positions = records.positions
        columns = self.view.items(positions)
        # Long rankings have millions of items, so whole columns are zipped, in the order of the fields of ScoredItem.
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
            map(_ETHICAL_INTERVALS.__getitem__, zip(columns.ethical_score, columns.known, strict=True)),
            judge_gates(self.view, positions, self.gates) if self.gates else repeat(UNSET),
        )
        if not self.options.explain:
            return list(map(ScoredItem, *fields))

        explained_items = map(ExplainedItem, *fields, *self._explanations(positions))
        return [self._with_sentence(item) for item in explained_items]

    def _with_sentence(self, item: ExplainedItem) -> ExplainedItem:
        """Return an item with the sentence that explains its place; unchanged if the ranking has no language."""
        if self.locale is None:
            return item

        facts = item.rank_facts(self.ranked.total_count)
        return replace(item, sentence=rank_sentence(facts, self.locale))

    def _explanations(self, positions: Ints) -> tuple[Iterable[Any], ...]:
        """Return the columns that explain the scores of some records, in the order of the fields of ExplainedItem."""
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
            map(DeclaredStanding, declared_scores.tolist(), declared_view.known_ethical(positions)),
            best_cases(facts, self.weights),
        )

    def encode_chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the items as JSON in chunks that are separated by commas, without the brackets around the array."""
        chunk_size = EXPLAINED_CHUNK if self.options.explain else CHUNK
        is_first_chunk = True

        for records in self.ranked.chunks(chunk_size):
            if not is_first_chunk:
                yield b","

            encoded_array = msgspec.json.encode(self.items(records))
            # A view of the array without its brackets, which does not copy it.
            yield memoryview(encoded_array)[1:-1]

            is_first_chunk = False


def best_cases(facts: Facts, weights: Mapping[str, float]) -> list[BestCase]:
    """Return the best case of each record, from the known and unknown attributes of the records."""
    criterion_scores = best_case_criterion_scores(facts)
    scores = score_matrix(criterion_scores.T, weights)
    return list(map(BestCase, scores.tolist(), _by_criterion_name(criterion_scores)))


def _by_criterion_name(criterion_scores: Floats) -> list[dict[str, float]]:
    """Return the criterion scores of each record by the names of the criteria."""
    return [dict(zip(CRITERION_NAMES, values, strict=True)) for values in criterion_scores.tolist()]


async def score_response(result: RankingResult, scoring: ScoringRequest) -> Response:
    """Return the response to a scoring request: the ranked datasets as an array.

    If the request asks for an envelope, the array is inside an object that also has the counts, the weights and the
    notes.
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
    """Return the response with the recommendations for a project: the project itself, and the ranked datasets."""
    summary = RankingSummary(
        total_count=result.ranked.total_count,
        effective_weights=scoring.effective_weights(),
        assurance=result.view.assurance,
        notes=await _collect_notes(result),
    )
    headers = {"X-Total-Count": str(summary.total_count)}

    # The items are encoded between these two pieces of the JSON object.
    prefix = b'{"project":' + msgspec.json.encode(project) + b',"datasets":['
    suffix = b"]," + encode_members(summary)
    return await encode_response(result, prefix, suffix, headers)


async def _collect_notes(result: RankingResult) -> list[NoteJson]:
    """Return a note on each weighted criterion that does not distinguish the datasets of the response.

    Usually the first few datasets already show that there is nothing to note. Otherwise other requests get their turn
    before the next ones are examined.
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
    """Return a note as clients receive it, with its sentence in the language `locale`."""
    label = CRITERION_LABELS[note.criterion_name][LOCALES.index(locale)]
    sentence = ranking_note_text(note.code, label, locale)
    return NoteJson(note.code, note.criterion_name, note.value, sentence)


async def encode_response(result: RankingResult, prefix: bytes, suffix: bytes, headers: Mapping[str, str]) -> Response:
    """Return a response whose JSON is `prefix`, the items of a ranking, and `suffix`; a long one is streamed."""
    chunks = _stream(result, prefix, suffix)
    if len(result.ranked.positions) > MAX_ITEMS_AT_ONCE:
        return JsonStream(chunks, headers=headers)

    content = b"".join([chunk async for chunk in chunks])
    return JsonResponse(content, headers=dict(headers))


async def _stream(result: RankingResult, prefix: bytes, suffix: bytes) -> AsyncIterator[bytes | memoryview]:
    """Yield the pieces of a response, and let other requests run before each further chunk is encoded."""
    yield prefix

    for index, chunk in enumerate(result.encode_chunks()):
        if index > 0:
            await asyncio.sleep(0)
        yield chunk

    yield suffix
