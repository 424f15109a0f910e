"""Reading of the collected documents: datasets with their claims and the files that contain the quotes."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tools.demo_catalog.benchmark_parts import read_parts
from tools.demo_catalog.families import family_of
from tools.demo_catalog.quotes import find_excerpt, find_source_file, without_e_mail_address
from tools.demo_catalog.rejected_claims import convinces_alone, is_rejected
from tools.demo_catalog.sources import SOURCES, CatalogSource, SourceFiles, read_source_files
from touchstone.core.attributes import ETHICAL
from touchstone.demo.packaged_records import PackagedClaim, PackagedSource
from touchstone.metadata.documents import Claim, DatasetDocument
from touchstone.metadata.extraction.contacts import ACCOUNTABILITY
from touchstone.metadata.extraction.proposals import propose_claims
from touchstone.metadata.readers import dpi
from touchstone.metadata.readers.standards import read_document

# Longer quotes would not be evident at a glance, and would exceed a short quotation.
MAX_QUOTE_LENGTH: Final = 600
# A sentence shared by this many documents was probably copied, and shows nothing about the single dataset.
BOILERPLATE_COUNT: Final = 4

# Sentences from the template of the Common Voice datasheets.
TEMPLATE_SENTENCES: Final = frozenset({"There follows a randomly selected sample of five sentences from the corpus."})

Sentence = tuple[str, str]
"""An attribute and a quote without line breaks."""
Excerpts = dict[str, list[str]]
"""The passages to be packaged, by the digest of their file."""


@dataclass(frozen=True, slots=True)
class DescribedDataset:
    """The description of one dataset by one document.

    Attributes:
        source: the collection that contains the document.
        document: the result of the reader.
        claims: its claims, at most one for each attribute. Their `source` is an index in `sources`.
        sources: the files of the document.
        is_part: whether the dataset is one of several parts of a benchmark or collection. A part is never merged with
            another dataset of the same name.
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
        """The metadata of the dataset, beyond the attributes of a record."""
        metadata: dict[str, Any] = self.document.record.get("metadata", {})
        return metadata


@dataclass
class DocumentCollection:
    """The datasets of all documents.

    Attributes:
        datasets: the descriptions of the datasets in the order of the sources.
        excerpts: the passages that contain the quotes, by the digest of their file.
        dropped: the number of datasets and claims that were left out, by the reason.
    """

    datasets: list[DescribedDataset] = field(default_factory=list)
    excerpts: Excerpts = field(default_factory=dict)
    dropped: Counter[str] = field(default_factory=Counter)


def read_documents(metadata_folder: Path) -> DocumentCollection:
    """Read all documents of all sources, and verify that every quote appears in its source.

    Raises:
        MissingQuoteError: a quote does not appear in its source.
    """
    collection = DocumentCollection()
    for source in SOURCES:
        for files in newest_versions(source, metadata_folder):
            add_datasets(collection, files)
    drop_boilerplate(collection)
    return collection


def newest_versions(source: CatalogSource, metadata_folder: Path) -> Iterator[SourceFiles]:
    """Yield the documents of a source. For Croissant, only the newest version of each example is used."""
    documents = list(read_source_files(source, metadata_folder))
    if source.key == "croissant":
        files_by_example = {Path(files.main.path).parent.name: files for files in documents}
        yield from files_by_example.values()
    else:
        yield from documents


def add_datasets(collection: DocumentCollection, files: SourceFiles) -> None:
    """Add the datasets of one document, including the parts of a benchmark, and count rejections."""
    reading = read_document(files.as_document())
    if reading.rejection_code is not None:
        collection.dropped[f"document: {reading.rejection_code}"] += 1
    for rejection in reading.rejected:
        collection.dropped[f"dataset: {rejection.code}"] += 1

    for document in reading.documents:
        if is_image_or_map(document, files.main.source):
            collection.dropped["dataset: no table"] += 1
            continue
        is_part = document.standard == dpi.STANDARD and len(reading.documents) > 1
        collection.datasets.append(describe_dataset(collection, files, document, is_part=is_part))
        for part in read_parts(document, files.as_document()):
            collection.datasets.append(describe_dataset(collection, files, part, is_part=True))


def is_image_or_map(document: DatasetDocument, source: CatalogSource) -> bool:
    """Return whether a resource of vega-datasets is a picture or a map instead of a table."""
    return source.key == "vega" and "features_number" not in document.record


def describe_dataset(
    collection: DocumentCollection, files: SourceFiles, document: DatasetDocument, *, is_part: bool = False
) -> DescribedDataset:
    """Return the description of a dataset with its accepted claims, and store the passages of the quotes."""
    claims: dict[str, PackagedClaim] = {}
    for claim in (*document.claims, *propose_claims(document.sections)):
        reason = rejection_reason(claim, document.key)
        if reason is not None:
            collection.dropped[f"claim: {reason}"] += 1
        elif claim.attribute not in claims:
            claims[claim.attribute] = package_claim(collection, files, document, claim)

    sources = tuple(
        PackagedSource(kind=document.standard, name=file.source.name, url=file.url, sha256=file.sha256)
        for file in files.all()
    )
    return DescribedDataset(files.main.source, document, tuple(claims.values()), sources, is_part)


def rejection_reason(claim: Claim, key: str) -> str | None:
    """Return the reason for leaving a claim out of the catalog, or None to include it."""
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
    """Convert a claim to its packaged form, and store the passage around its quote."""
    claim = replace(claim, quote=without_e_mail_address(claim.quote))
    file = find_source_file(claim, files.all())
    passage = find_excerpt(file, claim.quote, claim.field)
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
    """Drop ethical claims from prose if their sentence was copied between documents of several datasets.

    Documents of one family may share sentences, such as the terms of a corpus in several languages. Accountability is
    exempt, because many cards name the same contact.
    """
    families_with_sentence: dict[Sentence, Counter[str]] = {}
    for dataset in collection.datasets:
        for claim in dataset.claims:
            if may_be_boilerplate(claim):
                families_with_sentence.setdefault(sentence_of(claim), Counter())[family_key(dataset)] += 1

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
    """Return whether a claim is supported by a sentence that could have been copied between cards."""
    return claim.field is None and claim.attribute in ETHICAL and claim.attribute != ACCOUNTABILITY


def sentence_of(claim: PackagedClaim) -> Sentence:
    """Return the attribute of a claim and its quote without line breaks."""
    return claim.attribute, " ".join(claim.quote.split())


def is_template(claim: PackagedClaim) -> bool:
    """Return whether a quote belongs to the template of a source."""
    return " ".join(claim.quote.split()) in TEMPLATE_SENTENCES


def family_key(dataset: DescribedDataset) -> str:
    """Return the family of a dataset, or its own source and key if it belongs to none."""
    return family_of(dataset.name) or f"{dataset.source.key}/{dataset.document.key}"
