"""Benchmarks on the Hugging Face hub whose configurations are separate datasets, such as GLUE.

A configuration is treated as a separate dataset if its home page or citation is unique. Configurations for different
languages or sizes of the same dataset share them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from touchstone.core.vocabulary import fold_tasks
from touchstone.metadata.documents import Claim, DatasetDocument
from touchstone.metadata.prose import find_citation_year
from touchstone.metadata.readers import hf_card
from touchstone.metadata.readers.builder import DocumentBuilder
from touchstone.metadata.readers.source_document import SourceDocument

MIN_PARTS: Final = 3


def read_parts(document: DatasetDocument, source: SourceDocument) -> Iterator[DatasetDocument]:
    """Yield a dataset for each configuration of a card with a unique home page or citation."""
    if document.standard != hf_card.STANDARD:
        return
    configurations = hf_card.DatasetCard(source, head={}).configurations
    identifying_members = [
        name for name in ("homepage", "citation") if len(distinct_configurations(configurations, name)) >= MIN_PARTS
    ]
    if not identifying_members:
        return

    member = identifying_members[0]
    for name in distinct_configurations(configurations, member):
        yield read_part(document, source, name)


def distinct_configurations(configurations: Mapping[str, hf_card.Configuration], member: str) -> list[str]:
    """Return the names of the configurations with a unique, non-empty value of a member."""
    texts = {name: str(info.get(member) or "").strip() for name, (info, _location) in configurations.items()}
    uses = Counter(texts.values())
    return [name for name, text in texts.items() if text and uses[text] == 1]


def read_part(document: DatasetDocument, source: SourceDocument, name: str) -> DatasetDocument:
    """Read the dataset of the configuration with this name."""
    configurations = hf_card.DatasetCard(source, head={}).configurations
    info, place = configurations[name]
    builder = DocumentBuilder(document.standard, key=f"{document.key}/{name}")
    builder.set_name(f"{document.record['dataset_name']}: {name}")

    descriptions = Counter(str(other_info.get("description")) for other_info, _location in configurations.values())
    if descriptions[str(info.get("description"))] == 1:
        builder.set_description(info.get("description"))
    builder.set_terms("task", fold_tasks(task_names(info)))
    builder.set_metadata("url", info.get("homepage") or f"https://huggingface.co/datasets/{document.key}")
    builder.set_metadata("language", document.record.get("metadata", {}).get("language"))
    builder.set_metadata("part_of", document.record["dataset_name"])
    builder.set_metadata("tasks_of_collection", document.record.get("task"))

    hf_card.add_splits(builder, hf_card.split_sizes(info), place, "")
    hf_card.add_columns(builder, info, place, "")
    add_home_page_and_year(builder, info, place)
    return builder.build()


def task_names(info: Mapping[str, Any]) -> list[str]:
    """Return the tasks in the task templates of a configuration."""
    templates = info.get("task_templates")
    names = [template.get("task") for template in templates or [] if isinstance(template, Mapping)]
    return [name for name in names if isinstance(name, str)]


def add_home_page_and_year(builder: DocumentBuilder, info: Mapping[str, Any], place: str) -> None:
    """Claim external documentation from the home page of a configuration, and the year from its citation."""
    address = info.get("homepage")
    if isinstance(address, str) and address.startswith("http"):
        home_page = Claim("external_documentation_available", True, address, f"{place}/homepage", field="homepage")
        builder.add_claim(home_page)

    citation_year = find_citation_year(str(info.get("citation") or ""))
    if citation_year is not None:
        year, quote = citation_year
        note = "the first citation"
        builder.add_claim(Claim("year", year, quote, f"{place}/citation", field="citation", note=note))
