"""The ranking that a question is about, and the threads in which questions about rankings are answered."""

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

_threads: Final = ThreadPoolExecutor(2, "reasons")
"""Threads of their own, so that long questions wait for each other and do not keep rankings from being computed."""


@dataclass(frozen=True, slots=True)
class RankingInQuestion:
    """The ranking that a question is about, and the language in which it is answered.

    Attributes:
        scoring: The filters and the weights as the request gives them.
        query: The filters as a query, which finds only datasets that the caller may see, and with `?gate=pass` only
            those that pass every gate.
        assurance: The weakest level of evidence that counts.
        locale: The language, `fr` or `en`.
    """

    scoring: ScoringRequest
    query: Query
    assurance: Assurance
    locale: str

    @classmethod
    def of_request(cls, ctx: RequestContext, scoring: ScoringRequest) -> Self:
        """Return the ranking that a request describes in its body, which is given parsed, and in its query string.

        Raises:
            UnknownName, InvalidValue: the query string or a filter does not fit.
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
    """Call a function that answers a question in a thread, so that other requests are answered meanwhile.

    Raises:
        IndexBuilding: the question searches words that have not been indexed yet.
    """
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, partial(answer, *args, **kwargs))
    except TextsNotIndexed as error:
        raise IndexBuilding(retry_after=WORDS_RETRY_SECONDS) from error
