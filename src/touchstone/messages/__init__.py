"""Every text that users read, in French and English, one module for each kind of text.

This module looks sentences up by key and fills in their placeholders. The sentences are in `errors` (refused requests),
`validation` (invalid values), `document_rejections` (imports), `job_errors` (jobs that fail or cannot start),
`progress`, `training_warnings`, `comparisons` (of trainings), `narratives`, `reasons` (of a rank, of which
`reason_phrases` has the wording), `ranking_notes`, `charts`, `model_card`, `labels`, `codebook` (the ethical criteria),
`report*` (the report on a project) and `pages*` (the web pages).
"""

from collections.abc import Mapping
from typing import Any, Final

from touchstone.messages.comparisons import COMPARISON_TEXTS
from touchstone.messages.document_rejections import DOCUMENT_REJECTIONS
from touchstone.messages.errors import ERROR_TEXTS
from touchstone.messages.job_errors import JOB_ERROR_TEXTS, NAME_SUGGESTION
from touchstone.messages.locales import LOCALES, Text
from touchstone.messages.pages_account import ACCOUNT_PAGES
from touchstone.messages.pages_common import COMMON_PAGES
from touchstone.messages.pages_dataset_comparison import DATASET_COMPARISON_PAGES
from touchstone.messages.pages_datasets import DATASET_PAGES
from touchstone.messages.pages_evidence import EVIDENCE_PAGES
from touchstone.messages.pages_jobs import JOB_PAGES
from touchstone.messages.pages_projects import PROJECT_PAGES
from touchstone.messages.pages_ranking import RANKING_PAGES
from touchstone.messages.pages_training import TRAINING_PAGES
from touchstone.messages.plurals import CountedText, with_count
from touchstone.messages.ranking_notes import RANKING_NOTES
from touchstone.messages.report import REPORT_TEXTS
from touchstone.messages.validation import EMPTY_VALUE, SUGGESTIONS, VALIDATION

# The public interface fixes these three sentences: they are French whatever language the caller prefers.
FRENCH_ONLY: Final = frozenset({"unauthorized", "invalid_user_id", "project_not_found"})

MESSAGES: Final[Mapping[str, Text]] = {
    **ERROR_TEXTS,
    **JOB_ERROR_TEXTS,
    **COMMON_PAGES,
    **RANKING_PAGES,
    **DATASET_COMPARISON_PAGES,
    **ACCOUNT_PAGES,
    **DATASET_PAGES,
    **EVIDENCE_PAGES,
    **JOB_PAGES,
    **PROJECT_PAGES,
    **TRAINING_PAGES,
}


def text(key: str, locale: str, **facts: Any) -> str:
    """Return the sentence `key` in `locale`, with its placeholders, such as `{name}`, filled in with `facts`.

    Raises:
        KeyError: there is no such sentence, which is a programming error.
    """
    return _fill_placeholders(MESSAGES[key], facts, locale)


def job_error_text(error_code: str, facts: Mapping[str, Any], locale: str) -> str:
    """Return the sentence that explains why a job cannot start or has failed.

    `facts` are the values of the placeholders in the sentence, such as `{name}`. The optional fact `nearest`, a known
    name similar to an unknown one, is appended as a suggestion.
    """
    text_by_placeholder = {placeholder: _join_items(fact) for placeholder, fact in facts.items()}
    sentence = text(error_code, locale, **text_by_placeholder)

    if facts.get("nearest"):
        sentence += text(NAME_SUGGESTION, locale, **text_by_placeholder)
    return sentence


def comparison_text(key: str, locale: str, **facts: Any) -> str:
    """Return a sentence about a comparison of trainings, with its placeholders filled in."""
    return _fill_placeholders(COMPARISON_TEXTS[key], facts, locale)


def ranking_note_text(code: str, criterion: str, locale: str) -> str:
    """Return the note that a criterion does not distinguish the datasets shown. `criterion` is its label."""
    return _fill_placeholders(RANKING_NOTES[code], {"criterion": criterion}, locale)


def document_rejection_text(code: str, locale: str) -> str:
    """Return the reason why a document or a part of it was not imported."""
    return DOCUMENT_REJECTIONS[code][LOCALES.index(locale)]


def report_text(key: str, locale: str, **facts: Any) -> str:
    """Return a sentence of a report, with its placeholders filled in.

    A count that is already formatted for the language must be a `CountedText` (see `plurals.with_count`).
    """
    return _fill_placeholders(REPORT_TEXTS[key], facts, locale)


def validation_text(error_type: str, fallback: str, context: Mapping[str, Any] | None, locale: str) -> str:
    """Return the sentence that tells a user why a value is invalid, or `fallback` if there is none for this error.

    `error_type` and `context` are the type and the context of a validation error, raised by Pydantic or by us.
    The type `string_too_long` with the context `{"max_length": 80}`, for example, becomes "at most 80 characters".
    """
    context = context or {}

    # Most sentences have the type of the error as their key, but some errors are better described by another sentence.
    sentence_key = _validation_sentence_key(error_type, context)
    translations = VALIDATION.get(sentence_key)
    if translations is None:
        return fallback

    placeholders = _replace_english_conjunction(context)
    return _fill_placeholders(translations, placeholders, locale)


def _validation_sentence_key(error_type: str, context: Mapping[str, Any]) -> str:
    """Return the key of the sentence for a validation error: its type, unless a special sentence reads better.

    An empty value is called empty instead of too short, and the sentence for a name or value that resembles a known one
    suggests the known one.
    """
    if context.get("min_length") == 1:
        return EMPTY_VALUE
    if context.get("is_near"):
        return SUGGESTIONS[error_type]
    return error_type


def _replace_english_conjunction(context: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the context of a validation error with a comma for the English "or" between the accepted values.

    Pydantic lists these values as `'a', 'b' or 'c'`, which becomes `'a', 'b', 'c'` to suit a sentence in any language.
    """
    if "expected" not in context:
        return context

    accepted_values = context["expected"].replace("' or '", "', '")
    return {**context, "expected": accepted_values}


def _join_items(fact: Any) -> Any:
    """Join the items of a list with commas, or return any other fact unchanged."""
    if not isinstance(fact, list):
        return fact
    return ", ".join(str(item) for item in fact)


def _fill_placeholders(translations: Text, facts: Mapping[str, Any], locale: str) -> str:
    """Return the translation for `locale` with its placeholders filled in, such as `{name}` with `facts["name"]`.

    Numbers know their locale, so that `{rows:row|rows}` becomes the singular or the plural.
    """
    countable_facts = {name: _countable(fact, locale) for name, fact in facts.items()}
    translation = translations[LOCALES.index(locale)]
    return translation.format(**countable_facts)


def _countable(fact: Any, locale: str) -> CountedText:
    """Return an argument of a sentence as a string with its count, unless it has been formatted with it before.

    A float that is a whole number is written without a decimal point, which is a comma in French.
    """
    if isinstance(fact, float) and fact.is_integer():
        fact = int(fact)
    return fact if isinstance(fact, CountedText) else with_count(str(fact), fact, locale)
