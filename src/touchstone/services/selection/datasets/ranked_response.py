"""The ranked answer: the evaluator's window of the catalog, encoded item by item, whole or as it is sent."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import msgspec
from starlette.responses import Response, StreamingResponse

from touchstone.core.metrics import RANKINGS
from touchstone.http.responses import JsonResponse
from touchstone.ranking.catalog.results import RankedWindow
from touchstone.ranking.catalog.view import View
from touchstone.ranking.criteria import CRITERION_NAMES, Floats, Ints
from touchstone.ranking.reasons.points import score_points, unknown_criteria
from touchstone.services.selection.datasets.scoring_request import Scoring
from touchstone.services.selection.filters import query_of
from touchstone.services.selection.live_catalog import LiveCatalog
from touchstone.services.selection.parameters import Values

SHORT: Final = 1000  # more items than these are encoded as they are sent
# Items encoded at once: two or three milliseconds, so that others get their turn.
CHUNK: Final = 4000
EXPLAINED_CHUNK: Final = 200


class Scored(msgspec.Struct, frozen=True, gc=False):
    """One place of a ranking (interface, section 2.6)."""

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


class Explained(Scored, frozen=True, gc=False):
    """A place with what its score is made of, by criterion: the points add up to the score.

    `unknown`: the criteria of which nothing is known, whose 0 is therefore no finding.
    """

    criterion_scores: dict[str, float]
    points: dict[str, float]
    unknown: list[str]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranked window of one view, ready to be encoded."""

    view: View
    ranked: RankedWindow
    weights: Mapping[str, float]
    skip: int
    explain: bool

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The items as JSON, separated by commas, some at a time."""
        first = self.skip + 1
        for positions, scores in self.ranked.chunks(EXPLAINED_CHUNK if self.explain else CHUNK):
            if first > self.skip + 1:
                yield b","
            yield memoryview(msgspec.json.encode(self.items(positions, scores, first)))[1:-1]
            first += len(positions)

    def items(self, positions: Ints, scores: Floats, first: int) -> list[Scored]:
        """Some of the items, the first of which has this rank."""
        items = self.view.items(positions)
        fields = (
            *(items.dataset_id, items.dataset_name, scores.tolist()),
            *(items.ethical_score, items.technical_score, items.popularity_score),
            *(items.instances_number, items.features_number, items.objective),
            *(items.id, range(first, first + len(positions))),
        )
        if self.explain:
            return [*map(Explained, *fields, *self._parts(positions))]
        return [*map(Scored, *fields)]

    def _parts(self, positions: Ints) -> tuple[list[Any], list[Any], list[Any]]:
        """What the scores are made of: the last three columns of `Explained`."""
        criteria = self.view.criterion_scores(positions)
        return (
            [dict(zip(CRITERION_NAMES, row, strict=True)) for row in criteria.tolist()],
            [{point.criterion: point.points for point in score_points(row, self.weights)} for row in criteria],
            unknown_criteria(self.view.facts(positions)),
        )


async def _stream(ranking: Ranking, before: bytes, after: bytes) -> AsyncIterator[bytes | memoryview]:
    """A long answer as it is encoded; other requests get their turn in between."""
    yield before
    for number, piece in enumerate(ranking.pieces()):
        if number:
            await asyncio.sleep(0)
        yield piece
    yield after


async def ranked(catalog: LiveCatalog, scoring: Scoring, values: Values, viewer: UUID | None) -> Ranking:
    """The ranking that a caller asks for; `values` are the query's `skip`, `limit` and `explain`."""
    query, weights = query_of(scoring.filters, viewer), scoring.weights
    skip, limit = values.get("skip", 0), values.get("limit")
    assert isinstance(skip, int)
    assert limit is None or isinstance(limit, int)

    def question(view: View) -> Ranking:
        found = view.rank(query, weights, skip=min(skip, view.size), limit=limit)
        RANKINGS.labels(found.plan).inc()
        return Ranking(view, found, weights, skip, values.get("explain") is True)

    return await catalog.ask(question, is_short=limit is not None and skip + limit <= SHORT)


async def answer(ranking: Ranking, scoring: Scoring, *, is_enveloped: bool) -> Response:
    """The answer of scoring: a bare array, or an object with counts and weights around it."""
    headers = {"X-Total-Count": str(ranking.ranked.total_count)}
    if ranking.explain:
        headers["X-Ranking-Plan"] = ranking.ranked.plan
    if not is_enveloped:
        return await sent(ranking, b"[", b"]", headers)
    about = facts(ranking, scoring) | {"profile": scoring.profile, "plan": ranking.ranked.plan}
    return await sent(ranking, b'{"datasets":[', b"]," + msgspec.json.encode(about)[1:], headers)


def facts(ranking: Ranking, scoring: Scoring) -> dict[str, Any]:
    """What an object with a ranking says beside the items."""
    return {"total_count": ranking.ranked.total_count, "effective_weights": scoring.effective_weights()}


async def sent(ranking: Ranking, before: bytes, after: bytes, headers: Mapping[str, str]) -> Response:
    """The encoded answer, streamed when it is long."""
    stream = _stream(ranking, before, after)
    if len(ranking.ranked.positions) > SHORT:
        return StreamingResponse(stream, media_type=JsonResponse.media_type, headers=headers)
    return JsonResponse(b"".join([piece async for piece in stream]), headers=dict(headers))
