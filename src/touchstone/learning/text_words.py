"""The encoding of texts by their words: a column of numbers for each word that has something to do with the target."""

from typing import Final

from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from touchstone.learning.target import Target

HASHED_WORDS: Final = 2**16  # Words are counted by their hashes, so that a text without any known word is no error.
MIN_WORDS: Final = 20
MAX_WORDS: Final = 300  # Encoded columns are dense, so that every algorithm can use them; more would cost much memory.
ROWS_PER_WORD: Final = 4
MAX_CELLS: Final = 100_000_000


def text_encoder(target: Target) -> Pipeline:
    """Return an encoder that weights the words, and pairs of neighbouring words, of a text (TF-IDF).

    It keeps those that differ most between the classes of the target, or that go along best with its numbers.
    """
    rows = len(target.values)
    most_words = min(MAX_WORDS, MAX_CELLS // rows, rows // ROWS_PER_WORD)
    score = f_classif if target.is_classification else f_regression

    return Pipeline(
        [
            ("count", HashingVectorizer(n_features=HASHED_WORDS, ngram_range=(1, 2), alternate_sign=False, norm=None)),
            ("weigh", TfidfTransformer(sublinear_tf=True)),
            ("select", SelectKBest(score, k=max(MIN_WORDS, most_words))),
            ("scale", MaxAbsScaler()),
        ]
    )
