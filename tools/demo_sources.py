"""The sources of the demo catalog whose licences allow passing their metadata on, with a reader for each.

Each reader yields records in which every value has the name of the field that it was taken from.
"""

import csv
import json
import re
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tools.demo_text import comparison_key
from touchstone.core.attributes import BY_NAME, ETHICAL

NO_LICENCE = {"none", "unknown", "unspecified", "notspecified", "not found", "no license", ""}
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "demo.touchstone")
MAX_NAME_LENGTH = 200
MAX_LANGUAGES = 20
MAX_TASKS = 10
# Sources in the seed whose lists have no licence.
UNLICENSED_SOURCES = ("uci", "rdatasets")
# Samples of a format rather than datasets, and placeholders.
NOT_DATASETS = re.compile(
    r"audio_test|image_test|simple-|json-join|recipes|_template|levanti|rag-dataset|-mini/|eval-lite"
)
# Data Packages that only show how the format is used.
FORMAT_EXAMPLES = re.compile(r"geo-location|geopoint|geo-lat|office|text-file|simple-geojson|donation|example")

RecordKey = tuple[str, str]


@dataclass
class Record:
    """A dataset as one source describes it.

    Attributes:
        source, key: the name of the source, and the key of the dataset there.
        values: the attributes of `core.attributes` that the source states.
        evidence: for each of these values, the field that it was taken from.
        aliases: further names, by which duplicates from other sources are recognised.
        details: further members of the catalog entry's `metadata`.
    """

    source: str
    key: str
    name: str
    url: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    evidence: dict[str, str] = field(default_factory=dict)
    licence: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    file_path: str = ""
    file_type: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def dataset_id(self) -> str:
        """The UUID of the record, which is always the same for the same source and key."""
        return str(uuid.uuid5(NAMESPACE, f"{self.source}/{self.key}"))

    def put(self, name: str, value: Any, evidence: str) -> None:
        """Set an attribute and its evidence; None, an empty text or an empty list removes both."""
        assert name in BY_NAME
        if value is None or value in ("", []):
            self.remove(name)
            return

        self.values[name] = value
        self.evidence[name] = evidence

    def remove(self, name: str) -> None:
        """Make the value of an attribute unknown."""
        self.values.pop(name, None)
        self.evidence.pop(name, None)


@dataclass
class Supplement:
    """What the original document of a record in the seed says beyond the seed."""

    url: str = ""
    file_path: str = ""
    file_type: str = ""
    aliases: list[str] = field(default_factory=list)


def read_records(folder: Path) -> Iterator[Record]:
    """Yield the records of all sources in the folder of collected documents.

    The OpenML replies are left out: they are test fixtures whose counts were cut (ten instances of adult-census).
    """
    metadata = folder / "metadata"
    yield from read_seed(folder)
    yield from read_tensorflow_datasets(metadata / "tfds")
    yield from read_vega(metadata / "datapackage" / "vega-datasets" / "datapackage.json")
    yield from read_data_packages(metadata / "datapackage")
    yield from read_pmlb(metadata / "pmlb", known_keys=seed_keys(folder, "pmlb"))
    yield from read_provenance_initiative(metadata / "dpi", known_keys=seed_keys(folder, "dpi"))


# The seed: records that were derived from several sources before


def read_seed(folder: Path) -> Iterator[Record]:
    """Yield the records of the seed, with addresses, languages and files from the original documents."""
    supplements = {**fairground_supplements(folder), **philadelphia_supplements(folder), **dpi_supplements(folder)}
    for row in read_seed_rows(folder):
        if NOT_DATASETS.search(row["source_key"]):
            continue

        name = tidy_name(row["dataset_name"])
        record = Record(row["source"], row["source_key"], name, licence=row["licence"] or [])
        for attribute in BY_NAME:
            if attribute != "dataset_name":
                record.put(attribute, row[attribute], row["evidence"].get(attribute, ""))
        record.put("dataset_name", name, row["evidence"]["dataset_name"])

        remove_doubtful_values(record)
        supplement_record(record, supplements.get((record.source, record.key), Supplement()), folder)
        yield record


