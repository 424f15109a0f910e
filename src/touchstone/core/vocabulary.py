"""The vocabulary of tasks and domains, which unifies the spellings of different sources.

Values are compared by a key in lower case, without accents and with hyphens between words. The tables below list
synonyms, for example that `Health and Medicine` and `health` are the same domain.
"""

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from babel import Locale
from babel.core import get_global

from touchstone.core.text import fold

_SEPARATORS: Final = re.compile(r"[^\w+#]+|_+")
_PARENTHESES: Final = re.compile(r"\s*\([^)]*\)")
# The category of a free task name on the Hugging Face hub, as in `text-classification-other-hate-speech-detection`.
_HUB_PREFIX: Final = re.compile(r"^(?:[a-z0-9]+-)*?other-+(?:other-+)?(?=[a-z])")
# Words with two spellings in longer names of tasks.
_WORD_SPELLINGS: Final = (
    (re.compile(r"\bdialog\b"), "dialogue"),
    (re.compile(r"\bmodelling\b"), "modeling"),
    (re.compile(r"summarisation\b"), "summarization"),
)
# Keys that are neither a task nor a domain.
_MEANINGLESS_KEYS: Final = frozenset(
    {
        "",
        "other",
        "misc",
        "miscellaneous",
        "none",
        "n-a",
        "na",
        "unknown",
        "null",
        "undefined",
        "general",
        "all",
        "unclear",
    }
)

_TASK_GROUPS: Final = {
    "question-answering": "qa q-a question-answer open-question-answering open-ended-question-answering",
    "extractive-question-answering": "extractive-qa span-selection-question-answering",
    "open-domain-question-answering": "open-domain-qa",
    "closed-domain-question-answering": "closed-domain-qa",
    "closed-book-question-answering": "closed-book-qa",
    "abstractive-question-answering": "abstractive-qa",
    "multiple-choice-question-answering": "multiple-choice-qa multiple-choice",
    "visual-question-answering": "vqa visual-qa",
    "video-question-answering": "video-q-a video-qa",
    "text-classification": "text-categorization natural-language-classification document-classification",
    "sentiment-analysis": "sentiment-classification sentiment-scoring",
    "natural-language-inference": "nli textual-entailment textual-entailment-inference-reasoning",
    "named-entity-recognition": "ner",
    "part-of-speech-tagging": "part-of-speech pos-tagging pos",
    "speech-recognition": "automatic-speech-recognition asr speech-to-text",
    "text-to-speech": "tts speech-synthesis",
    "summarization": "summarisation text-summarization",
    "translation": "machine-translation text-translation",
    "dialogue-generation": "dialog-generation",
    "dialogue-modeling": "dialogue-modelling dialog-modeling",
    "conversational": "conversation dialogue dialog",
    "language-modeling": "language-modelling language-model",
    "masked-language-modeling": "masked-language-modelling fill-mask",
    "natural-language-understanding": "nlu",
    "code-generation": "code-synthesis program-synthesis text-to-code",
    "information-retrieval": "text-retrieval document-retrieval",
    "fact-checking": "fact-verification",
    "paraphrase-detection": "paraphrase-identification",
    "hate-speech-detection": "hate-speech-classification",
    "toxicity-detection": "toxicity-classification toxicity-prediction",
    "structured-data-to-text": "table-to-text tabular-to-text rdf-to-text data-to-text",
    "text-generation": "open-form-text-generation",
    "text-to-text-generation": "text2text-generation",
    "image-captioning": "image-to-text",
    "object-detection": "object-recognition",
    "classification": "tabular-classification supervised-classification",
    "multi-class-classification": "multiclass-classification",
    "regression": "tabular-regression",
    "time-series-forecasting": "forecasting",
    "clustering": "cluster-analysis",
    "anomaly-detection": "outlier-detection",
    "recommendation": "recommender-systems recommender-system",
    "causal-discovery": "causa",
}

