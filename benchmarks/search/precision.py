"""Precision at ten of our search and a plain substring search, judged without knowing which of them found a record."""

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from touchstone.core.attributes import BY_NAME, WORDS
from touchstone.core.text import fold
from touchstone.demo.packaged_records import PackagedRecord, read_records
from touchstone.ranking.catalog.catalog import Catalog
from touchstone.ranking.columns.segment import CatalogRow
from touchstone.ranking.query.predicates import FullText
from touchstone.services.selection.datasets.dataset_record import RecordLabels
from touchstone.services.selection.datasets.label_words import label_words

_FOLDER: Final = Path(__file__).parent
_NEEDS: Final = _FOLDER / "needs.json"
_SHEET: Final = _FOLDER / "sheet.json"
_JUDGEMENTS: Final = _FOLDER / "judgements.json"
_SECOND_JUDGEMENTS: Final = _FOLDER / "second_judgements.json"  # by a judge who had no part in building the search
_RESULTS: Final = 10
_MAX_SHOWN: Final = 700

Results = dict[str, list[str]]  # the UUIDs of the records that a search found first, by engine
Judgements = dict[str, dict[str, bool]]  # whether records are relevant, by need and UUID


def load_catalog() -> tuple[Catalog, list[PackagedRecord]]:
    """Return the demo catalog and its records. The id of a record is its index."""
    records = list(read_records())
    return Catalog.build(_to_row(number, record) for number, record in enumerate(records)), records


def _to_row(number: int, record: PackagedRecord) -> CatalogRow:
    """Return a demo record as a row of the catalog."""
    attributes = {name: record.attributes[name] for name in BY_NAME}
    for name in WORDS:
        attributes[name] = tuple(attributes[name]) if attributes[name] else None

    return CatalogRow(
        id=number,
        dataset_id=UUID(record.dataset_id),
        description=record.description,
        **label_words(RecordLabels.from_metadata(record.metadata)),
        **attributes,
    )


def search_by_words(catalog: Catalog, records: list[PackagedRecord], text: str) -> list[str]:
    """Return the first records that our search finds, by relevance."""
    view = catalog.view
    window = view.sort((FullText(text),), "relevance", descending=True, skip=0, limit=_RESULTS)
    return [records[number].dataset_id for number in view.ids(window.positions).tolist()]


def search_by_substrings(records: list[PackagedRecord], text: str) -> list[str]:
    """Return the first records that contain every word of the text as a substring, in the order of the catalog."""
    words = fold(text).split()
    matches = [record for record in records if all(word in _searched_text(record) for word in words)]
    return [record.dataset_id for record in matches[:_RESULTS]]


def _searched_text(record: PackagedRecord) -> str:
    """Return the folded text of all searched fields."""
    metadata = record.metadata
    labels = [*(metadata.get("tags") or ()), *(record.attributes["domain"] or ()), *(record.attributes["task"] or ())]
    return fold("\n".join([record.name, record.attributes["objective"] or "", record.description, *labels]))


def find_results() -> dict[str, Results]:
    """Return the first results of both searches for each need."""
    catalog, records = load_catalog()
    return {
        need["id"]: {
            "words": search_by_words(catalog, records, need["query"]),
            "substrings": search_by_substrings(records, need["query"]),
        }
        for need in json.loads(_NEEDS.read_text())
    }


def write_judgement_sheet() -> None:
    """Write the results of both searches for each need, shuffled and without saying which search found them."""
    records_by_id = {record.dataset_id: record for record in read_records()}
    results = find_results()

    sheet = []
    for need in json.loads(_NEEDS.read_text()):
        dataset_ids = sorted({dataset_id for result_ids in results[need["id"]].values() for dataset_id in result_ids})
        random.Random(need["id"]).shuffle(dataset_ids)
        shown_records = [_shown_record(records_by_id[dataset_id]) for dataset_id in dataset_ids]
        sheet.append({**need, "records": shown_records})

    _SHEET.write_text(json.dumps(sheet, ensure_ascii=False, indent=1) + "\n")
    print(f"{_SHEET.name}: {sum(len(need['records']) for need in sheet)} records for {len(sheet)} needs")


def _shown_record(record: PackagedRecord) -> dict[str, Any]:
    """Return the description of a record for the judges."""
    return {
        "dataset_id": record.dataset_id,
        "name": record.name,
        "description": (record.description or record.attributes["objective"] or "")[:_MAX_SHOWN],
        "domain": record.attributes["domain"],
        "task": record.attributes["task"],
        "tags": record.metadata.get("tags"),
    }


def print_precision() -> None:
    """Print the number of relevant results among the first ten for each need, and the means of both searches."""
    judgements: Judgements = json.loads(_JUDGEMENTS.read_text())
    needs = json.loads(_NEEDS.read_text())
    results = find_results()

    print("| need | typed | words | substrings |\n|---|---|---:|---:|")
    totals = {"words": 0, "substrings": 0}
    unjudged_count = 0
    for need in needs:
        cells = []
        for engine, dataset_ids in results[need["id"]].items():
            need_judgements = judgements[need["id"]]
            unjudged_count += len([dataset_id for dataset_id in dataset_ids if dataset_id not in need_judgements])
            relevant_count = sum(need_judgements.get(dataset_id, False) for dataset_id in dataset_ids)
            totals[engine] += relevant_count
            cells.append(f"{relevant_count} of {len(dataset_ids)}")
        print(f"| {need['id']} | {need['query']} | {' | '.join(cells)} |")

    means = " | ".join(f"{total / _RESULTS / len(needs):.3f}" for total in totals.values())
    print(f"| **precision at {_RESULTS}** | | {means} |")
    if unjudged_count:
        print(f"\n{unjudged_count} results have not been judged and count as irrelevant: the catalog has changed.")

    print_second_judgement(results, judgements)


def print_second_judgement(results: dict[str, Results], judgements: Judgements) -> None:
    """Print the precision of both searches according to the second judge, and how far both judges agree."""
    second_judgements: Judgements = json.loads(_SECOND_JUDGEMENTS.read_text())
    totals = Counter[str]()
    for need_id, ids_by_engine in results.items():
        for engine, dataset_ids in ids_by_engine.items():
            totals[engine] += sum(second_judgements[need_id].get(dataset_id, False) for dataset_id in dataset_ids)
    means = ", ".join(f"{engine} {total / _RESULTS / len(results):.3f}" for engine, total in totals.items())

    pairs = [
        (is_relevant, second_judgements[need_id][dataset_id])
        for need_id, need_judgements in judgements.items()
        for dataset_id, is_relevant in need_judgements.items()
        if dataset_id in second_judgements[need_id]
    ]
    print(f"\nSecond judge: {means}; Cohen's kappa {cohen_kappa(pairs):.2f} over {len(pairs)} records.")


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Return Cohen's kappa of two judges: 1 for perfect agreement, 0 for agreement by chance."""
    first_share = sum(first for first, _ in pairs) / len(pairs)
    second_share = sum(second for _, second in pairs) / len(pairs)
    by_chance = first_share * second_share + (1 - first_share) * (1 - second_share)
    agreement = sum(first == second for first, second in pairs) / len(pairs)
    return (agreement - by_chance) / (1 - by_chance)
