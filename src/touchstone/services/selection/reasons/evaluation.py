"""Evaluation of questions about a ranking in threads, so that other requests are answered meanwhile."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from touchstone.core.errors import IndexBuilding
from touchstone.core.evidence import Assurance
from touchstone.ranking.catalog.view import View
from touchstone.ranking.index.word_index import WordsNotIndexed
from touchstone.services.selection.live_catalog import WORDS_RETRY_SECONDS, LiveCatalog

Answer = TypeVar("Answer")
# Threads of their own: many long questions wait for each other, and not the rankings that need a thread as well.
_threads: Final = ThreadPoolExecutor(2, "reasons")


async def evaluate_in_thread(catalog: LiveCatalog, evaluate: Callable[[View], Answer], assurance: Assurance) -> Answer:
    """Call `evaluate` in a thread with the current state of the catalog at an assurance, and return its result.

    Raises:
        IndexBuilding: `evaluate` searches words that have not been indexed yet.
    """
    view = catalog.view.at(assurance)
    try:
        return await asyncio.get_running_loop().run_in_executor(_threads, evaluate, view)
    except WordsNotIndexed as error:
        raise IndexBuilding(retry_after=WORDS_RETRY_SECONDS) from error
