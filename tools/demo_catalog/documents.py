"""Datasets as the collected documents describe them, each with its claims and the files that hold the quotes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tools.demo_catalog.benchmark_parts import read_parts
from tools.demo_catalog.families import family_of
from tools.demo_catalog.quotes import excerpt, find_source_file, without_e_mail_address
from tools.demo_catalog.rejected_claims import convinces_alone, is_rejected
from tools.demo_catalog.sources import SOURCES, CatalogSource, SourceFiles, read_source_files
from touchstone.core.attributes import ETHICAL
from touchstone.demo.packaged_records import PackagedClaim, PackagedSource
from touchstone.metadata.documents import Claim, DatasetDocument
from touchstone.metadata.extraction.contacts import ACCOUNTABILITY
from touchstone.metadata.extraction.proposals import propose_claims
from touchstone.metadata.readers import dpi
from touchstone.metadata.readers.standards import read_document

# A longer sentence convinces nobody at a glance, and would be more than a short quotation.
MAX_QUOTE_LENGTH: Final = 600
# A sentence that so many documents share was copied from one to the next, and says nothing about any of them.
BOILERPLATE_COUNT: Final = 4

# What the template of the Common Voice datasheets says in each of them.
TEMPLATE_SENTENCES: Final = frozenset({"There follows a randomly selected sample of five sentences from the corpus."})

Sentence = tuple[str, str]
"""An attribute, and the words that show its value."""
Excerpts = dict[str, list[str]]
"""The passages to be packaged, by the digest of the file in which they stand."""


@dataclass(frozen=True, slots=True)
class DescribedDataset:
    """One dataset as one document describes it.

    Attributes:
        document: what the reader of its metadata standard returned.
        claims: its claims, at most one for each attribute; their sources are positions in `sources`.
        is_part: whether the document describes it as one of several parts of a benchmark or collection. A part is a
            version of its own, even if it has the name of another dataset.
    """

    source: CatalogSource
    document: DatasetDocument
    claims: tuple[PackagedClaim, ...]
    sources: tuple[PackagedSource, ...]
    is_part: bool = False

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return f"{self.source.name_prefix}{self.document.record['dataset_name']}"

    @property
    def metadata(self) -> dict[str, Any]:
        """What the document says beyond the attributes of a record."""
        metadata: dict[str, Any] = self.document.record.get("metadata", {})
        return metadata


@dataclass
class DocumentCollection:
    """All described datasets, and what was left out.

    Attributes:
        excerpts: the passages in which the quotes stand, by the digest of their file.
        dropped: how many datasets or claims were left out, by the reason.
    """

    datasets: list[DescribedDataset] = field(default_factory=list)
    excerpts: Excerpts = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)


def read_documents(metadata_folder: Path) -> DocumentCollection:
    """Read all documents of all sources, and check that every quote stands in its source.

    Raises:
        MissingQuoteError: a quote does not stand in its source.
    """
    collection = DocumentCollection()
    for source in SOURCES:
        for files in newest_versions(source, metadata_folder):
            add_datasets(collection, files)
    drop_boilerplate(collection)
    return collection


def newest_versions(source: CatalogSource, metadata_folder: Path) -> Iterator[SourceFiles]:
    """Yield the documents of a source. Where folders of versions hold the same dataset, only the newest counts."""
    documents = list(read_source_files(source, metadata_folder))
    newest_files = (
        {Path(files.main.path).parent.name: files for files in documents} if source.key == "croissant" else None
    )
    yield from documents if newest_files is None else newest_files.values()


def add_datasets(collection: DocumentCollection, files: SourceFiles) -> None:
    """Add the datasets of one document, those of a benchmark's parts included, or count why there are none."""
    reading = read_document(files.as_document())
    if reading.code is not None:
        collection.dropped[f"document: {reading.code}"] += 1
    for rejection in reading.rejected:
        collection.dropped[f"dataset: {rejection.code}"] += 1

    for document in reading.documents:
        if is_no_dataset(document, files.main.source):
            collection.dropped["dataset: no table"] += 1
            continue
        is_part = document.standard == dpi.STANDARD and len(reading.documents) > 1
        collection.datasets.append(describe(collection, files, document, is_part=is_part))
        for part in read_parts(document, files.as_document()):
            collection.datasets.append(describe(collection, files, part, is_part=True))


