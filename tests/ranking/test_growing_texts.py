"""Texts that are added one after the other are found by what they contain, whichever way they are searched."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import numpy as np
import pytest

from touchstone.core.text import fold
from touchstone.ranking.columns import vocabulary
from touchstone.ranking.columns.growing_text_pool import GrowingTextPool
from touchstone.ranking.columns.substring_search import warm_up_search_in_memory
from touchstone.ranking.columns.vocabulary import CodeVocabulary, SearchableTexts, VocabularyWriter, fold_text
from touchstone.ranking.kernels.compilation import compile_kernels

SUBSTRINGS = ("", "a", "ab", "É", "ss", "字", "zzz", "[", "1", "0a", "9b")


@pytest.fixture
def random() -> Random:
    return Random(20)


@pytest.fixture
def searches_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search any number of texts by the compiled kernels, and test none of them one by one."""
    compile_kernels()
    warm_up_search_in_memory()
    monkeypatch.setattr(vocabulary, "_MIN_TEXTS_FOR_KERNELS", 1)
    monkeypatch.setattr(vocabulary, "_FEW_CODES_DIVISOR", sys.maxsize)
    monkeypatch.setattr(vocabulary, "_TEXTS_PER_CHUNK", 7)

    def test_only_empty_substring(self: CodeVocabulary, codes: Any, is_match: Callable[[str], bool]) -> Any:
        """Refuse to test texts one by one, except by a condition that all of them satisfy."""
        assert is_match("") or not len(codes)
        return match_codes(self, codes, is_match)

    match_codes = CodeVocabulary.match_codes
    monkeypatch.setattr(CodeVocabulary, "match_codes", test_only_empty_substring)


def random_texts(random: Random, count: int) -> Iterator[str]:
    """Yield distinct texts, some of which are empty or not plain ASCII."""
    yield ""
    for number in range(count):
        yield "".join(random.choices("aabBéÉß[字", k=random.randrange(6))) + str(number)


def assert_matches(texts: CodeVocabulary, codes: list[int]) -> None:
    """Compare which texts match with a test of each text."""
    for substring in SUBSTRINGS:
        values = [texts.values[code] for code in codes]
        expected = [value is not None and fold(substring) in fold(value) for value in values]
        matches = texts.match_substring(np.array(codes, np.int32), fold(substring))
        assert matches.tolist() == expected, substring


def test_a_pool_keeps_its_first_texts_while_it_grows(random: Random) -> None:
    """A pool of the first texts does not change when others are added, and has all of them afterwards."""
    texts = list(random_texts(random, 300))
    pool = GrowingTextPool()
    pool.extend(texts[:100])
    first_texts = pool.first(100)

    pool.extend([])
    pool.extend(texts[100:])
    assert (len(pool), len(first_texts)) == (len(texts), 100)
    assert list(first_texts) == texts[:100]
    assert list(pool.first(len(texts))) == texts
    assert list(pool.first(7)) == texts[:7]
    assert len(pool.first(0)) == 0


@pytest.mark.parametrize("folds_lazily", [True, False])
@pytest.mark.usefixtures("searches_pool")
def test_a_vocabulary_finds_substrings_while_it_grows(random: Random, folds_lazily: bool) -> None:
    """Each snapshot finds the texts that it has, also after the vocabulary has grown, and never "not known"."""
    writer = VocabularyWriter(fold_text, folds_lazily=folds_lazily)
    snapshots = [writer.snapshot()]
    for text in random_texts(random, 400):
        writer.encode(text)
        if random.random() < 0.05:
            snapshots.append(writer.snapshot())

    for snapshot in [*reversed(snapshots), *snapshots]:
        codes = [random.randrange(snapshot.size) for _ in range(300)]
        assert_matches(snapshot, [0, *codes])
        assert_matches(snapshot, [])


@pytest.mark.usefixtures("searches_pool")
def test_threads_search_a_vocabulary_while_it_grows(random: Random) -> None:
    """Several threads search the texts that exist when they start, while others are added."""
    writer = VocabularyWriter(fold_text)
    with ThreadPoolExecutor(4) as threads:
        searches = []
        for text in random_texts(random, 400):
            writer.encode(text)
            snapshot = writer.snapshot()
            searches.append(threads.submit(assert_matches, snapshot, list(range(snapshot.size))))

        for search in searches:
            search.result()


def test_few_texts_are_tested_one_by_one(random: Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small vocabulary, and a small part of a large one, need no pool, and match the same."""
    monkeypatch.delattr(SearchableTexts, "containing")
    writer = VocabularyWriter(fold_text)
    for text in random_texts(random, 50):
        writer.encode(text)
    assert_matches(writer.snapshot(), list(range(51)))

    monkeypatch.setattr(vocabulary, "_MIN_TEXTS_FOR_KERNELS", 1)
    assert_matches(writer.snapshot(), [0, 7, 50])
