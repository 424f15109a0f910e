"""All texts for users in French and English, with one module for each kind of text.

This module looks sentences up by key and fills in their placeholders. The sentences are in `errors` (refused requests),
`validation` (invalid values), `document_rejections` (imports), `job_errors` (jobs that fail or cannot start),
`progress`, `training_warnings`, `comparisons` (of trainings), `narratives`, `reasons` and `reason_phrases` (the reasons
for a rank), `ranking_notes`, `charts`, `model_card`, `labels`, `codebook` (the ethical criteria), `report*` (the report
on a project) and `pages*` (the web pages).
"""

from collections.abc import Mapping
from typing import Any, Final

from touchstone.messages.comparisons import COMPARISON_TEXTS
from touchstone.messages.document_rejections import DOCUMENT_REJECTIONS, INVALID_RECORD
from touchstone.messages.errors import ERROR_TEXTS
from touchstone.messages.job_errors import JOB_ERROR_TEXTS, NAME_OF_DATASET, NAME_SUGGESTION
from touchstone.messages.locales import Text, in_language
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

# The public interface requires these three sentences to be French, whatever language the caller prefers.
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


def text(key: str, locale: str, **placeholders: Any) -> str:
    """Return the sentence with a key in one language, with placeholders such as `{name}` filled in.

    Raises:
        KeyError: there is no such sentence, which is a programming error.
    """
    return _fill_placeholders(MESSAGES[key], placeholders, locale)


def job_error_text(error_code: str, facts: Mapping[str, Any], locale: str) -> str:
    """Return the sentence that tells a user why a job cannot start or has failed.

    The facts fill in the placeholders of the sentence, such as `{name}`. If a name seems to be misspelt, the fact
    `nearest` is the most similar existing name, and the sentence ends by suggesting it. If the job is one of several,
    the fact `dataset` is the name of its dataset, which the sentence mentions.
    """
    placeholders = {name: _join_items(fact) for name, fact in facts.items()}
    sentence = text(error_code, locale, **placeholders)

    if facts.get("dataset"):
        sentence += text(NAME_OF_DATASET, locale, **placeholders)
    if facts.get("nearest"):
        sentence += text(NAME_SUGGESTION, locale, **placeholders)
    return sentence


def comparison_text(key: str, locale: str, **placeholders: Any) -> str:
    """Return a sentence about a comparison of trainings, with its placeholders filled in."""
    return _fill_placeholders(COMPARISON_TEXTS[key], placeholders, locale)


def ranking_note_text(code: str, criterion: str, locale: str) -> str:
    """Return the note that a criterion, given by its label, does not distinguish the datasets shown."""
    return _fill_placeholders(RANKING_NOTES[code], {"criterion": criterion}, locale)


def document_rejection_text(code: str, facts: Mapping[str, Any], locale: str) -> str:
    """Return the reason why a document, or a part of it, is not imported.

    If the catalog cannot hold a value, `facts` contains the name of the value as `place`, and the type and the context
    of the validation error.
    """
    if code != INVALID_RECORD:
        return _fill_placeholders(DOCUMENT_REJECTIONS[code], facts, locale)

    reason = validation_text(facts["type"], facts["reason"], facts, locale)
    return _fill_placeholders(DOCUMENT_REJECTIONS[code], {"place": facts["place"], "reason": reason}, locale)


def report_text(key: str, locale: str, **placeholders: Any) -> str:
    """Return a sentence of a report, with its placeholders filled in.

    Counts that are already formatted for the language are given with their number, by `plurals.with_count`.
    """
    return _fill_placeholders(REPORT_TEXTS[key], placeholders, locale)


def validation_text(error_type: str, fallback: str, context: Mapping[str, Any] | None, locale: str) -> str:
    """Return the sentence that tells a user why a value is invalid.

    For example, the error type `string_too_long` with the context `{"max_length": 80}` becomes "at most 80 characters".

    Args:
        error_type: the type of a validation error that was raised by Pydantic or by us.
        fallback: the sentence for error types without a translation.
        context: the context of the error, which fills in the placeholders; None if it has none.
        locale: the language, `fr` or `en`.
    """
    context = context or {}
    sentence_key = _validation_sentence_key(error_type, context)
    translations = VALIDATION.get(sentence_key)
    if translations is None:
        return fallback

    placeholders = _list_expected_values(context)
    return _fill_placeholders(translations, placeholders, locale)


def _validation_sentence_key(error_type: str, context: Mapping[str, Any]) -> str:
    """Return the key of the sentence for a validation error, which is the error type in most cases.

    Two kinds of errors have a better sentence. An empty value is called empty instead of too short. For an unknown name
    or value that resembles a known one, the sentence suggests the known one.
    """
    if context.get("min_length") == 1:
        return EMPTY_VALUE
    if context.get("is_near"):
        return SUGGESTIONS[error_type]
    return error_type


def _list_expected_values(context: Mapping[str, Any]) -> Mapping[str, Any]:
    """List the accepted values in an error context as sentences in all languages do.

    Pydantic lists these values as `'a', 'b' or 'c'`, with an English word and with quotes. They become `a, b, c`.
    """
    if "expected" not in context:
        return context

    accepted_values = context["expected"].replace("' or '", "', '").strip("'").replace("', '", ", ")
    return {**context, "expected": accepted_values}


def _join_items(fact: Any) -> Any:
    """Join the items of a list with commas, and return any other fact unchanged."""
    if not isinstance(fact, list):
        return fact
    return ", ".join(str(item) for item in fact)


def _fill_placeholders(translations: Text, placeholders: Mapping[str, Any], locale: str) -> str:
    """Return the translation for `locale` with its placeholders filled in.

    The placeholder `{rows}` becomes `placeholders["rows"]`, and `{rows:row|rows}` becomes the singular or plural that
    agrees with it.
    """
    counted_values = {name: _to_counted_text(value, locale) for name, value in placeholders.items()}
    return in_language(translations, locale).format(**counted_values)


def _to_counted_text(value: Any, locale: str) -> CountedText:
    """Convert the value of a placeholder to a string with a count, unless it already is one.

    Floats that are whole numbers have no decimal point. In French, the decimal point of other floats is a comma.
    """
    if isinstance(value, CountedText):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)

    formatted = str(value)
    if isinstance(value, float) and locale == "fr":
        formatted = formatted.replace(".", ",")
    return with_count(formatted, value, locale)