def read_seed_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of the seed whose source has a licence."""
    with (folder / "seed" / "seed_core.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["source"] not in UNLICENSED_SOURCES:
                yield row


def seed_keys(folder: Path, source: str) -> set[str]:
    """Return the keys of the records of one source that the seed has already."""
    return {row["source_key"] for row in read_seed_rows(folder) if row["source"] == source}


def tidy_name(name: str) -> str:
    """Return a name of the form `Title [identifier]` as one line, without the identifier if it repeats the title."""
    one_line = " ".join(name.split())[:MAX_NAME_LENGTH]
    title, _, identifier = one_line.removesuffix("]").rpartition(" [")
    if not title or not one_line.endswith("]"):
        return one_line

    if comparison_key(title) == comparison_key(identifier):
        return title
    return f"{title} ({identifier})"


def remove_doubtful_values(record: Record) -> None:
    """Remove values that the source does not really state.

    An empty section of a card means unknown and not "no", unless a sentence states the absence (grade A). Topics
    that a model guessed from the texts are no facts either.
    """
    for name in (*ETHICAL, "external_documentation_available", "metadata_provided_with_dataset"):
        if record.values.get(name) is False and not record.evidence[name].startswith("A: "):
            record.remove(name)

    if record.source == "dpi" and record.key.startswith("data_summaries/"):
        record.remove("domain")


def supplement_record(record: Record, supplement: Supplement, folder: Path) -> None:
    """Add the address, tags, licence and file to a record of the seed, each in the way that its source allows."""
    record.url = supplement.url
    record.file_path = supplement.file_path
    record.file_type = supplement.file_type

    if record.source == "hf_cards":
        record.url = f"https://huggingface.co/datasets/{record.key}"
        record.tags = read_card_languages(folder / "metadata" / "hf_cards" / record.key / "README.md")
        record.aliases = [record.key]
    elif record.source == "pmlb":
        record.url = pmlb_url(record.key)
        record.licence = ["MIT (PMLB repository)"]
    elif record.source == "fairground":
        # FairGround counted NaN only, so its zero does not say that no value is missing.
        if record.values.get("missing_values_percentage") == 0:
            record.remove("missing_values_percentage")
            record.remove("has_missing_values")
    elif record.source == "dpi":
        record.aliases = supplement.aliases


def read_card_languages(card: Path) -> list[str]:
    """Return a tag `language:xx` for each language in the YAML head of a dataset card."""
    text = card.read_text(encoding="utf-8") if card.exists() else ""
    head = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    try:
        members = yaml.safe_load(head.group(1)) if head else {}
    except yaml.YAMLError:
        return []

    languages = members.get("language", members.get("languages", []))
    if isinstance(languages, dict):
        languages = [language for group in languages.values() for language in group]
    elif isinstance(languages, str):
        languages = [languages]
    return [f"language:{language}" for language in languages or []][:MAX_LANGUAGES]


def fairground_supplements(folder: Path) -> dict[RecordKey, Supplement]:
    """Return the addresses of the FairGround datasets."""
    with (folder / "metadata" / "fairground" / "annotations.csv").open(encoding="utf-8", newline="") as file:
        return {
            ("fairground", annotation["ann_new_dataset_id"]): Supplement(annotation["ann_main_url"])
            for annotation in csv.DictReader(file)
        }


def philadelphia_supplements(folder: Path) -> dict[RecordKey, Supplement]:
    """Return the landing pages and CSV downloads in the catalog of the city of Philadelphia."""
    catalog = json.loads((folder / "metadata" / "dcat_us" / "philadelphia_data.json").read_text(encoding="utf-8"))
    datasets = catalog["dataset"] if isinstance(catalog, dict) else catalog

    supplements = {}
    for dataset in datasets:
        supplement = Supplement(dataset.get("landingPage") or "")
        for distribution in dataset.get("distribution", []):
            if distribution.get("format") == "CSV" and distribution.get("downloadURL"):
                supplement.file_path = distribution["downloadURL"]
                supplement.file_type = "csv"
                break
        supplements["dcat_us_philly", dataset["identifier"]] = supplement
    return supplements


def dpi_supplements(folder: Path) -> dict[RecordKey, Supplement]:
    """Return the addresses and further names of the Data Provenance Initiative's datasets."""
    return {
        ("dpi", key): Supplement(dpi_url(summary), aliases=dpi_aliases(summary))
        for key, summary in read_dpi_summaries(folder / "metadata" / "dpi")
    }


# The Data Provenance Initiative


def read_provenance_initiative(folder: Path, *, known_keys: set[str]) -> Iterator[Record]:
    """Yield the summaries that the seed left out, where one address is one dataset and not one language of it."""
    summaries = list(read_dpi_summaries(folder))
    url_uses = Counter(dpi_url(summary).split("/viewer")[0].rstrip("/").lower() for _, summary in summaries)
    for key, summary in summaries:
        url = dpi_url(summary)
        if key not in known_keys and url and url_uses[url.rstrip("/").lower()] == 1:
            yield dpi_record(key, summary, url)