_DOMAIN_GROUPS: Final = {
    "health": (
        "health-and-medicine medicine medical healthcare health-care medical-conditions clinical disease sante medecine"
    ),
    "cardiology": "heart-disease",
    "biology": "life-sciences animals animal-behavior ecological ecology",
    "genetics": "genomics",
    "computer-science": "computing programming coding python-programming algorithms data-structures",
    "artificial-intelligence": "machine-learning ai ml",
    "natural-language-processing": "nlp",
    "computer-vision": "vision image-processing",
    "speech": "speech-processing",
    "linguistics": (
        "language language-understanding language-and-communication language-and-linguistics language-and-grammar"
        " language-and-semantics vocabulary grammar"
    ),
    "education": "schools students hybrid-learning",
    "social-science": "social-sciences sociology social-issues society",
    "demography": "demographics demographic population census",
    "economics": "economy econ income economie",
    "business": "commerce small-business marketing",
    "finance": "banking credit-scoring credit budget financial",
    "physics": "physics-and-chemistry physical-science",
    "chemistry": "chemical",
    "environment": "climate-and-environment environmental environmental-sustainability climate sustainability",
    "weather": "meteorology",
    "law": "legal criminal-justice",
    "crime": "public-safety crime-prevention police",
    "politics": "political elections government international-relations",
    "transportation": "transport public-transit traffic vehicle vehicles cars mobility",
    "geography": "geospatial geo boundaries land-records",
    "urban-planning": "planning zoning real-estate neighborhoods housing",
    "arts": "art culture arts-and-culture",
    "entertainment": "movies film films entertainment-industry television",
    "music": "songs",
    "sports": "sport basketball football",
    "food": "wine nutrition cooking",
    "news": "newspapers current-events journalism",
    "literature": "books novels poetry plays",
    "psychology": "mental-health",
    "agriculture": "farming",
    "engineering": "manufacturing",
    "astronomy": "space",
    "history": "historical",
    "religion": "religious bible",
    "mathematics": "math maths",
    "social-media": "twitter reddit",
}


def _values_by_spelling(groups: dict[str, str]) -> dict[str, str]:
    """Return the value by spelling, given the spellings of each value separated by spaces."""
    return {spelling: value for value, words in groups.items() for spelling in words.split()}


_TASKS: Final = _values_by_spelling(_TASK_GROUPS)
_DOMAINS: Final = _values_by_spelling(_DOMAIN_GROUPS)


def vocabulary_key(text: str) -> str:
    """Return the key of a term, such as `question-answering` for `Question Answering`."""
    return _SEPARATORS.sub("-", fold(text)).strip("-")


def fold_task(text: str) -> str | None:
    """Return the vocabulary value for a task, or None for a meaningless value such as "other"."""
    key = _HUB_PREFIX.sub("", vocabulary_key(_PARENTHESES.sub("", text)))
    for pattern, spelling in _WORD_SPELLINGS:
        key = pattern.sub(spelling, key)
    return _look_up_term(key, _TASKS)


def fold_domain(text: str) -> str | None:
    """Return the vocabulary value for a domain, or None for a meaningless value such as "other"."""
    return _look_up_term(vocabulary_key(_PARENTHESES.sub("", text)), _DOMAINS)


def fold_language(text: str) -> str | None:
    """Return the ISO 639 code of a language, given as a code or an English or French name.

    The result is None for an unknown language. Codes may have other forms, such as `en-GB` and `eng`.
    """
    key = fold(text).strip()
    code = re.split(r"[-_]", key)[0]
    codes_by_name = _language_codes_by_name()
    if key in codes_by_name:
        return codes_by_name[key]
    if code in _known_codes():
        return code
    two_letter_code = get_global("language_aliases").get(code)
    return two_letter_code if two_letter_code in _known_codes() else None


@cache
def _language_codes_by_name() -> dict[str, str]:
    """Return the language codes by their folded English and French names."""
    codes: dict[str, str] = {}
    for locale in (Locale("en"), Locale("fr")):
        codes |= {fold(name): code for code, name in locale.languages.items() if "_" not in code}
    return codes


@cache
def _known_codes() -> frozenset[str]:
    """Return the codes of all languages."""
    return frozenset(_language_codes_by_name().values())


@lru_cache(maxsize=100_000)
def comparison_key(column: str, text: str) -> str:
    """Return the key for comparing values of a word column in filters and facets.

    Domains, tasks and languages are compared by their vocabulary values, other values ignoring case and accents.
    """
    fold_value = _FOLD_FUNCTIONS.get(column)
    if fold_value is None:
        return fold(text)
    return fold_value(text) or vocabulary_key(text) or fold(text)


def fold_tasks(texts: Iterable[str]) -> list[str]:
    """Return the unique vocabulary values of the tasks, in their original order."""
    return _unique_known_values(fold_task(text) for text in texts)


def fold_domains(texts: Iterable[str]) -> list[str]:
    """Return the unique vocabulary values of the domains, in their original order."""
    return _unique_known_values(fold_domain(text) for text in texts)


def known_domains(texts: Iterable[str]) -> list[str]:
    """Return the known domains among strings of any kind, such as keywords."""
    candidates = _unique_known_values(fold_domain(text) for text in texts)
    return [domain for domain in candidates if domain in _DOMAIN_GROUPS]


def _look_up_term(key: str, spellings: dict[str, str]) -> str | None:
    """Return the value for a key, the key itself if it is not a synonym, or None if it is meaningless."""
    if key in _MEANINGLESS_KEYS:
        return None
    return spellings.get(key, key)


def _unique_known_values(values: Iterable[str | None]) -> list[str]:
    """Return the values without None and without repetitions, in their original order."""
    return list(dict.fromkeys(value for value in values if value is not None))


_FOLD_FUNCTIONS: Final = {"domain": fold_domain, "task": fold_task, "language": fold_language}
