"""Substrings are found in every text that contains them, ignoring case and accents, whatever the size of the pool."""

from random import Random

import pytest

from touchstone.core.text import fold
from touchstone.ranking.columns.text_pool import TextPool
from touchstone.ranking.index import text_search
from touchstone.ranking.index.text_search import TextSearch
from touchstone.ranking.kernels import two_threads

ALPHABET = "aabBcéÉß I_[{@`\x00ﬁ字"
SUBSTRINGS = (
    "",
    "a",
    "b",
    "ab",
    "aab",
    "ba b",
    "e",
    "É",
    "ss",
    "_",
    "[",
    "{",
    "@",
    "`",
    "\x00",
    "fi",
    "字",
    "i",
    "zzz",
)


@pytest.mark.parametrize("seed", range(6))
def test_substrings_are_found_as_in_folded_texts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts are longer than what is marked at a time, and searched, and folded, in several parts."""
    monkeypatch.setattr(two_threads, "MIN_ITEMS_FOR_TWO_THREADS", 1)
    monkeypatch.setattr(text_search, "_BYTES_PER_CHUNK", 500)
    monkeypatch.setattr(text_search, "_TEXTS_PER_CHUNK", 7)
    random = Random(seed)
    texts = ["".join(random.choices(ALPHABET, k=random.randrange(25))) for _ in range(random.choice((0, 1, 63, 400)))]
    search = TextSearch(TextPool.from_texts(texts))

    for substring in SUBSTRINGS:
        expected = [fold(substring) in fold(text) for text in texts]
        assert search.containing(fold(substring)).tolist() == expected, substring
