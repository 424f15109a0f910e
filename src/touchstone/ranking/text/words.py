"""Splitting of texts into words, and the weights of a record's words."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key

IN_NAME: Final = 0x80
"""The bit of a weight that marks a word of the record's name."""
MAX_WEIGHT: Final = 0x7F
MAX_LENGTH: Final = 2**16 - 1
"""The maximum length of a record, which is the sum of the weights of its words."""
NAME_WEIGHT: Final = 3
_LABEL_WEIGHT: Final = 2
TEXT_WEIGHT: Final = 1
_TERM_COLUMNS: Final = ("domain", "task")

_WORD: Final = re.compile(r"[^\W_]+")
# French articles and pronouns that are elided before a vowel, and the English genitive.
_ELISION: Final = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’](?=\w)|(?<=\w)['’]s\b")
# The boundaries between the parts of a name written without spaces, such as `GermanCredit` and `covid19`.
_WORD_PART_BOUNDARY: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


def split_words(text: str) -> list[str]:
    """Split a text into words without case and accents, dropping elided articles (`l'`) and genitives (`'s`)."""
    folded = fold(text)
    if "'" in folded or "’" in folded:
        folded = _ELISION.sub("", folded)
    return _WORD.findall(folded)


def name_words(name: str) -> list[str]:
    """Return the words of a name, followed by the parts of words written without spaces, as in `GermanCredit`."""
    words = split_words(name)
    parts = split_words(_WORD_PART_BOUNDARY.sub(" ", name))
    return [*words, *(part for part in parts if part not in words)]


def term_word(column: str, value: str) -> str:
    """Return a special word for a whole domain or task in any spelling.

    No text contains this word.
    """
    return f"{column}:{comparison_key(column, value)}"


def query_term_words(word: str) -> tuple[str, ...]:
    """Return the special words for the domain and the task with the given one-word name, such as `nlp`."""
    return tuple(term_word(column, word) for column in _TERM_COLUMNS)


def weigh_words(
    name: str, texts: Iterable[str | None], labels: Iterable[str], terms: Sequence[tuple[str, str]]
) -> dict[str, int]:
    """Return the weights of a record's words by word.

    A weight depends on the number of occurrences of the word and on the fields where it occurs.

    Args:
        name: the name of the record.
        texts: the objective and the description.
        labels: the tags.
        terms: the domains and tasks as pairs of column and value.

    Returns:
        the weights, at most MAX_WEIGHT. Words of the name have the bit `IN_NAME` in addition.
    """
    weights: dict[str, int] = {}
    for text in texts:
        if text:
            _add_words(weights, split_words(text), TEXT_WEIGHT)

    for label in labels:
        _add_words(weights, split_words(label), _LABEL_WEIGHT)

    for column, value in terms:
        # A domain or task is found by its own spelling and by the preferred spelling in the vocabulary.
        spellings = {*split_words(value), *split_words(comparison_key(column, value)), term_word(column, value)}
        _add_words(weights, spellings, _LABEL_WEIGHT)

    words_of_name = name_words(name)
    _add_words(weights, words_of_name, NAME_WEIGHT)

    capped_weights = {word: min(weight, MAX_WEIGHT) for word, weight in weights.items()}
    return capped_weights | {word: capped_weights[word] | IN_NAME for word in words_of_name}


def _add_words(weights: dict[str, int], words: Iterable[str], weight: int) -> None:
    """Add `weight` to the weight of each word."""
    for word in words:
        weights[word] = weights.get(word, 0) + weight
