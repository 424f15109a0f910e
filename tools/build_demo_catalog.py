"""Build the demo catalog that the package carries, from a folder of collected metadata documents.

    python -m tools.build_demo_catalog --from FOLDER

FOLDER holds `metadata/` (cards, Data Packages, catalogs…) and `tables/`. The same folder gives the same bytes. Nothing
is invented: every flag and number is a claim with a verbatim quote that was found in its document, or was computed from
a table; what no document states stays unknown. Needed only to renew the catalog, never to run the service.
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
from tools.demo_catalog.records import drop_repeated_objectives, finish_record
from tools.demo_catalog.tables import read_tables
from tools.demo_catalog.variants import link_variants
from touchstone.demo.packaged_records import CATALOG_FILE, EXCERPTS_FILE, PackagedRecord, SourceExcerpts

DEMO_FOLDER: Final = Path(__file__).parents[1] / "src" / "touchstone" / "demo"


@dataclass(frozen=True)
class DemoCatalog:
    """The finished catalog, the passages that hold its quotes, and what was left out, by the reason."""

    records: list[PackagedRecord]
    excerpts: Excerpts
    dropped: Counter[str]


def main() -> None:
    """Write the catalog, its excerpts and its tables into the package, and print what was left out."""
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
    """Return the catalog in the order of its sources and keys; copy its tables into a folder."""
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
    return DemoCatalog([finish_record(entry) for entry in entries], collection.excerpts, dropped)


def write_lines(path: Path, objects: Iterable[msgspec.Struct]) -> None:
    """Write objects as JSON Lines."""
    with path.open("wb") as file:
        for value in objects:
            file.write(msgspec.json.encode(value) + b"\n")


if __name__ == "__main__":
    main()
