"""The encoding of texts by their words: a column of numbers for each word that has something to do with the target."""

from typing import Final

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler

from touchstone.learning.target import Target

MAX_VOCABULARY: Final = 20_000
MAX_WORDS: Final = 300  # Encoded columns are dense, so that every algorithm can use them; more would cost much memory.
MAX_CELLS: Final = 30_000_000
MIN_WORDS: Final = 20


def text_encoder(target: Target) -> Pipeline:
    """Return an encoder that weights the words, and pairs of neighbouring words, of a text (TF-IDF).

    It keeps the ones that are most different between the classes of the target, or go along best with its numbers. A
    word that the whole column contains once at most can teach nothing and is left out.
    """
    weigh_words = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, max_features=MAX_VOCABULARY, sublinear_tf=True, strip_accents="unicode"
    )
    word_count = max(MIN_WORDS, min(MAX_WORDS, MAX_CELLS // len(target.values)))
    select_words = SelectKBest(f_classif if target.is_classification else f_regression, k=word_count)
    return Pipeline([("weigh", weigh_words), ("select", select_words), ("scale", MaxAbsScaler())])
