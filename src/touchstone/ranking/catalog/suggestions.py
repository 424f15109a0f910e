"""Suggestions for somebody who is typing: names, domains and tasks of records that they may see."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from touchstone.core.text import fold
from touchstone.ranking.catalog.part import CatalogPart
from touchstone.ranking.query.facets import Facets
from touchstone.ranking.query.predicates import Query
from touchstone.ranking.text.words import name_words, split_words

_TERM_COLUMNS: Final = ("domain", "task")
_NAMES_PER_PART: Final = 500  # so many of the most cited records with a name that fits are looked at


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A name, domain or task that somebody may be typing.

    Attributes:
        kind: `name`, `domain` or `task`.
        text: The name, domain or task.
        count: How many visible records have it, among those that were looked at.
    """

    kind: str
    text: str
    count: int


class _NamedRecord(NamedTuple):
    """The name of a record, and how well known it is."""

    name: str
    popularity: float


def suggest(parts: Sequence[CatalogPart], text: str, visible: Query, *, facets: Facets, limit: int) -> list[Suggestion]:
    """Suggest names, domains and tasks to somebody who has typed a text, at most `limit` of them.

    Each word of the text begins a word of every suggestion: `hea` suggests `Health`. `visible` is the query for the
    records that the viewer may see, and `facets` are the facets of these records. A third of the places is for domains,
    a third for tasks, and what is left for names.
    """
    prefixes = list(dict.fromkeys(split_words(text)))
    if not prefixes:
        return []

    terms = [list(_suggest_terms(facets, column, prefixes)) for column in _TERM_COLUMNS]
    names = list(_suggest_names(parts, prefixes, visible, start=fold(text).strip()))

    share = max(1, limit // 3)
    first_terms = [suggestion for suggestions in terms for suggestion in suggestions[:share]]
    other_terms = [suggestion for suggestions in terms for suggestion in suggestions[share:]]
    free_places = max(0, limit - len(first_terms))
    return [*first_terms, *names[:free_places], *other_terms][:limit]


def _suggest_terms(facets: Facets, column: str, prefixes: Sequence[str]) -> Iterator[Suggestion]:
    """Yield the domains or tasks that fit, the most frequent first."""
    for value, count in facets.values[column]:
        if _begin_words(prefixes, split_words(str(value))):
            yield Suggestion(column, str(value), count)


def _suggest_names(
    parts: Sequence[CatalogPart], prefixes: Sequence[str], visible: Query, *, start: str
) -> Iterator[Suggestion]:
    """Yield the names that fit, those that begin with the text itself first, then the most cited ones."""
    records_by_name: dict[str, list[_NamedRecord]] = {}
    for part in parts:
        for record in _named_records(part, prefixes, visible):
            records_by_name.setdefault(fold(record.name), []).append(record)

    def order(folded_name: str) -> tuple[bool, float, int, str]:
        """Return what names are sorted by; False comes before True."""
        popularity = max(record.popularity for record in records_by_name[folded_name])
        return not folded_name.startswith(start), -popularity, len(folded_name), folded_name

    for folded_name in sorted(records_by_name, key=order):
        records = records_by_name[folded_name]
        yield Suggestion("name", records[0].name, len(records))


def _named_records(part: CatalogPart, prefixes: Sequence[str], visible: Query) -> list[_NamedRecord]:
    """Return the most cited visible records of a part whose names fit."""
    positions = part.most_cited_names(prefixes, visible, _NAMES_PER_PART)
    popularity = part.criterion("popularity_score", positions).tolist()
    names = part.texts("dataset_name", positions)
    records = []
    for name, name_popularity in zip(names, popularity, strict=True):
        if name is not None and _begin_words(prefixes, name_words(name)):
            records.append(_NamedRecord(name, name_popularity))
    return records


def _begin_words(prefixes: Sequence[str], words: Iterable[str]) -> bool:
    """Return whether every prefix begins one of the words."""
    distinct_words = set(words)
    return all(any(word.startswith(prefix) for word in distinct_words) for prefix in prefixes)