def read_dpi_summaries(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key (`part/identifier`) and the fields of every summary; a file has one summary or several."""
    for part in ("data_summaries", "data_summaries-speech", "data_summaries-video"):
        for path in sorted((folder / part).glob("*.json")):
            if path.stem.startswith("_"):
                continue

            content = json.loads(path.read_text(encoding="utf-8"))
            is_single_summary = "Unique Dataset Identifier" in content
            summaries = {path.stem: content} if is_single_summary else content
            for key, summary in summaries.items():
                yield f"{part}/{key}", summary


def dpi_url(summary: Mapping[str, Any]) -> str:
    """Return the first address that the summary gives, or an empty text."""
    for name in ("Dataset URL", "Hugging Face URL", "Website URL", "GitHub URL", "Paper URL"):
        url = summary.get(name)
        if isinstance(url, list) and url:
            url = url[0]
        if isinstance(url, str) and url.startswith("http"):
            return url
    return ""


def dpi_aliases(summary: Mapping[str, Any]) -> list[str]:
    """Return the name of the dataset on the Hugging Face hub, which is the last part of its address."""
    hub_url = str(summary.get("Hugging Face URL") or "")
    return [hub_url.rstrip("/").rsplit("/", 1)[-1]]


def dpi_record(key: str, summary: Mapping[str, Any], url: str) -> Record:
    """Return the record of a summary."""
    licences = [licence["License"] for licence in summary.get("Licenses", [])]
    name = tidy_name(summary["Dataset Name"])
    record = Record("dpi", key, name, url, licence=licences, aliases=dpi_aliases(summary))
    tasks = [task for task in summary.get("Task Categories", []) if isinstance(task, str)]
    dialogs = (summary.get("Text Metrics") or {}).get("Num Dialogs") or None

    record.put("dataset_name", name, "Dataset Name")
    record.put("objective", summary.get("Paper Title"), "Paper Title")
    record.put("task", tasks[:MAX_TASKS], "Task Categories")
    put_inferred_values(record, summary.get("Inferred Metadata", {}))
    record.put("instances_number", dialogs, "Text Metrics Num Dialogs")
    record.put("is_public", True, "Dataset URL")
    record.put("metadata_provided_with_dataset", True, "provenance summary")

    creators = summary.get("Creators") or []
    if creators:
        record.put("accountability_defined", True, f"C: Creators: {creators[:3]}")
    if creators and licences and summary.get("Text Sources"):
        record.put("transparency", True, "B: Text Sources, Licenses and Creators filled in")

    record.tags = [f"language:{language}" for language in summary.get("Languages", [])][:MAX_LANGUAGES]
    return record


def put_inferred_values(record: Record, inferred: Mapping[str, Any]) -> None:
    """Set the year and the citations of a record from the metadata that the initiative has looked up elsewhere."""
    for name in ("S2 Date", "HF Date", "Github Date"):
        year = str(inferred.get(name) or "")[:4]
        if year.isdigit():
            record.put("year", int(year), f"Inferred Metadata {name}")
            break

    for name, value in inferred.items():
        if name.startswith("S2 Citation Count") and isinstance(value, int):
            record.put("citations", value, "Inferred Metadata S2 Citation Count")
            break


# TensorFlow Datasets


def read_tensorflow_datasets(folder: Path) -> Iterator[Record]:
    """Yield a record for each folder with the README, TAGS and CITATIONS of a TensorFlow dataset."""
    for path in sorted(folder.iterdir()):
        tags = read_lines(path / "TAGS.txt")
        readme = "\n".join(read_lines(path / "README.md"))
        bibtex = "\n".join(read_lines(path / "CITATIONS.bib"))
        year = re.search(r"\byear\s*=\s*[{\"]?\s*(\d{4})", bibtex, re.IGNORECASE)
        languages = select_tags(tags, "content.language.")

        record = Record("tfds", path.name, path.name, f"https://www.tensorflow.org/datasets/catalog/{path.name}")
        record.aliases = [path.name.removesuffix("_dataset")]
        record.put("dataset_name", record.name, "name of the dataset's folder")
        record.put("objective", readme, "README.md")
        record.put("task", select_tags(tags, "ml.task."), "TAGS.txt ml.task")
        record.put("domain", select_tags(tags, "content.subject."), "TAGS.txt content.subject")
        record.put("year", int(year.group(1)) if year else None, "CITATIONS.bib year")
        record.put("metadata_provided_with_dataset", True, "README.md, TAGS.txt")
        record.put("external_documentation_available", True if bibtex.strip() else None, "CITATIONS.bib")
        record.tags = sorted(
            select_tags(tags, "content.data-type.") + [f"language:{language}" for language in languages]
        )
        yield record


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file, none if it is missing."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def select_tags(lines: list[str], prefix: str) -> list[str]:
    """Return the tags with a prefix as words: `medical imaging` for `ml.task.medical-imaging` and `ml.task.`."""
    tags = [line.split()[0] for line in lines if line.startswith(prefix)]
    return [tag.removeprefix(prefix).replace("-", " ") for tag in tags]


# Data Packages


def read_vega(path: Path) -> Iterator[Record]:
    """Yield a record for each table of the vega-datasets package, but not for samples of another table of it."""
    package = json.loads(path.read_text(encoding="utf-8"))
    for resource in package["resources"]:
        fields = resource.get("schema", {}).get("fields", [])
        if not fields or resource["name"] in ("flights_2k", "flights_5k"):
            continue

        url = f"https://github.com/vega/vega-datasets/blob/v{package['version']}/data/{resource['path']}"
        record = Record("vega", resource["path"], resource["name"].replace("_", " "), url)
        record.licence = [licence["name"] for licence in resource.get("licenses", [])]
        put_resource_values(record, resource, fields)
        yield record


def read_data_packages(folder: Path) -> Iterator[Record]:
    """Yield a record for each of the other Data Packages, except those that are only examples of the format."""
    for path in sorted(folder.glob("*/datapackage.json")):
        key = path.parent.name
        package = json.loads(path.read_text(encoding="utf-8"))
        schema = package["resources"][0].get("schema", {})
        if key == "vega-datasets" or FORMAT_EXAMPLES.search(key) or not isinstance(schema, dict):
            continue

        name = re.sub(r"\s*\(Example\)", "", package.get("title", package["name"]))
        record = Record("datapackage", key, name, package.get("homepage", ""))
        record.licence = [
            licence.get("name") or licence.get("id") or licence.get("title", "")
            for licence in package.get("licenses", [])
        ]
        fields = schema.get("fields", [])
        put_resource_values(record, package, fields)
        record.put("dataset_name", name, "title")
        record.put("objective", package.get("description"), "description")

        is_single_table = len(package["resources"]) == 1 and fields
        if not is_single_table:
            record.remove("features_number")
            record.remove("has_temporal_factors")
        yield record


def put_resource_values(record: Record, resource: Mapping[str, Any], fields: list[dict[str, Any]]) -> None:
    """Set the values that a table of a Data Package states, or a package with a single table."""
    date_types = ("date", "datetime", "time", "year", "yearmonth")
    date_fields = [member["name"] for member in fields if member.get("type") in date_types]
    date_evidence = f"schema field {date_fields[0]}" if date_fields else "no field of a date type"

    record.put("dataset_name", record.name, "resource name")
    record.put("objective", resource.get("description"), "resource description")
    record.put("features_number", len(fields), "schema.fields (no target is named)")
    record.put("has_temporal_factors", bool(date_fields), date_evidence)
    record.put("is_public", True, "resource path")
    record.put("metadata_provided_with_dataset", True, "datapackage.json schema")

    source_paths = [source["path"] for source in resource.get("sources", []) if source.get("path")]
    if source_paths:
        record.put("external_documentation_available", True, f"sources: {source_paths[0]}")


# The Penn Machine Learning Benchmarks


def read_pmlb(folder: Path, *, known_keys: set[str]) -> Iterator[Record]:
    """Yield a record with the counts of each PMLB table that the seed does not describe."""
    file_name = "all_summary_stats.tsv"
    with (folder / file_name).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            key = row["dataset"]
            if key in known_keys or key.startswith("_deprecated"):
                continue

            record = Record("pmlb", key, key, pmlb_url(key), licence=["MIT (PMLB repository)"])
            record.put("dataset_name", key, f"{file_name} dataset")
            record.put("task", [row["task"]], f"{file_name} task")
            record.put("instances_number", int(float(row["n_instances"])), f"{file_name} n_instances")
            record.put("features_number", int(float(row["n_features"])), f"{file_name} n_features")
            record.put("is_public", True, "github.com/EpistasisLab/pmlb")
            record.put("is_split", False, "PMLB ships one undivided table")
            yield record


def pmlb_url(key: str) -> str:
    """Return the address of a PMLB table."""
    return f"https://github.com/EpistasisLab/pmlb/tree/master/datasets/{key}"
