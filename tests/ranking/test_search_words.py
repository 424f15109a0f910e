"""Words: how a text is split, and when two words count as the same."""

import pytest

from touchstone.ranking.text.word_forms import WordSimilarity, word_similarity
from touchstone.ranking.text.words import IN_NAME, name_words, split_words, weigh_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Données de l'Hôpital d’Orléans", ["donnees", "de", "hopital", "orleans"]),
        ("Men's question-answering_v2", ["men", "question", "answering", "v2"]),
        ("don't", ["don", "t"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("!?", []),
    ],
)
def test_a_text_is_split_without_case_accents_and_elisions(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_a_name_without_spaces_is_also_found_by_the_words_in_it() -> None:
    assert name_words("GermanCredit") == ["germancredit", "german", "credit"]
    assert name_words("covid19") == ["covid19", "covid", "19"]
    assert name_words("MNIST") == ["mnist"]


@pytest.mark.parametrize(
    ("query_word", "word", "expected"),
    [
        ("hospital", "hospital", WordSimilarity.EQUAL),
        ("hospital", "hospitals", WordSimilarity.INFLECTED),
        ("hopitaux", "hopital", WordSimilarity.INFLECTED),
        ("chevaux", "cheval", WordSimilarity.INFLECTED),
        ("studies", "study", WordSimilarity.INFLECTED),
        ("mesuree", "mesures", WordSimilarity.INFLECTED),
        ("predicted", "predicting", WordSimilarity.INFLECTED),
        ("hopital", "hospital", WordSimilarity.MISSPELLED),  # a letter is missing
        ("hosspital", "hospital", WordSimilarity.MISSPELLED),  # an additional letter
        ("hospitel", "hospital", WordSimilarity.MISSPELLED),  # a wrong letter
        ("hopsital", "hospital", WordSimilarity.MISSPELLED),  # two neighbours exchanged
        ("ospital", "hospital", WordSimilarity.MISSPELLED),
        ("hosptials", "hospital", WordSimilarity.MISSPELLED),  # an error in an inflected word
        ("hspitel", "hospital", WordSimilarity.NONE),  # two errors
        ("wien", "wine", WordSimilarity.NONE),  # words of four letters have to be right
        ("10000", "10001", WordSimilarity.NONE),  # numbers always have to be right
        ("covid", "covid19", WordSimilarity.NONE),
        ("hospital", "hospita1", WordSimilarity.NONE),
        ("cat", "cats", WordSimilarity.INFLECTED),
    ],
)
def test_words_are_equal_inflected_or_one_typing_error_apart(
    query_word: str, word: str, expected: WordSimilarity
) -> None:
    assert word_similarity(query_word, word) is expected


def test_a_word_weighs_more_in_the_name_and_a_domain_is_also_found_by_the_spelling_of_the_vocabulary() -> None:
    weights = weigh_words("Quiz", ["A quiz on hearts", None], ["quiz"], [("task", "QA")])
    assert weights["quiz"] == (3 + 1 + 2) | IN_NAME
    assert weights["hearts"] == 1
    assert weights["answering"] == weights["question"] == weights["qa"] == weights["task:question-answering"] == 2
