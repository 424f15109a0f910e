"""The encoding of texts by the weights of the words that are related to the target."""

from typing import Final

from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from touchstone.learning.target import Target

HASHED_WORDS: Final = 2**16  # Words are hashed, so that texts without any known word cause no error.
MIN_WORDS: Final = 20
MAX_WORDS: Final = 300  # Encoded columns are dense, as most algorithms require, so more would need much memory.
ROWS_PER_WORD: Final = 4
MAX_CELLS: Final = 100_000_000


def text_encoder(target: Target) -> Pipeline:
    """Return an encoder that computes TF-IDF weights of words and of pairs of neighbouring words.

    It selects the words with the strongest relation to the target, as measured by an F-test.
    """
    rows = len(target.values)
    max_words = min(MAX_WORDS, MAX_CELLS // rows, rows // ROWS_PER_WORD)
    score_function = f_classif if target.is_classification else f_regression

    return Pipeline(
        [
            ("count", HashingVectorizer(n_features=HASHED_WORDS, ngram_range=(1, 2), alternate_sign=False, norm=None)),
            ("weigh", TfidfTransformer(sublinear_tf=True)),
            ("select", SelectKBest(score_function, k=max(MIN_WORDS, max_words))),
            ("scale", MaxAbsScaler()),
        ]
    )
