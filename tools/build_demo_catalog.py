"""Build the demo catalog of the package from a folder of collected metadata documents.

    python -m tools.build_demo_catalog --from FOLDER

FOLDER contains `metadata/` (cards, Data Packages, catalogs…) and `tables/`. The build is reproducible. Every flag and
number is a claim with a verbatim quote from a document, or was computed from a table; values that no document states
stay unknown. The tool is only needed to renew the catalog.
"""

import argparse
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from tools.demo_catalog.documents import DocumentCollection, Excerpts, read_documents
from tools.demo_catalog.entries import make_names_unique, merge_descriptions
from tools.demo_catalog.measured_tables import attach_tables
from tools.demo_catalog.records import build_record, drop_repeated_objectives
from tools.demo_catalog.tables import read_tables
from tools.demo_catalog.variants import link_variants
from touchstone.demo.packaged_records import CATALOG_FILE, EXCERPTS_FILE, PackagedRecord, SourceExcerpts

DEMO_FOLDER: Final = Path(__file__).parents[1] / "src" / "touchstone" / "demo"


@dataclass(frozen=True)
class DemoCatalog:
    """The finished catalog.

    Attributes:
        records: the records in the order of the file.
        excerpts: the passages that contain the quotes, by the digest of their source file.
        dropped: the number of items that were left out, by the reason.
    """

    records: list[PackagedRecord]
    excerpts: Excerpts
    dropped: Counter[str]


def main() -> None:
    """Write the catalog, its excerpts and its tables to the package, and print the reasons for omissions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--from", dest="folder", type=Path, required=True, help="the folder of collected documents")
    folder: Path = parser.parse_args().folder

    catalog = build_catalog(folder, DEMO_FOLDER / "tables")
    write_lines(DEMO_FOLDER / CATALOG_FILE, catalog.records)
    write_lines(
        DEMO_FOLDER / EXCERPTS_FILE,
        (SourceExcerpts(sha256=digest, texts=tuple(texts)) for digest, texts in sorted(catalog.excerpts.items())),
    )

    claim_count = sum(len(record.claims) for record in catalog.records)
    print(f"{len(catalog.records)} records, {claim_count} claims")
    for reason, count in sorted(catalog.dropped.items()):
        print(f"left out: {reason}: {count}")


def build_catalog(folder: Path, tables_folder: Path) -> DemoCatalog:
    """Build the catalog, sorted by source and key, and copy its tables.

    Args:
        folder: the folder of collected documents and tables.
        tables_folder: the folder for the copies of the tables.
    """
    collection: DocumentCollection = read_documents(folder / "metadata")
    entries = merge_descriptions(collection.datasets)
    attach_tables(entries, read_tables(folder), folder / "tables", tables_folder)
    make_names_unique(entries)
    link_variants(entries)

    dropped = collection.dropped
    dropped["objective: the same for several records"] = drop_repeated_objectives(entries)
    dropped["document: of a dataset that another source describes too"] = sum(
        len({description.source.key for description in entry.descriptions}) - 1
        for entry in entries
        if entry.descriptions
    )
    entries.sort(key=lambda entry: (entry.source_key, entry.key))
    return DemoCatalog([build_record(entry) for entry in entries], collection.excerpts, dropped)


def write_lines(path: Path, objects: Iterable[msgspec.Struct]) -> None:
    """Write objects to a file in the JSON Lines format."""
    with path.open("wb") as file:
        for value in objects:
            file.write(msgspec.json.encode(value) + b"\n")


if __name__ == "__main__":
    main()
