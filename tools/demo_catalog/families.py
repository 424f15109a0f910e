"""Families of datasets: versions, encodings and copies of one dataset, matched by name patterns."""

import re
from typing import Final

FAMILIES: Final = (
    ("Adult", r"^adult(?: census)?$|^adult-census$"),
    ("Bank", r"^bank\b"),
    ("Common Voice", r"^common[ _]?voice"),
    ("German Credit", r"^(?:south )?german(?: credit)?\b|^credit[_-]g$"),
    ("Breast Cancer Wisconsin", r"breast[ _](?:w\b|cancer[ _]wisconsin)|^wdbc$"),
    ("Heart Disease", r"^heart[ _]disease|^cleve(?:land)?\b|^heart_[chsv]|^hungarian$"),
    ("Iris", r"^iris\b"),
    ("Wine", r"^wine(?:_recognition)?$"),
    ("Titanic", r"^titanic\b"),
    ("Feynman equations", r"^feynman_"),
    ("Strogatz systems", r"^strogatz_"),
    ("Friedman functions", r"\bfri_c\d"),
    ("GAMETES simulations", r"^gametes_"),
    ("MONK's problems", r"^monks?[_ -]?\d"),
    ("WMT", r"^wmt ?[-_]?\d"),
    ("SQuAD", r"^squad(?:[ _-]?v?2(?:\.0)?)?$|^squad$"),
    ("MNIST", r"mnist"),
    ("IWSLT", r"^(?:ted_)?iwslt"),
    ("OPUS", r"^opus[ _-]"),
    ("C4", r"^m?c4\b"),
    ("CIFAR", r"^cifar"),
    ("IMDB", r"^imdb"),
    ("OpenAssistant", r"^open[ -]?assistant|^oasst"),
    ("UltraFeedback", r"^ultrafeedback"),
    ("Aya", r"^aya-"),
    ("WizardLM", r"^wizardlm"),
)
"""Names of families and patterns for the lower-case names of their members. The first match counts."""

_FAMILY_PATTERNS: Final = tuple((name, re.compile(pattern)) for name, pattern in FAMILIES)


def family_of(name: str) -> str | None:
    """Return the family of a dataset by its name, or None."""
    folded_name = name.lower().removeprefix("_deprecated_")
    return next((family for family, pattern in _FAMILY_PATTERNS if pattern.search(folded_name)), None)
