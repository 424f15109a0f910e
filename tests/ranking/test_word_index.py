"""The packed postings of a word index contain exactly what was stored, for any distances and weights."""

from random import Random

import numpy as np
import pytest

from touchstone.ranking.index.word_index import WordIndex
from touchstone.ranking.text.query_words import QueryWord, parse_query
from touchstone.ranking.text.record_words import DecodedWords
from touchstone.ranking.text.words import IN_NAME, MAX_WEIGHT

RECORD_COUNT = 40_000
LONG_GAPS = (0, 1, 2, 65, 129, 8_192, 8_257, 39_999)  # the numbers take one, two and three bytes
WEIGHTS = (1, 1, 1, 2, 3 | IN_NAME, MAX_WEIGHT, MAX_WEIGHT | IN_NAME)


def random_words(random: Random) -> dict[str, dict[int, int]]:
    """Return the weights of three words in their records: in a few records, in very many, and in a single one."""
    dense_records = random.sample(range(200), 150)
    records_by_word = {"sparse": LONG_GAPS, "dense": sorted(dense_records), "single": [random.randrange(RECORD_COUNT)]}
    return {word: {record: random.choice(WEIGHTS) for record in records} for word, records in records_by_word.items()}


def decode_words(weights_by_word: dict[str, dict[int, int]]) -> DecodedWords:
    """Return the same words record by record."""
    words = list(weights_by_word)
    entries = sorted(
        (record, number, weight)
        for number, word in enumerate(words)
        for record, weight in weights_by_word[word].items()
    )
    return DecodedWords(
        words,
        np.bincount([record for record, _, _ in entries], minlength=RECORD_COUNT),
        np.array([number for _, number, _ in entries], np.uint32),
        np.array([weight for _, _, weight in entries], np.uint8),
    )


def set_bits(bitmap: np.ndarray) -> list[int]:
    """Return the positions of the bits that are set."""
    positions: list[int] = np.flatnonzero(np.unpackbits(bitmap.view(np.uint8), bitorder="little")).tolist()
    return positions


def query_word(text: str) -> QueryWord:
    """Return a word of a query."""
    [word] = parse_query(text)
    return word


@pytest.mark.parametrize("seed", range(5))
def test_packed_postings_keep_every_record_and_every_weight(seed: int) -> None:
    weights_by_word = random_words(Random(seed))
    words = decode_words(weights_by_word)
    index = WordIndex.build(words, np.arange(RECORD_COUNT))

    for word, weights in weights_by_word.items():
        records = sorted(weights)
        assert set_bits(index.records_with_word(query_word(word), RECORD_COUNT // 64)) == records

        some_records = np.array(sorted({*records[::2], 3, RECORD_COUNT - 2}))
        expected = [20 * (weights.get(record, 0) & MAX_WEIGHT) for record in some_records.tolist()]
        assert index.weigh(query_word(word), some_records).tolist() == expected

        in_name = [record for record in records if weights[record] >= IN_NAME]
        assert set_bits(index.records_with_name_word(word, RECORD_COUNT // 64)) == in_name

    decoded_words = index.decode(np.arange(RECORD_COUNT))
    records = np.repeat(np.arange(RECORD_COUNT), decoded_words.counts).tolist()
    decoded_weights: dict[str, dict[int, int]] = {word: {} for word in weights_by_word}
    for record, number, weight in zip(
        records, decoded_words.numbers.tolist(), decoded_words.weights.tolist(), strict=True
    ):
        decoded_weights[decoded_words.words[number]][record] = weight
    assert decoded_weights == weights_by_word


def test_the_lengths_of_records_are_the_sums_of_their_weights() -> None:
    weights_by_word = random_words(Random(7))
    index = WordIndex.build(decode_words(weights_by_word), np.arange(RECORD_COUNT))
    for record in range(0, RECORD_COUNT, 13):
        expected = sum(weights.get(record, 0) & MAX_WEIGHT for weights in weights_by_word.values())
        assert index.lengths[record] == expected
