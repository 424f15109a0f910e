"""Read all documents in a folder tree, and print the imports and rejections for each standard.

    python -m tools.check_readers PATH [--verbose]

The exit status is 1 if a quote does not appear in its source.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from touchstone.metadata.documents import DatasetDocument
from touchstone.metadata.readers.source_document import SourceDocument
from touchstone.metadata.readers.standards import BY_KEY, Reading, read_document
from touchstone.metadata.verbatim_quotes import document_texts

NO_STANDARD = "(none)"


def read_folder(folder: Path) -> Iterator[tuple[Path, SourceDocument, Reading]]:
    """Read every file in a folder tree, and yield its relative path, the document and the result.

    Other files in the same folder are companions, unless there are too many of them.
    """
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        siblings = sorted(path.parent.iterdir()) if len(list(path.parent.iterdir())) <= 20 else []
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
    document_counts: Counter[str] = Counter()
    imported_counts: Counter[str] = Counter()
    dataset_counts: Counter[str] = Counter()
    rejection_reasons: dict[str, Counter[str]] = defaultdict(Counter)
    skipped_parts: Counter[str] = Counter()
    attribute_counts: dict[str, Counter[str]] = defaultdict(Counter)
    fault_count = 0

    for path, source, reading in read_folder(folder):
        standard = reading.standard or NO_STANDARD
        document_counts[standard] += 1
        if reading.rejection_code is not None:
            rejection_reasons[standard][reading.rejection_code] += 1
            if is_verbose:
                print(f"rejected: {path}: {reading.rejection_code} {dict(reading.rejection_facts)}")
            continue

        imported_counts[standard] += 1
        dataset_counts[standard] += len(reading.documents)
        skipped_parts.update(part.code for part in reading.rejected)
        text = searchable_text(source)
        for document in reading.documents:
            skipped_parts.update(part.code for part in document.rejected)
            attribute_counts[standard].update(list(document.record))
            for quote in missing_quotes(text, document):
                fault_count += 1
                print(f"quote not in source: {path}: {document.standard}: {quote[:200]!r}")

    print_table(document_counts, imported_counts, dataset_counts, rejection_reasons)
    print(f"\nParts skipped in imported documents: {dict(skipped_parts.most_common())}")
    if is_verbose:
        for standard, counts in attribute_counts.items():
            print(f"\n{standard}: {dict(counts.most_common())}")
    return 1 if fault_count else 0


def print_table(
    document_counts: Counter[str],
    imported_counts: Counter[str],
    dataset_counts: Counter[str],
    rejection_reasons: dict[str, Counter[str]],
) -> None:
    """Print the counts as a Markdown table."""
    print("| standard | documents | imported | datasets | rejected by reason |")
    print("|---|---:|---:|---:|---|")
    for key in [*BY_KEY, NO_STANDARD]:
        title = BY_KEY[key].title if key in BY_KEY else "no standard"
        reason_list = ", ".join(f"`{code}` {count}" for code, count in rejection_reasons[key].most_common())
        print(f"| {title} | {document_counts[key]} | {imported_counts[key]} | {dataset_counts[key]} | {reason_list} |")


if __name__ == "__main__":
    sys.exit(main())
