"""Read all documents in a folder tree, and print the imports and rejections for each standard.

    python -m tools.check_readers PATH [--verbose]

The exit status is 1 if a quote does not appear in its source.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from touchstone.metadata.documents import DatasetDocument
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import BY_KEY, Reading, read_document
from touchstone.metadata.verbatim_quotes import document_texts

NO_STANDARD: Final = "(none)"
MAX_COMPANIONS: Final = 20


@dataclass(slots=True)
class StandardCounts:
    """What was found in the documents of one standard.

    Attributes:
        documents: the number of documents.
        imported: the number of documents that could be read.
        datasets: the number of datasets in these documents.
        rejections: the number of other documents by the reason for their rejection.
        attributes: the number of datasets that state each attribute.
    """

    documents: int = 0
    imported: int = 0
    datasets: int = 0
    rejections: Counter[str] = field(default_factory=Counter)
    attributes: Counter[str] = field(default_factory=Counter)


def read_folder(folder: Path) -> Iterator[tuple[Path, SourceDocument, Reading]]:
    """Read every file in a folder tree, and yield its relative path, the document and the result.

    Other files in the same folder are companions, unless there are too many of them.
    """
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        companions: dict[str, bytes] = {}
        siblings = sorted(path.parent.iterdir())
        if len(siblings) <= MAX_COMPANIONS:
            companions = {
                sibling.name: sibling.read_bytes() for sibling in siblings if sibling.is_file() and sibling != path
            }
        source = SourceDocument(path.read_bytes(), str(path.relative_to(folder)), companions)
        yield path.relative_to(folder), source, read_document(source)


def searchable_text(source: SourceDocument) -> str:
    """Return the raw text and the decoded strings of a document and its companions."""
    companions = [SourceDocument(content, name) for name, content in source.companions.items()]
    return "\n".join(text for part in (source, *companions) for text in document_texts(part))


def missing_quotes(text: str, document: DatasetDocument) -> list[str]:
    """Return the quotes and sections of a document that do not appear in the text of its source."""
    quotes = [claim.quote for claim in document.claims] + [section.text for section in document.sections]
    return [quote for quote in quotes if quote not in text]


def main() -> int:
    """Print the table and the missing quotes, and return the exit status."""
    folder = Path(sys.argv[1])
    is_verbose = "--verbose" in sys.argv
    counts_by_standard: defaultdict[str, StandardCounts] = defaultdict(StandardCounts)
    skipped_parts: Counter[str] = Counter()
    missing_quote_count = 0

    for path, source, reading in read_folder(folder):
        counts = counts_by_standard[reading.standard or NO_STANDARD]
        counts.documents += 1
        if reading.rejection_code is not None:
            counts.rejections[reading.rejection_code] += 1
            if is_verbose:
                print(f"rejected: {path}: {reading.rejection_code} {dict(reading.rejection_facts)}")
            continue

        counts.imported += 1
        counts.datasets += len(reading.documents)
        skipped_parts.update(part.code for part in reading.rejected)
        text = searchable_text(source)
        for document in reading.documents:
            skipped_parts.update(part.code for part in document.rejected)
            counts.attributes.update(list(document.record))
            for quote in missing_quotes(text, document):
                missing_quote_count += 1
                print(f"quote not in source: {path}: {document.standard}: {quote[:200]!r}")

    print_table(counts_by_standard)
    print(f"\nParts skipped in imported documents: {dict(skipped_parts.most_common())}")
    if is_verbose:
        for standard, counts in counts_by_standard.items():
            if counts.attributes:
                print(f"\n{standard}: {dict(counts.attributes.most_common())}")
    return 1 if missing_quote_count else 0


def print_table(counts_by_standard: Mapping[str, StandardCounts]) -> None:
    """Print the counts as a Markdown table."""
    print("| standard | documents | imported | datasets | rejected by reason |")
    print("|---|---:|---:|---:|---|")
    for key in [*BY_KEY, NO_STANDARD]:
        title = BY_KEY[key].title if key in BY_KEY else "no standard"
        counts = counts_by_standard.get(key, StandardCounts())
        reasons = ", ".join(f"`{code}` {count}" for code, count in counts.rejections.most_common())
        print(f"| {title} | {counts.documents} | {counts.imported} | {counts.datasets} | {reasons} |")


if __name__ == "__main__":
    sys.exit(main())
