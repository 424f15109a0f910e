"""The words of a text, and the words of a record with their weights."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from touchstone.core.text import fold
from touchstone.core.vocabulary import comparison_key

IN_NAME: Final = 0x80
"""The bit of a weight that says that the word is in the name of the record."""
MAX_WEIGHT: Final = 0x7F
MAX_LENGTH: Final = 2**16 - 1
"""The length of a record is the sum of the weights of its words, and no more than this."""
NAME_WEIGHT: Final = 3
_LABEL_WEIGHT: Final = 2
TEXT_WEIGHT: Final = 1
_TERM_COLUMNS: Final = ("domain", "task")

_WORD: Final = re.compile(r"[^\W_]+")
# French articles and pronouns that lose their vowel before another word, and the English genitive.
_ELISION: Final = re.compile(r"\b(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’](?=\w)|(?<=\w)['’]s\b")
# Where a word within a name written without spaces ends: `GermanCredit`, `covid19`.
_INNER_BORDER: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")


def split_words(text: str) -> list[str]:
    """Return the words of a text in their order, without case, accents, apostrophes and what they cut off."""
    folded = fold(text)
    if "'" in folded or "’" in folded:
        folded = _ELISION.sub("", folded)
    return _WORD.findall(folded)


def name_words(name: str) -> list[str]:
    """Return the words of a name, and the words within those that are written without spaces, as in `GermanCredit`."""
    words = split_words(name)
    parts = split_words(_INNER_BORDER.sub(" ", name))
    return [*words, *(part for part in parts if part not in words)]


def term_word(column: str, value: str) -> str:
    """Return the word that stands for a whole domain or task, whatever its spelling; no text contains such a word."""
    return f"{column}:{comparison_key(column, value)}"


def query_term_words(word: str) -> tuple[str, ...]:
    """Return the words for the domain and the task that a single word names, such as `nlp`."""
    return tuple(term_word(column, word) for column in _TERM_COLUMNS)


def weigh_words(
    name: str, texts: Iterable[str | None], labels: Iterable[str], terms: Sequence[tuple[str, str]]
) -> dict[str, int]:
    """List the words of a record, each with a weight that says how often it occurs, and in how important places.

    `texts` are the objective and the description, `labels` the tags, and `terms` the domains and tasks, each as a pair
    of column and value. Words of the name also have the bit `IN_NAME`.
    """
    weights: dict[str, int] = {}
    for text in texts:
        if text:
            _add_words(weights, split_words(text), TEXT_WEIGHT)

    for label in labels:
        _add_words(weights, split_words(label), _LABEL_WEIGHT)

    for column, value in terms:
        # A value is found by the words of its own spelling, and by those of the spelling that the vocabulary prefers.
        spellings = {*split_words(value), *split_words(comparison_key(column, value)), term_word(column, value)}
        _add_words(weights, spellings, _LABEL_WEIGHT)

    words_of_name = name_words(name)
    _add_words(weights, words_of_name, NAME_WEIGHT)

    capped_weights = {word: min(weight, MAX_WEIGHT) for word, weight in weights.items()}
    return capped_weights | {word: capped_weights[word] | IN_NAME for word in words_of_name}


def _add_words(weights: dict[str, int], words: Iterable[str], weight: int) -> None:
    """Add the weight of some words to what they have already."""
    for word in words:
        weights[word] = weights.get(word, 0) + weight
