"""Random small catalogs, queries and weights, full of ties, duplicates, nulls and awkward spellings."""

from random import Random
from typing import Any
from uuid import UUID

import msgspec

from touchstone.core.attributes import FLAGS, NUMBERS
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, Assurance, AttributeEvidence, ClaimValue, EvidenceLevel
from touchstone.ranking.catalog.view import View
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.criteria import CRITERION_NAMES
from touchstone.ranking.query.predicates import (
    AnyWord,
    Contains,
    FlagEquals,
    FullText,
    OneOf,
    Predicate,
    Query,
    Range,
    Visible,
)
from touchstone.ranking.query.sort_order import SORT_KEYS

NAMES = ("Iris", "iris", "ÎRIS", "Adult", "adult census", "Straße", "STRASSE", "ﬁn", "z%_", "Ωmega", "a", "", "x" * 40)
OWNERS = (None, UUID(int=7), UUID(int=2**127 + 5))
WORDS = ("Health", "health", "Santé", "sante", "finance", "Vision", "a,b")


def _value_or_none(random: Random, value: object, none_share: float = 0.25) -> object:
    """Return a value, or sometimes None instead."""
    return None if random.random() < none_share else value


NUMBER_VALUES: dict[str, tuple[float, ...]] = {
    "year": (0, 1999, 2000, 2001, 2012, 2024, 2031),
    "instances_number": (0, 1, 99, 100, 150, 1000, 100_000, 10**6, 2**53 - 1),
    "features_number": (0, 1, 9, 10, 42, 100, 101, 600, 601, 2**31 - 1),
    "citations": (0, 1, 3, 10, 100, 999, 1000, 10**7),
    "missing_values_percentage": (0.0, 0.1, 12.5, 33.3, 100.0),
}


def _claim(random: Random, attribute: str) -> ClaimValue:
    """Return a random value of an attribute about which there are claims; numbers beyond those of rows are common."""
    if attribute not in NUMBERS:
        return random.choice((None, True, False))
    return random.choice((None, *NUMBER_VALUES[attribute], 77))


def _evidence(random: Random) -> dict[str, AttributeEvidence] | None:
    """Return random evidence about some attributes, or none."""
    if random.random() < 0.5:
        return None
    attributes = random.sample(CLAIMED_ATTRIBUTES, random.randrange(12))
    return {
        name: AttributeEvidence(
            level=random.choice(tuple(EvidenceLevel)),
            documented=_claim(random, name),
            reviewed=_claim(random, name) if random.random() < 0.3 else None,
            stricter_level=random.choice((None, EvidenceLevel.DOCUMENTED, EvidenceLevel.REVIEWED)),
        )
        for name in attributes
    }


def known_at(record: CatalogRow, assurance: Assurance) -> CatalogRow:
    """Return a record as it is seen at an assurance, where attributes that are not known are None."""
    if assurance is Assurance.DECLARED:
        return record
    evidence = record.evidence or {}
    values = {
        name: evidence[name].value_at(assurance, None) if name in evidence else None for name in CLAIMED_ATTRIBUTES
    }
    return msgspec.structs.replace(record, **values)


def row(random: Random, id_: int) -> CatalogRow:
    """Return a random record; values come from small sets, so that ties and equal spellings are common."""
    facts: dict[str, Any] = {flag: random.choice((None, True, False)) for flag in FLAGS}
    facts |= {name: _value_or_none(random, random.choice(values)) for name, values in NUMBER_VALUES.items()}
    facts |= {
        "objective": _value_or_none(random, random.choice(NAMES)),
        "domain": _value_or_none(random, tuple(random.sample(WORDS, random.randrange(3)))),
        "task": _value_or_none(random, tuple(random.sample(WORDS, random.randrange(2)))),
        "visibility": random.choice(("public", "public", "private")),
        "owner": random.choice(OWNERS),
        "description": _value_or_none(random, random.choice(NAMES)),
        "file_path": _value_or_none(random, random.choice(("a.csv", "b.parquet"))),
        "file_type": _value_or_none(random, random.choice(("csv", "CSV", "parquet"))),
        "tags": _value_or_none(random, tuple(random.sample(WORDS, random.randrange(3)))),
        "license": random.choice((("unknown",), ("MIT",), ("CC-BY-4.0",), ("MIT", "Apache-2.0"))),
        "language": _value_or_none(random, random.choice((("en",), ("English", "fr"), ("français",)))),
        "source": _value_or_none(random, random.choice((("uci",), ("OpenML",)))),
        "trainable": random.choice((("true",), ("false",))),
        "created_at": random.randrange(3),
        "updated_at": 1_700_000_000_000_000 + random.randrange(5),
        "evidence": _evidence(random),
    }
    return CatalogRow(id=id_, dataset_id=UUID(int=random.getrandbits(128)), dataset_name=random.choice(NAMES), **facts)


