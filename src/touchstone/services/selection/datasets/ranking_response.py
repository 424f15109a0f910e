"""Encoding of rankings: short ones at once, long ones as they are sent."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.responses import Response

from touchstone.http.responses import JsonResponse, JsonStream
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.column_types import Floats, Ints
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.reasons.points import points_by_criterion, unknown_criteria
from touchstone.services.selection.datasets.scoring_request import RankingOptions, ScoringRequest
from touchstone.services.selection.weights import CriterionWeight

# Rankings with more items than these are streamed.
MAX_ITEMS_AT_ONCE: Final = 1000
# Encoding one chunk takes two or three milliseconds; other requests get their turn between chunks.
CHUNK: Final = 4000
EXPLAINED_CHUNK: Final = 200


class ScoredItem(msgspec.Struct, frozen=True, gc=False):
    """A dataset in a ranking (interface, section 2.6)."""

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


class ExplainedItem(ScoredItem, frozen=True, gc=False):
    """A dataset in a ranking with the composition of its score.

    Attributes:
        criterion_scores: the value of each criterion.
        points: what each criterion contributes; the points add up to the score.
        unknown: the criteria of which nothing is known, whose value 0 therefore says nothing.
    """

    criterion_scores: dict[str, float]
    points: dict[str, float]
    unknown: list[str]


class RankingSummary(msgspec.Struct, frozen=True):
    """What an object with a ranking contains beside the items."""

    total_count: int
    effective_weights: list[CriterionWeight]


class ScoreSummary(RankingSummary, frozen=True):
    """What the envelope of a score contains beside the items."""

    profile: str | None
    plan: str


@dataclass(frozen=True, slots=True)
class RankingResult:
    """A window of a ranking over one view of the catalog, ready to be encoded."""

    view: View
    ranked: RankedWindow
    weights: Mapping[str, float]
    options: RankingOptions

    def items(self, positions: Ints, scores: Floats, first_rank: int) -> list[ScoredItem]:
        """Return the items at some positions of the view; the first of them has the rank `first_rank`."""
        columns = self.view.items(positions)
        fields = (
            columns.dataset_id,
            columns.dataset_name,
            scores.tolist(),
            columns.ethical_score,
            columns.technical_score,
            columns.popularity_score,
            columns.instances_number,
            columns.features_number,
            columns.objective,
            columns.id,
            range(first_rank, first_rank + len(positions)),
        )
        if not self.options.explain:
            return list(map(ScoredItem, *fields))

        criterion_scores = self.view.criterion_scores(positions)
        scores_by_name = [dict(zip(CRITERION_NAMES, row, strict=True)) for row in criterion_scores.tolist()]
        points_by_name = points_by_criterion(criterion_scores, self.weights)
        unknown_names = unknown_criteria(self.view.facts(positions))
        return list(map(ExplainedItem, *fields, scores_by_name, points_by_name, unknown_names))

    def encode_chunks(self) -> Iterator[bytes | memoryview]:
        """Yield the items as JSON, in chunks that are separated by commas."""
        chunk_size = EXPLAINED_CHUNK if self.options.explain else CHUNK
        rank = self.options.skip + 1
        is_first = True

        for positions, scores in self.ranked.chunks(chunk_size):
            if not is_first:
                yield b","
            encoded = msgspec.json.encode(self.items(positions, scores, rank))
            yield memoryview(encoded)[1:-1]  # without the brackets of the array
            rank += len(positions)
            is_first = False


async def score_response(result: RankingResult, scoring: ScoringRequest) -> Response:
    """Return the response to a scoring request: a bare array, or an object with counts and weights around it."""
    headers = {"X-Total-Count": str(result.ranked.total_count)}
    if result.options.explain:
        headers["X-Ranking-Plan"] = result.ranked.plan
    if not result.options.is_enveloped:
        return await encode_response(result, b"[", b"]", headers)

    summary = ScoreSummary(result.ranked.total_count, scoring.effective_weights(), scoring.profile, result.ranked.plan)
    return await encode_response(result, b'{"datasets":[', b"]," + msgspec.json.encode(summary)[1:], headers)


async def recommendations_response(
    result: RankingResult, scoring: ScoringRequest, project: Mapping[str, Any]
) -> Response:
    """Return the recommendations for a project: an object with the project and the explained ranking."""
    summary = RankingSummary(result.ranked.total_count, scoring.effective_weights())
    prefix = b'{"project":' + msgspec.json.encode(project) + b',"datasets":['
    suffix = b"]," + msgspec.json.encode(summary)[1:]
    return await encode_response(result, prefix, suffix, {"X-Total-Count": str(summary.total_count)})


async def encode_response(result: RankingResult, prefix: bytes, suffix: bytes, headers: Mapping[str, str]) -> Response:
    """Return a response with the items between a prefix and a suffix, streamed if there are many items."""
    stream = _stream(result, prefix, suffix)
    if len(result.ranked.positions) > MAX_ITEMS_AT_ONCE:
        return JsonStream(stream, headers=headers)

    return JsonResponse(b"".join([chunk async for chunk in stream]), headers=dict(headers))


async def _stream(result: RankingResult, prefix: bytes, suffix: bytes) -> AsyncIterator[bytes | memoryview]:
    yield prefix
    for index, chunk in enumerate(result.encode_chunks()):
        if index:
            # Let other requests run before the next chunk is encoded.
            await asyncio.sleep(0)
        yield chunk
    yield suffix
