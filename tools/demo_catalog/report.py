"""Print Markdown tables with figures about the demo catalog for `docs/reference/demo-catalog.md`.

python -m tools.demo_catalog.report
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from touchstone.core.attributes import ETHICAL
from touchstone.core.evidence import CLAIMED_ATTRIBUTES
from touchstone.demo.packaged_records import PackagedRecord, read_records
from touchstone.metadata.licences import normalize_licence


def _domain_evidence(record: PackagedRecord) -> str:
    """Return the evidence for the domains of a record, or an empty string."""
    return str(record.metadata.get("evidence", {}).get("domain", ""))


def _has_expression(record: PackagedRecord) -> bool:
    """Return whether the licence of a record is an SPDX expression instead of free wording."""
    licence = record.metadata.get("licence")
    words = record.metadata.get("licence_text")
    return licence is not None and (licence != words or normalize_licence(licence).spdx == licence)


def _ethical_values(record: PackagedRecord) -> Counter[bool]:
    """Return the number of true and false ethical criteria of a record."""
    return Counter(record.attributes[name] for name in ETHICAL)


SHARES: Final[Sequence[tuple[str, Callable[[PackagedRecord], bool]]]] = (
    ("a domain", lambda record: record.attributes["domain"] is not None),
    ("a domain that its documents state", lambda record: "(stated: " in _domain_evidence(record)),
    ("a task", lambda record: record.attributes["task"] is not None),
    ("an objective", lambda record: record.attributes["objective"] is not None),
    ("a licence", lambda record: "licence" in record.metadata),
    ("a licence with an SPDX expression", _has_expression),
    ("a language", lambda record: "language" in record.metadata),
    ("a year", lambda record: record.attributes["year"] is not None),
    ("a number of instances", lambda record: record.attributes["instances_number"] is not None),
    ("a number of features", lambda record: record.attributes["features_number"] is not None),
    ("a share of missing values", lambda record: record.attributes["missing_values_percentage"] is not None),
    ("a number of citations", lambda record: record.attributes["citations"] is not None),
    ("a claim about whether the data are open", lambda record: record.attributes["is_public"] is not None),
    ("at least one ethical criterion that is true", lambda record: _ethical_values(record)[True] > 0),
    ("at least one ethical criterion that is false", lambda record: _ethical_values(record)[False] > 0),
    ("a warning", lambda record: "warnings" in record.metadata),
    ("a group of variants", lambda record: "variant_of" in record.metadata),
    ("a collection that it is part of", lambda record: "part_of" in record.metadata),
    ("a table", lambda record: "measured" in record.metadata),
)


def main() -> None:
    """Print all tables."""
    print("\n\n".join(catalog_tables(list(read_records()))))


def catalog_tables(records: Sequence[PackagedRecord]) -> list[str]:
    """Return the tables of sources, shares of records, domains, and claims by attribute."""
    return [source_table(records), share_table(records), domain_table(records), claim_table(records)]


def source_table(records: Sequence[PackagedRecord]) -> str:
    """Return a table with the number of records and claims from each source."""
    record_counts = Counter(
        (record.metadata["source"]["name"], record.metadata["source"]["kind"]) for record in records
    )
    sources = [record.sources[claim.source] for record in records for claim in record.claims]
    claim_counts = Counter((source.name, source.kind) for source in sources)
    rows = [
        (name, f"`{kind}`", str(record_counts[name, kind]), str(claim_counts[name, kind]))
        for name, kind in sorted(
            record_counts.keys() | claim_counts.keys(), key=lambda pair: (-record_counts[pair], pair)
        )
    ]
    total = ("**all**", "", str(len(records)), str(claim_counts.total()))
    return table(("source", "standard", "records", "claims"), [*rows, total])


def share_table(records: Sequence[PackagedRecord]) -> str:
    """Return a table with the share of records that have each property in `SHARES`."""
    counts = [(title, sum(1 for record in records if has_property(record))) for title, has_property in SHARES]
    rows = [(title, str(count), f"{count / len(records):.0%}") for title, count in counts]
    return table(("records with", "records", "share"), rows)


def domain_table(records: Sequence[PackagedRecord]) -> str:
    """Return a table with the number of records in each domain."""
    counts = Counter(domain for record in records for domain in record.attributes["domain"] or [])
    sorted_counts = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return table(("domain", "records"), [(f"`{domain}`", str(count)) for domain, count in sorted_counts])


def claim_table(records: Sequence[PackagedRecord]) -> str:
    """Return a table with the number of claims about each attribute, by value."""
    value_counts: dict[str, Counter[str]] = {name: Counter() for name in CLAIMED_ATTRIBUTES}
    for record in records:
        for claim in record.claims:
            value_counts[claim.attribute][str(claim.value) if isinstance(claim.value, bool) else "number"] += 1
    rows = [
        (f"`{name}`", str(counts["True"] or ""), str(counts["False"] or ""), str(counts["number"] or ""))
        for name, counts in value_counts.items()
    ]
    return table(("attribute", "true", "false", "a number"), rows)


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table. All columns except the first are right-aligned."""
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


if __name__ == "__main__":
    main()