def _range(random: Random) -> Range:
    column, values = random.choice(
        (
            ("year", (1999, 2000, 2012.5, 2024)),
            ("instances_number", (0, 100, 999.5, 10**6, 2**53 - 1)),
            ("features_number", (0, 10, 100, 601)),
            ("citations", (0, 1, 10, 10**9)),
            ("missing_values_percentage", (0, 0.1, 12.5, 100)),
            ("ethical_score", tuple(percent / 100 for percent in range(0, 101, 10))),
            ("technical_score", tuple(percent / 100 for percent in range(0, 101, 5))),
            ("popularity_score", (0.0, 1 / 3, 0.5, 1.0)),
            ("id", (1, 5, 20)),
            ("created_at", (0, 1, 2)),
        )
    )
    low, high = _value_or_none(random, random.choice(values)), _value_or_none(random, random.choice(values), 0.6)
    return Range(column, low, high)  # type: ignore[arg-type]


def predicate(random: Random) -> Predicate:
    """Return a random predicate of any kind."""
    words = tuple(random.sample(WORDS, random.randrange(1, 3)))
    return random.choice(
        (
            _range(random),
            _range(random),
            FlagEquals(random.choice(FLAGS), random.random() < 0.5),
            AnyWord(random.choice(("domain", "task", "tags")), words),
            AnyWord("license", random.choice((("mit",), ("unknown", "Apache-2.0"), ("CC0-1.0",)))),
            AnyWord("language", random.choice((("EN",), ("french", "de")))),
            AnyWord(random.choice(("source", "trainable")), random.choice((("UCI",), ("true",), ("openml", "false")))),
            Contains(
                random.choice(("dataset_name", "objective", "file_path")), random.choice(("i", "RIS", "ss", "%", ""))
            ),
            Contains("dataset_name", random.choice(NAMES)),
            OneOf("file_type", random.choice((("csv",), ("PARQUET", "x"), ()))),
            FullText(random.choice(("iris", "adlut", "santé vision", "census", "omega", ""))),
            OneOf("visibility", ("private",)),
            Visible(random.choice(OWNERS)),
        )
    )


def query(random: Random) -> Query:
    """Return a query of up to three predicates."""
    return tuple(predicate(random) for _ in range(random.randrange(4)))


def weights(random: Random) -> dict[str, float]:
    """Return weights for some criteria: equal, ordinary, zero, huge and tiny ones."""
    names = random.sample(CRITERION_NAMES, random.randrange(1, len(CRITERION_NAMES) + 1))
    weight_by_name = {name: random.choice((0.0, 1.0, 0.1, 0.2, random.random(), 1e6, 1e-3)) for name in names}
    return weight_by_name if any(weight_by_name.values()) else {names[0]: 0.3}


def sort_key(random: Random) -> str:
    """Return any sort key."""
    return random.choice(tuple(SORT_KEYS))


def position_of(view: View, id_: int) -> int | None:
    """Return the position in a view of the record with an id, or None if the view has no such record."""
    window = view.sort((Range("id", id_, id_),), "id", descending=False, skip=0, limit=None)
    return int(window.positions[0]) if window.total_count else None