def is_no_dataset(document: DatasetDocument, source: CatalogSource) -> bool:
    """Return whether a resource of vega-datasets is a picture or a map instead of a table."""
    return source.key == "vega" and "features_number" not in document.record


def describe(
    collection: DocumentCollection, files: SourceFiles, document: DatasetDocument, *, is_part: bool = False
) -> DescribedDataset:
    """Return a dataset with its claims, and keep the passages in which the quotes stand."""
    claims: dict[str, PackagedClaim] = {}
    for claim in (*document.claims, *propose_claims(document.sections)):
        reason = reason_to_drop(claim, document.key)
        if reason is not None:
            collection.dropped[f"claim: {reason}"] += 1
        elif claim.attribute not in claims:
            claims[claim.attribute] = package_claim(collection, files, document, claim)

    sources = tuple(
        PackagedSource(kind=document.standard, name=file.source.name, url=file.url, sha256=file.sha256)
        for file in files.all()
    )
    return DescribedDataset(files.main.source, document, tuple(claims.values()), sources, is_part)


def reason_to_drop(claim: Claim, key: str) -> str | None:
    """Return why a claim does not get into the catalog, or None if it does."""
    if not claim.quote.strip() or len(claim.quote) > MAX_QUOTE_LENGTH:
        return "no quote, or a long one"
    if not convinces_alone(claim):
        return "its quote alone does not show all parts of the criterion"
    if is_rejected(claim, key):
        return "rejected by a reader"
    return None


def package_claim(
    collection: DocumentCollection, files: SourceFiles, document: DatasetDocument, claim: Claim
) -> PackagedClaim:
    """Return a claim with the file in which its quote stands, and keep the passage around the quote."""
    claim = replace(claim, quote=without_e_mail_address(claim.quote))
    file = find_source_file(claim, files.all())
    passage = excerpt(file, claim.quote, claim.field)
    passages = collection.excerpts.setdefault(file.sha256, [])
    if passage not in passages:
        passages.append(passage)

    return PackagedClaim(
        attribute=claim.attribute,
        value=claim.value,
        quote=claim.quote,
        place=claim.place,
        field=claim.field,
        scope=claim.scope.value if claim.scope else None,
        note=claim.note,
        source=files.all().index(file),
        standard_version=document.standard_version,
    )


def drop_boilerplate(collection: DocumentCollection) -> None:
    """Drop ethical claims from prose whose sentence stands in the documents of several datasets.

    Documents of one family may share sentences, such as the terms of a corpus in each of its languages. So may all
    cards that name the same contact.
    """
    families_with_sentence: dict[Sentence, Counter[str]] = {}
    for dataset in collection.datasets:
        for claim in dataset.claims:
            if may_be_boilerplate(claim):
                families_with_sentence.setdefault(sentence_of(claim), Counter())[family(dataset)] += 1

    boilerplate = {
        sentence
        for sentence, families in families_with_sentence.items()
        if families.total() >= BOILERPLATE_COUNT and len(families) > 1
    }
    for index, dataset in enumerate(collection.datasets):
        kept_claims = tuple(
            claim
            for claim in dataset.claims
            if not (may_be_boilerplate(claim) and (sentence_of(claim) in boilerplate or is_template(claim)))
        )
        dropped_count = len(dataset.claims) - len(kept_claims)
        collection.dropped["claim: a sentence of several documents or of a template"] += dropped_count
        collection.datasets[index] = replace(dataset, claims=kept_claims)


def may_be_boilerplate(claim: PackagedClaim) -> bool:
    """Return whether a claim rests on a sentence that could have been copied from card to card."""
    return claim.field is None and claim.attribute in ETHICAL and claim.attribute != ACCOUNTABILITY


def sentence_of(claim: PackagedClaim) -> Sentence:
    """Return the attribute of a claim and its quote without line ends."""
    return claim.attribute, " ".join(claim.quote.split())


def is_template(claim: PackagedClaim) -> bool:
    """Return whether a quote belongs to the template of a source."""
    return " ".join(claim.quote.split()) in TEMPLATE_SENTENCES


def family(dataset: DescribedDataset) -> str:
    """Return the family of a dataset: that of its name, or the dataset itself."""
    return family_of(dataset.name) or f"{dataset.source.key}/{dataset.document.key}"
