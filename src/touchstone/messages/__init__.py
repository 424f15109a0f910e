"""Every text that users read, in French and English, one module for each kind of text.

This module looks sentences up by key and fills in their placeholders. The sentences are in `errors` (refused requests),
`validation` (invalid values), `job_errors` (jobs that fail or cannot start), `progress`, `training_warnings`,
`narratives`, `charts`, `model_card`, `labels`, and `pages*` (the web pages).
"""

from collections.abc import Mapping
from typing import Any, Final

from touchstone.messages.errors import ERROR_TEXTS
from touchstone.messages.job_errors import JOB_ERROR_TEXTS, NEAREST_NAME
from touchstone.messages.locales import LOCALES, Text
from touchstone.messages.pages import PAGES
from touchstone.messages.pages_account import ACCOUNT_PAGES
from touchstone.messages.pages_data import DATA_PAGES
from touchstone.messages.pages_jobs import JOB_PAGES
from touchstone.messages.plurals import with_count
from touchstone.messages.validation import ACCEPTED_NAMES, EMPTY_VALUE, NEAREST_NAMES, VALIDATION

# The public interface fixes these three sentences: they are French whatever language the caller prefers.
FRENCH_ONLY: Final = frozenset({"unauthorized", "invalid_user_id", "project_not_found"})

MESSAGES: Final[Mapping[str, Text]] = {
    **ERROR_TEXTS,
    **JOB_ERROR_TEXTS,
    **PAGES,
    **ACCOUNT_PAGES,
    **DATA_PAGES,
    **JOB_PAGES,
}


def text(key: str, locale: str, **facts: Any) -> str:
    """Return the sentence `key` in `locale`, with its placeholders filled in.

    Raises:
        KeyError: There is no such sentence, which is a programming error.
    """
    return _fill_placeholders(MESSAGES[key], facts, locale)


def job_error_text(error_code: str, facts: Mapping[str, Any], locale: str) -> str:
    """Return the sentence that tells a user why a job cannot start or has failed.

    `facts` fill in the placeholders of the sentence. If they include a known name that resembles the one that the
    user gave, the sentence suggests that name at its end.
    """
    readable_facts = {name: _join_items(fact) for name, fact in facts.items()}
    sentence = text(error_code, locale, **readable_facts)

    if readable_facts.get("nearest"):
        sentence += text(NEAREST_NAME, locale, **readable_facts)
    return sentence


def validation_text(error_type: str, fallback: str, context: Mapping[str, Any] | None, locale: str) -> str:
    """Return the sentence that tells a user why a value is invalid.

    `error_type` and `context` come from a validation error, either our own or one of Pydantic: the type is the key
    of the sentence, and the context fills in its placeholders. A type without a sentence gives `fallback`.
    """
    facts = dict(context or {})
    must_not_be_empty = facts.get("min_length") == 1
    key = EMPTY_VALUE if must_not_be_empty else error_type
    if key not in VALIDATION:
        return fallback

    if "expected" in facts:
        # Pydantic lists the accepted values in English: 'a', 'b' or 'c'.
        facts["expected"] = str(facts["expected"]).replace("' or '", "', '")
    if "known" in facts and "is_near" in facts:
        facts["hint"] = _known_names_hint(facts["known"], locale, are_near=facts["is_near"])

    return _fill_placeholders(VALIDATION[key], facts, locale)


def _known_names_hint(known_names: str, locale: str, *, are_near: bool) -> str:
    """Return the end of a sentence about an unknown name: the known names that resemble it, or all if none does."""
    key = NEAREST_NAMES if are_near else ACCEPTED_NAMES
    return _fill_placeholders(VALIDATION[key], {"known": known_names}, locale)


def _join_items(fact: Any) -> Any:
    """Return the items of a list as one text with commas between them, and any other fact unchanged."""
    if not isinstance(fact, list):
        return fact
    return ", ".join(str(item) for item in fact)


def _fill_placeholders(translations: Text, facts: Mapping[str, Any], locale: str) -> str:
    """Return the translation for `locale`, with `facts` in its placeholders and words that agree with their number."""
    countable_facts = {name: with_count(str(fact), fact, locale) for name, fact in facts.items()}
    translation = translations[LOCALES.index(locale)]
    return translation.format(**countable_facts)
