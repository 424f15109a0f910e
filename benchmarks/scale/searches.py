"""Rankings at each level of assurance, and searches for words, over HTTP."""

import json
import random
import statistics
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import quote

from benchmarks.scale.measured_catalog import MeasuredCatalog, sign_in
from benchmarks.scale.questions import QuestionSender, Request, filtered_ranking, get, ranking, scoring_request
from benchmarks.scale.record_generator import invented_words
from benchmarks.scale.report import Figure, Target, print_figure, print_heading
from touchstone.core.evidence import Assurance
from touchstone.ranking.criteria import CRITERION_NAMES

_REPEATS: Final = 200
_SEARCH_REPEATS: Final = 15
_MAX_ASSURANCE_RATIO: Final = 1.5

# The rank of the rare word among the invented words. About one in a thousand records contains it.
_RARE_WORD_RANK: Final = 300
_SEARCHES: Final = {
    "one frequent word": "dataset",
    "three frequent words": "text english images",
    "two words, one with a typing error": "hospitl patients",
    "no record has both words": "zyzzyva dataset",
}


def measure_searches(catalog: MeasuredCatalog) -> None:
    """Print the times of rankings at each assurance and of word searches."""
    with catalog.serving() as server, QuestionSender(server.address, sign_in(server)) as sender:
        print_heading(f"Assurance, top 20 over HTTP, {catalog.label}")
        for name, question in _RANKINGS.items():
            _measure_assurances(sender, name, question)

        print_heading(f"Searches for words over HTTP, {catalog.label}")
        for name, words in {**_SEARCHES, "one rare word": rare_word()}.items():
            _measure_words(sender, name, words)


def rare_word() -> str:
    """Return a word that few of the generated records contain."""
    return invented_words()[_RARE_WORD_RANK]


def _random_ranking(number: int) -> Request:
    """Return the request for the top 20 by all criteria with random weights seeded by `number`."""
    rng = random.Random(number)
    weights = {name: rng.random() for name in CRITERION_NAMES}
    return scoring_request({}, weights, number)


_RANKINGS: Final[Mapping[str, Callable[[int], Request]]] = {
    "W1": ranking,
    "W2, four filters": filtered_ranking,
    "random weights of all criteria": _random_ranking,
}


def _measure_assurances(sender: QuestionSender, name: str, question: Callable[[int], Request]) -> None:
    """Print the times of the same rankings at each assurance, measured alternately."""
    times: dict[Assurance, list[float]] = {assurance: [] for assurance in Assurance}
    for number in range(_REPEATS):
        for assurance in Assurance:
            times[assurance].append(sender.milliseconds(_at_assurance(question(number), assurance)))

    medians = {assurance: statistics.median(milliseconds) for assurance, milliseconds in times.items()}
    declared_milliseconds = medians.pop(Assurance.DECLARED)
    for assurance, milliseconds in medians.items():
        counterpart = f"{milliseconds:.3g} ms; {declared_milliseconds:.3g} ms at `declared`"
        target = Target(_MAX_ASSURANCE_RATIO)
        print_figure(
            Figure(f"{name}, `{assurance.value}`", milliseconds / declared_milliseconds, "×", counterpart, target)
        )


def _at_assurance(request: Request, assurance: Assurance) -> Request:
    """Return a scoring request in which only claims of at least the given level count."""
    return request._replace(target=f"{request.target}&assurance={assurance.value}")


def _measure_words(sender: QuestionSender, name: str, words: str) -> None:
    """Print the times of a first search, and of later ones in a list, by relevance and in a ranking."""
    first_time = sender.milliseconds(get(f"?limit=20&q={quote(words)}"))
    match_count = json.loads(sender.ask(get(f"facets?q={quote(words)}")))["total_count"]

    requests: dict[str, Callable[[int], Request]] = {
        "list": lambda number: get(f"?limit=20&q={quote(words)}&year_min={number}"),
        "list by relevance": lambda number: get(f"?limit=20&q={quote(words)}&sort_by=relevance&year_min={number}"),
        "ranking": lambda number: scoring_request({"q": words}, {"ethical_score": 0.6, "year": 0.4}, number),
        "facets": lambda number: get(f"facets?q={quote(words)}&year_min={number}"),
    }
    counterpart = f"{match_count:,} records match; the very first time {first_time:.3g} ms"
    for kind, question in requests.items():
        times = [sender.milliseconds(question(number)) for number in range(1, _SEARCH_REPEATS + 1)]
        print_figure(Figure(f"{name}, {kind}", statistics.median(times), "ms", counterpart))
        counterpart = ""  # The first figure of a search says it for all.
