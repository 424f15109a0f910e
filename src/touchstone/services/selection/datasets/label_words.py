"""The licence, language, source and tags of a record as lists of words, by which the catalog filters and counts.

Anybody may write `metadata`, so a member that does not have the expected form counts as not given.
"""

from functools import lru_cache
from typing import TypedDict

from touchstone.metadata.licences import UNKNOWN_LICENCE, combine_licences, licence_alternatives
from touchstone.services.selection.datasets.dataset_record import RecordLabels


class LabelWords(TypedDict):
    """The word columns of a catalog row that come from the metadata of a record."""

    license: tuple[str, ...]
    language: tuple[str, ...] | None
    source: tuple[str, ...] | None
    tags: tuple[str, ...] | None
    trainable: tuple[str, ...]


def label_words(labels: RecordLabels) -> LabelWords:
    """Return the word columns of a record.

    `license` holds the licences that one may choose from, each as an SPDX expression where that is certain, or
    `unknown`. `trainable` is `true` if the data file was a readable table when it was measured.
    """
    return LabelWords(
        license=licence_words(labels.licence),
        language=optional_words(labels.language),
        source=optional_words(labels.source),
        tags=optional_words(labels.tags),
        trainable=trainable_words(labels.measured_rows),
    )


def licence_words(licence: object) -> tuple[str, ...]:
    """Return the licences that one may choose from, for the member `licence` of the metadata."""
    return _combine_licences(_texts(licence))


def optional_words(member: object) -> tuple[str, ...] | None:
    """Return the texts in a member of the metadata, or None if there are none."""
    return _texts(member) or None


def trainable_words(measured_rows: object) -> tuple[str, ...]:
    """Return whether the data file was a readable table, for the number of rows in the metadata."""
    return ("true",) if isinstance(measured_rows, int) else ("false",)


def _texts(value: object) -> tuple[str, ...]:
    """Return the texts in a member of the metadata, which is a text or a list of texts."""
    if value is None:
        return ()
    if isinstance(value, str):
        text = value.strip()
        return (text,) if text else ()
    if not isinstance(value, list):
        return ()

    texts = [text.strip() for text in value if isinstance(text, str)]
    return tuple(filter(None, texts))


@lru_cache(maxsize=10_000)
def _combine_licences(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the licences that the texts of a source let one choose from, or `unknown`."""
    licence = combine_licences(texts)
    if licence is None:
        return (UNKNOWN_LICENCE,)

    return (licence.text,) if licence.spdx is None else licence_alternatives(licence.spdx)
