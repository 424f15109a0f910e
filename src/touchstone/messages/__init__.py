"""Every text that a person may read, in French and English, by key: the one place where sentences live."""

from collections.abc import Mapping
from typing import Any, Final

from touchstone.messages.pages import PAGES
from touchstone.messages.pages_account import ACCOUNT_PAGES
from touchstone.messages.pages_data import DATA_PAGES
from touchstone.messages.pages_jobs import JOB_PAGES
from touchstone.messages.plurals import agreeing
from touchstone.messages.reasons import NEAREST, REASONS
from touchstone.messages.refusals import REFUSALS
from touchstone.messages.validation import VALIDATION

Text = tuple[str, str]
LOCALES: Final = ("fr", "en")
DEFAULT_LOCALE: Final = "fr"
# The interface fixes these three sentences: French whatever the caller's language.
FIXED: Final = frozenset({"unauthorized", "invalid_user_id", "project_not_found"})

MESSAGES: Final[Mapping[str, Text]] = {
    **REFUSALS,
    **REASONS,
    **PAGES,
    **ACCOUNT_PAGES,
    **DATA_PAGES,
    **JOB_PAGES,
}


def text(key: str, locale: str, **facts: Any) -> str:
    """The sentence `key` in `locale`, with its placeholders filled.

    Raises:
        KeyError: there is no such sentence, which is a defect.
    """
    return _filled(MESSAGES[key], facts, locale)


def _filled(sentences: Text, facts: Mapping[str, Any], locale: str) -> str:
    agreeing_facts = {name: agreeing(fact, str(fact), locale) for name, fact in facts.items()}
    return sentences[LOCALES.index(locale)].format(**agreeing_facts)


def reason_text(code: str, facts: Mapping[str, Any], locale: str) -> str:
    """Why a job cannot start or has failed, with the nearest known name where there is one."""
    written = {name: ", ".join(map(str, fact)) if isinstance(fact, list) else fact for name, fact in facts.items()}
    said = text(code, locale, **written)
    return said + text(NEAREST, locale, **written) if facts.get("nearest") else said


def validation_text(kind: str, fallback: str, context: Mapping[str, Any] | None, locale: str) -> str:
    """Why a value does not fit, in `locale`; kinds without a sentence of ours keep their `fallback`."""
    facts = dict(context or {})
    sentences = VALIDATION.get("empty" if facts.get("min_length") == 1 else kind)
    if sentences is None:
        return fallback
    if "expected" in facts:
        # The library enumerates in English: 'a', 'b' or 'c'.
        facts["expected"] = str(facts["expected"]).replace("' or '", "', '")
    if "is_near" in facts:
        hint = VALIDATION["nearest" if facts["is_near"] else "known"]
        facts["hint"] = _filled(hint, {"known": facts["known"]}, locale)
    return _filled(sentences, facts, locale)


def locale_of(accept_language: str | None) -> str:
    """`fr` or `en`, whichever an Accept-Language header prefers (RFC 9110, section 12.5.4); French by default."""
    best, best_weight = DEFAULT_LOCALE, 0.0
    for part in (accept_language or "").split(",")[:20]:
        tag, _, parameter = part.strip().partition(";")
        weight = _quality(parameter)
        language = tag.split("-")[0].strip().lower()
        if language in LOCALES and weight > best_weight:
            best, best_weight = language, weight
    return best


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value[:8])
    except ValueError:
        return 0.0
