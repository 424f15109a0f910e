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
from touchstone.messages.validation import VALIDATION

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
        KeyError: there is no such sentence, which is a programming error.
    """
    return _fill_placeholders(MESSAGES[key], facts, locale)


def job_error_text(code: str, facts: Mapping[str, Any], locale: str) -> str:
    """Return why a job cannot start or has failed, followed by the nearest known name if `facts` include one."""
    readable_facts = {
        name: ", ".join(map(str, fact)) if isinstance(fact, list) else fact for name, fact in facts.items()
    }
    sentence = text(code, locale, **readable_facts)
    if not facts.get("nearest"):
        return sentence
    return sentence + text(NEAREST_NAME, locale, **readable_facts)


def validation_text(kind: str, fallback: str, context: Mapping[str, Any] | None, locale: str) -> str:
    """Return why a value is invalid.

    `kind` and `context` are the type and the context of a validation error; `fallback` is the sentence for kinds that
    have no translation here.
    """
    facts = dict(context or {})
    key = "empty" if facts.get("min_length") == 1 else kind
    if key not in VALIDATION:
        return fallback

    if "expected" in facts:
        # Pydantic enumerates in English: 'a', 'b' or 'c'.
        facts["expected"] = str(facts["expected"]).replace("' or '", "', '")
    if "is_near" in facts:
        hint = VALIDATION["nearest" if facts["is_near"] else "known"]
        facts["hint"] = _fill_placeholders(hint, {"known": facts["known"]}, locale)

    return _fill_placeholders(VALIDATION[key], facts, locale)


def _fill_placeholders(sentences: Text, facts: Mapping[str, Any], locale: str) -> str:
    countable_facts = {name: with_count(str(fact), fact, locale) for name, fact in facts.items()}
    return sentences[LOCALES.index(locale)].format(**countable_facts)
