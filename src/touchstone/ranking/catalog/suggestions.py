"""Suggests names, domains and tasks of visible records while the user types."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from touchstone.core.text import fold
from touchstone.ranking.catalog.part import CatalogPart
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.text.words import name_words, split_words

_TERM_COLUMNS: Final = ("domain", "task")
_NAMES_PER_PART: Final = 500  # maximum number of names per part, taken from the most cited records


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A name, domain or task that matches the typed text.

    Attributes:
        kind: `name`, `domain` or `task`.
        text: the name, domain or task.
        count: the number of visible records with it, among the examined records.
    """

    kind: str
    text: str
    count: int


class _NamedRecord(NamedTuple):
    """The name and the popularity score of a record."""

    name: str
    popularity: float


def suggest(parts: Sequence[CatalogPart], text: str, visible: Query, *, facets: Facets, limit: int) -> list[Suggestion]:
    """Suggest names, domains and tasks that match a typed text.

    Each word of the text must be the prefix of a word of the suggestion. For example, "hea" matches "Health". If there
    are enough matches, one third of the suggestions are domains, one third are tasks, and the rest are names.

    Args:
        parts: the parts of the catalog.
        text: the typed text.
        visible: the query for the records that the viewer may see.
        facets: the facets of these records.
        limit: the maximum number of suggestions.
    """
    prefixes = list(dict.fromkeys(split_words(text)))
    if not prefixes:
        return []

    terms = [list(_suggest_terms(facets, column, prefixes)) for column in _TERM_COLUMNS]
    names = list(_suggest_names(parts, prefixes, visible, start=fold(text).strip()))

    max_per_column = max(1, limit // 3)
    first_terms = [suggestion for suggestions in terms for suggestion in suggestions[:max_per_column]]
    other_terms = [suggestion for suggestions in terms for suggestion in suggestions[max_per_column:]]
    max_names = max(0, limit - len(first_terms))
    return [*first_terms, *names[:max_names], *other_terms][:limit]


def _suggest_terms(facets: Facets, column: str, prefixes: Sequence[str]) -> Iterator[Suggestion]:
    """Yield the matching domains or tasks, the most frequent first."""
    for value, count in facets.values[column]:
        if _are_word_prefixes(prefixes, split_words(str(value))):
            yield Suggestion(column, str(value), count)


def _suggest_names(
    parts: Sequence[CatalogPart], prefixes: Sequence[str], visible: Query, *, start: str
) -> Iterator[Suggestion]:
    """Yield the matching names, with names that begin with `start` first, then the most cited ones."""
    records_by_name: dict[str, list[_NamedRecord]] = {}
    for part in parts:
        for record in _named_records(part, prefixes, visible):
            records_by_name.setdefault(fold(record.name), []).append(record)

    def sort_key(folded_name: str) -> tuple[bool, float, int, str]:
        """Return the sort key of a name."""
        popularity = max(record.popularity for record in records_by_name[folded_name])
        return not folded_name.startswith(start), -popularity, len(folded_name), folded_name

    for folded_name in sorted(records_by_name, key=sort_key):
        records = records_by_name[folded_name]
        yield Suggestion("name", records[0].name, len(records))


def _named_records(part: CatalogPart, prefixes: Sequence[str], visible: Query) -> list[_NamedRecord]:
    """Return the most cited visible records of a part with matching names."""
    positions = part.find_most_cited_by_name(prefixes, visible, _NAMES_PER_PART)
    popularity = part.criterion("popularity_score", positions).tolist()
    names = part.texts("dataset_name", positions)
    records = []
    for name, name_popularity in zip(names, popularity, strict=True):
        if name is not None and _are_word_prefixes(prefixes, name_words(name)):
            records.append(_NamedRecord(name, name_popularity))
    return records


def _are_word_prefixes(prefixes: Sequence[str], words: Iterable[str]) -> bool:
    """Return whether each prefix is the beginning of at least one of the words."""
    distinct_words = set(words)
    return all(any(word.startswith(prefix) for word in distinct_words) for prefix in prefixes)
