"""Conversion of the licence, language, source and tags of a record to lists of words for filtering.

Metadata is free-form, so values of an unexpected type are ignored.
"""

from functools import lru_cache
from typing import TypedDict

from touchstone.metadata.licences import UNKNOWN_LICENCE, combine_licences, licence_alternatives
from touchstone.services.selection.datasets.dataset_record import RecordLabels


class LabelWords(TypedDict):
    """The word columns of a catalog row that are derived from the metadata of a record."""

    license: tuple[str, ...]
    language: tuple[str, ...] | None
    source: tuple[str, ...] | None
    tags: tuple[str, ...] | None
    trainable: tuple[str, ...]


def label_words(labels: RecordLabels) -> LabelWords:
    """Return the word columns of a record.

    `license` contains the alternative licences, as SPDX expressions if they were recognized, or `unknown`. `trainable`
    is `true` if the measured data file was a readable table.
    """
    return LabelWords(
        license=licence_words(labels.licence),
        language=optional_words(labels.language),
        source=optional_words(labels.source),
        tags=optional_words(labels.tags),
        trainable=trainable_words(labels.measured_rows),
    )


def licence_words(licence: object) -> tuple[str, ...]:
    """Return the alternative licences in the metadata member `licence`, or `unknown`."""
    return _combine_licences(_non_blank_strings(licence))


def optional_words(member: object) -> tuple[str, ...] | None:
    """Return the strings in a metadata member, or None if there are none."""
    return _non_blank_strings(member) or None


def trainable_words(measured_rows: object) -> tuple[str, ...]:
    """Return the word `true` if the number of rows was measured, and otherwise the word `false`."""
    return ("true",) if isinstance(measured_rows, int) else ("false",)


def _non_blank_strings(value: object) -> tuple[str, ...]:
    """Return the stripped strings in a metadata member, which should be a string or a list of strings."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        return ()

    strings = [item.strip() for item in value if isinstance(item, str)]
    return tuple(filter(None, strings))


@lru_cache(maxsize=10_000)
def _combine_licences(statements: tuple[str, ...]) -> tuple[str, ...]:
    """Return the alternative licences according to all statements of a source, or `unknown`."""
    licence = combine_licences(statements)
    if licence is None:
        return (UNKNOWN_LICENCE,)

    return (licence.text,) if licence.spdx is None else licence_alternatives(licence.spdx)
