"""The ranking that a question is about, and the thread pool that answers such questions."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Final, ParamSpec, Self, TypeVar

from touchstone.core.errors import IndexBuilding
from touchstone.core.evidence import Assurance
from touchstone.ranking.index.word_index import TextsNotIndexed
from touchstone.ranking.query.predicates import Query
from touchstone.services.selection.assurance import merge_assurances
from touchstone.services.selection.catalog.live_catalog import WORDS_RETRY_SECONDS
from touchstone.services.selection.catalog_query import build_ranking_query
from touchstone.services.selection.context import RequestContext
from touchstone.services.selection.datasets.scoring_request import ScoringRequest, parse_question_options

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

_executor: Final = ThreadPoolExecutor(2, "reasons")
"""A separate pool, so that slow questions delay each other but not the ordinary rankings."""


@dataclass(frozen=True, slots=True)
class RankingInQuestion:
    """The ranking that a question is about, and the language of the answer.

    Attributes:
        scoring: the filters and the weights of the request.
        query: the query for the datasets that match the filters and are visible to the caller. With `?gate=pass`, the
            datasets must also pass every gate.
        assurance: the weakest level of evidence that counts.
        locale: the language of the answer, `fr` or `en`.
    """

    scoring: ScoringRequest
    query: Query
    assurance: Assurance
    locale: str

    @classmethod
    def from_request(cls, ctx: RequestContext, scoring: ScoringRequest) -> Self:
        """Create the ranking from the query string of a request and its parsed body, `scoring`.

        Raises:
            UnknownName, InvalidValue: the query string or a filter is invalid.
            ConflictingValues: the query string and the body give different assurances.
        """
        options = parse_question_options(ctx.query_string)
        return cls(
            assurance=merge_assurances(options.assurance, scoring.assurance),
            scoring=scoring,
            query=build_ranking_query(scoring, options, ctx.viewer),
            locale=ctx.locale,
        )

    @property
    def weights(self) -> Mapping[str, float]:
        """The weight of each criterion."""
        return self.scoring.weights


async def answer_in_thread(
    answer: Callable[Arguments, Answer], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Answer:
    """Return the result of `answer`, called in a thread so that it does not block other requests.

    Raises:
        IndexBuilding: the ranking needs the word index, which is still being built.
    """
    try:
        return await asyncio.get_running_loop().run_in_executor(_executor, partial(answer, *args, **kwargs))
    except TextsNotIndexed as error:
        raise IndexBuilding(retry_after=WORDS_RETRY_SECONDS) from error
