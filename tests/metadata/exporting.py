"""Helpers to export imported records and to read exports, and datasets of any content for property tests."""

import json
from datetime import UTC, datetime
from typing import Any

import yaml
from hypothesis import strategies as st

from touchstone.core.attributes import FLAGS, WORDS
from touchstone.core.evidence import CLAIMED_ATTRIBUTES, EvidenceLevel
from touchstone.metadata.documents import Claim, DatasetDocument, ImportedDocument, Scope
from touchstone.metadata.exported_dataset import ClaimSource, ExportedClaim, ExportedDataset
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import read_document
from touchstone.metadata.writers.formats import FORMATS, ExportedFile

URN = "urn:uuid:7f3c1b52-6d0e-4f0a-9a51-0c2f9d9f1e11"


def imported_dataset(document: DatasetDocument) -> ExportedDataset:
    """Return a dataset as the catalog has it after it has imported a document."""
    stated_record = {name: value for name, value in document.record.items() if name not in CLAIMED_ATTRIBUTES}
    imported_document = ImportedDocument(
        standard=document.standard,
        standard_version=document.standard_version,
        key=document.key,
        record=stated_record,
        unmapped=document.unmapped,
    )
    metadata = {**document.record.get("metadata", {}), "source": {"name": "examples", "key": document.key}}
    return ExportedDataset(
        identifier=URN,
        record={**document.record, "metadata": metadata},
        claims=tuple(exported_claim(claim) for claim in document.claims),
        documents=(*document.earlier, imported_document),
    )


def exported_claim(claim: Claim) -> ExportedClaim:
    """Return a claim of a document as the ledger has it."""
    return ExportedClaim(
        attribute=claim.attribute,
        value=claim.value,
        level=EvidenceLevel.DOCUMENTED,
        not_applicable=claim.is_not_applicable,
        scope=claim.scope,
        quote=claim.quote,
        place=claim.place,
        field=claim.field,
        note=claim.note,
    )


def read_export(file: ExportedFile, format_key: str) -> DatasetDocument:
    """Import an exported file with automatic detection of its standard, and return the result."""
    reading = read_document(SourceDocument(file.content, file.name))
    assert reading.rejection_code is None, (reading.rejection_code, reading.rejection_facts)
    assert reading.standard == FORMATS[format_key].standard
    assert len(reading.documents) == 1
    return reading.documents[0]


def members(file: ExportedFile) -> dict[str, Any]:
    """Return the outermost members of an exported file: of its JSON object, or of the front matter of a card."""
    if file.media_type == "text/markdown":
        front_matter: dict[str, Any] = yaml.safe_load(file.content.decode().split("---\n")[1])
        return front_matter
    data: dict[str, Any] = json.loads(file.content)
    return data


# Texts that a database can hold, with everything that means something in YAML, Markdown, HTML and JSON-LD.
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40),
    st.sampled_from(
        [
            "</script><script>alert(1)</script>", "---\nlicense: mit\n---", "# Heading", "no", "1e5", "2014-04-06", "~",
            "null", "@id", "- a\n- b", "a: b", "&x *x", "!!python/object", "\u2028\u2029\ufeff\x85", "<!-- hidden",
            "[x](javascript:alert(1))", "🙂 Ünïcödé", "'\"\\", "x" * 300, "{{ 7 * 7 }}", "%", "?", "| table |",
        ]
    ),
)  # fmt: skip
NAMES = TEXTS.map(str.strip).filter(lambda text: 0 < len(text) <= 200)
NUMBERS = st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False, width=32))
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda children: st.one_of(st.lists(children, max_size=3), st.dictionaries(TEXTS, children, max_size=3)),
    max_leaves=8,
)
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "tags": st.lists(TEXTS, max_size=3) | JSON_VALUES,
        "licence": st.sampled_from(["CC-BY-4.0", "MIT AND CC0-1.0", "MIT OR Apache-2.0", "LicenseRef-X"]) | JSON_VALUES,
        "licence_text": TEXTS,
        "language": st.lists(TEXTS, max_size=2) | JSON_VALUES,
        "url": st.just("https://source.example/data set") | JSON_VALUES,
        "version": JSON_VALUES,
        "own": JSON_VALUES,
        "source": st.fixed_dictionaries({"name": TEXTS, "url": TEXTS, "key": NAMES}) | JSON_VALUES,
    },
)


def claim_values(attribute: str) -> st.SearchStrategy[Any]:
    """Return the values that an attribute can have."""
    if attribute in FLAGS:
        return st.booleans()
    if attribute == "year":
        return st.integers(1900, 2026)
    if attribute == "missing_values_percentage":
        return st.floats(0, 100) | st.integers(0, 100)
    return st.integers(0, 2**31 - 1)


@st.composite
def records(draw: st.DrawFn) -> dict[str, Any]:
    """Return the values of a record."""
    record: dict[str, Any] = {"dataset_name": draw(NAMES)}
    for name in ("objective", "description", "file_path", "file_type"):
        if draw(st.booleans()):
            record[name] = draw(TEXTS.filter(lambda text: 0 < len(text) <= 250))
    for name in WORDS:
        if draw(st.booleans()):
            record[name] = draw(st.lists(NAMES, min_size=1, max_size=3))
    for name in draw(st.sets(st.sampled_from(CLAIMED_ATTRIBUTES), max_size=5)):
        record[name] = draw(claim_values(name))
    metadata = draw(METADATA)
    if metadata:
        record["metadata"] = metadata
    return record


@st.composite
def claims(draw: st.DrawFn, attribute: str, value: Any) -> ExportedClaim:
    """Return a claim with which an attribute has a value."""
    return ExportedClaim(
        attribute=attribute,
        value=value,
        level=draw(st.sampled_from(EvidenceLevel)),
        scope=draw(st.none() | st.sampled_from(Scope)),
        quote=draw(TEXTS),
        place=draw(TEXTS),
        field=draw(st.none() | TEXTS),
        note=draw(TEXTS),
        source=draw(st.none() | st.builds(ClaimSource, kind=TEXTS, name=TEXTS, url=TEXTS)),
        by=draw(st.none() | TEXTS),
        at=draw(st.none() | st.just(datetime(2026, 1, 2, 3, 4, 5, 600, tzinfo=UTC))),
        until=draw(st.none() | st.just(datetime(2036, 1, 2, tzinfo=UTC))),
    )


@st.composite
def datasets(draw: st.DrawFn) -> ExportedDataset:
    """Return a dataset of any content that the catalog can hold, which was not imported."""
    record = draw(records())
    claimed_attributes = [name for name in CLAIMED_ATTRIBUTES if name in record]
    return ExportedDataset(URN, record, tuple(draw(claims(name, record[name])) for name in claimed_attributes))
