"""The GREEN sources of the demo catalog: each reader yields records, every value with the field it came from."""

import csv
import json
import re
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from demo_text import key_of

from touchstone.core.attributes import BY_NAME, ETHICAL

NO_LICENCE = {"none", "unknown", "unspecified", "notspecified", "not found", "no license", ""}
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "demo.touchstone")
# Samples of a format rather than datasets, and placeholders.
NOT_DATASETS = re.compile(
    r"audio_test|image_test|simple-|json-join|recipes|_template|levanti|rag-dataset|-mini/|eval-lite"
)
EXAMPLES_ONLY = re.compile(r"geo-location|geopoint|geo-lat|office|text-file|simple-geojson|donation|example")


@dataclass
class Record:
    """A dataset as one source describes it: values and the field that is the evidence of each."""

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
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def dataset_id(self) -> str:
        """The same source and key have the same UUID for ever."""
        return str(uuid.uuid5(NAMESPACE, f"{self.source}/{self.key}"))

    def put(self, name: str, value: Any, evidence: str) -> None:
        """Set a value with its evidence; no value removes both."""
        assert name in BY_NAME
        if value is None or value in ("", []):
            self.values.pop(name, None)
            self.evidence.pop(name, None)
        else:
            self.values[name], self.evidence[name] = value, evidence


def green_records(folder: Path) -> Iterator[Record]:
    """Every record of every GREEN source.

    The OpenML replies are left out: they are test fixtures whose counts were cut (ten instances of adult-census).
    """
    metadata = folder / "metadata"
    yield from seed(folder)
    yield from tensorflow_datasets(metadata / "tfds")
    yield from vega(metadata / "datapackage" / "vega-datasets" / "datapackage.json")
    yield from data_packages(metadata / "datapackage")
    yield from pmlb(metadata / "pmlb", known=seed_keys(folder, "pmlb"))
    yield from provenance_initiative(metadata / "dpi", known=seed_keys(folder, "dpi"))


def seed_lines(folder: Path) -> Iterator[dict[str, Any]]:
    """The records already derived, without the two sources whose lists carry no licence."""
    with (folder / "seed" / "seed_core.jsonl").open(encoding="utf-8") as lines:
        yield from (row for row in map(json.loads, lines) if row["source"] not in ("uci", "rdatasets"))


def seed_keys(folder: Path, source: str) -> set[str]:
    """The keys that the seed already has of a source."""
    return {row["source_key"] for row in seed_lines(folder) if row["source"] == source}


def seed(folder: Path) -> Iterator[Record]:
    """The seed's records, with addresses, languages and files looked up in the documents themselves."""
    facts = fairground_facts(folder) | philadelphia_facts(folder) | dpi_addresses(folder)
    for row in seed_lines(folder):
        if NOT_DATASETS.search(row["source_key"]):
            continue
        record = Record(row["source"], row["source_key"], tidy_name(row["dataset_name"]), licence=row["licence"] or [])
        for name in BY_NAME:
            if name != "dataset_name":
                record.put(name, row[name], row["evidence"].get(name, ""))
        record.put("dataset_name", record.name, row["evidence"]["dataset_name"])
        forget_doubtful(record)
        complete(record, facts.get((record.source, record.key), {}), folder)
        yield record


def tidy_name(name: str) -> str:
    """One line of at most 200 characters, with the identifier in square brackets only if it adds something."""
    name = " ".join(name.split())[:200]
    bare, _, identifier = name.removesuffix("]").rpartition(" [")
    if not bare or not name.endswith("]"):
        return name
    return bare if key_of(bare) == key_of(identifier) else f"{bare} ({identifier})"


def forget_doubtful(record: Record) -> None:
    """Unknown must never read as no: an empty section of a card is unknown, unless a sentence states the absence.

    Topics that a model guessed from the texts are no facts either.
    """
    for name in (*ETHICAL, "external_documentation_available", "metadata_provided_with_dataset"):
        if record.values.get(name) is False and not record.evidence[name].startswith("A: "):
            record.put(name, None, "")
    if record.source == "dpi" and record.key.startswith("data_summaries/"):
        record.put("domain", None, "")


def complete(record: Record, facts: dict[str, Any], folder: Path) -> None:
    """Address, tags and file of a seed record."""
    record.url = facts.get("url", "")
    record.file_path, record.file_type = facts.get("file", ("", ""))
    if record.source == "hf_cards":
        record.url = f"https://huggingface.co/datasets/{record.key}"
        record.tags = card_languages(folder / "metadata" / "hf_cards" / record.key / "README.md")
        record.aliases = [record.key]
    elif record.source == "pmlb":
        record.url = f"https://github.com/EpistasisLab/pmlb/tree/master/datasets/{record.key}"
        record.licence = ["MIT (PMLB repository)"]
    elif record.source == "fairground":
        # Only true NaN was counted there: none found does not say that none is missing.
        if record.values.get("missing_values_percentage") == 0:
            record.put("missing_values_percentage", None, "")
            record.put("has_missing_values", None, "")
    elif record.source == "dpi":
        record.aliases = facts.get("aliases", [])


def card_languages(card: Path) -> list[str]:
    """`language:xx` for each language in the card's YAML head."""
    match = re.match(r"---\n(.*?)\n---", card.read_text(encoding="utf-8"), re.DOTALL) if card.exists() else None
    try:
        head = yaml.safe_load(match.group(1)) if match else {}
    except yaml.YAMLError:
        return []
    found = head.get("language", head.get("languages", []))
    found = [item for part in found.values() for item in part] if isinstance(found, dict) else found
    return [f"language:{item}" for item in ([found] if isinstance(found, str) else found or [])][:20]


def fairground_facts(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Addresses of the FairGround datasets."""
    with (folder / "metadata" / "fairground" / "annotations.csv").open(encoding="utf-8", newline="") as file:
        return {("fairground", r["ann_new_dataset_id"]): {"url": r["ann_main_url"]} for r in csv.DictReader(file)}


def philadelphia_facts(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Landing pages and CSV downloads of the city's catalog."""
    catalog = json.loads((folder / "metadata" / "dcat_us" / "philadelphia_data.json").read_text(encoding="utf-8"))
    facts = {}
    for entry in catalog["dataset"] if isinstance(catalog, dict) else catalog:
        files = [
            d["downloadURL"] for d in entry.get("distribution", []) if d.get("format") == "CSV" and d.get("downloadURL")
        ]
        facts["dcat_us_philly", entry["identifier"]] = {
            "url": entry.get("landingPage") or "",
            "file": (files[0], "csv") if files else ("", ""),
        }
    return facts


def dpi_addresses(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Addresses of the Data Provenance Initiative's datasets."""
    return {
        ("dpi", key): {"url": dpi_url(entry), "aliases": dpi_aliases(entry)}
        for key, entry in dpi_entries(folder / "metadata" / "dpi")
    }


def dpi_entries(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every summary as (`part/identifier`, its fields)."""
    for part in ("data_summaries", "data_summaries-speech", "data_summaries-video"):
        for path in sorted((folder / part).glob("*.json")):
            content = json.loads(path.read_text(encoding="utf-8"))
            entries = {path.stem: content} if "Unique Dataset Identifier" in content else content
            yield from ((f"{part}/{key}", entry) for key, entry in entries.items() if not path.stem.startswith("_"))


def dpi_url(entry: dict[str, Any]) -> str:
    """The first address that the summary gives."""
    for name in ("Dataset URL", "Hugging Face URL", "Website URL", "GitHub URL", "Paper URL"):
        found = entry.get(name)
        found = found[0] if isinstance(found, list) and found else found
        if isinstance(found, str) and found.startswith("http"):
            return found
    return ""


def dpi_aliases(entry: dict[str, Any]) -> list[str]:
    """The last part of the dataset's address on the Hugging Face hub."""
    return [str(entry.get("Hugging Face URL") or "").rstrip("/").rsplit("/", 1)[-1]]


def provenance_initiative(folder: Path, *, known: set[str]) -> Iterator[Record]:
    """Summaries that the seed left out, where one address stands for one dataset (not for one language of it)."""
    entries = list(dpi_entries(folder))
    uses = Counter(dpi_url(entry).split("/viewer")[0].rstrip("/").lower() for _, entry in entries)
    for key, entry in entries:
        url = dpi_url(entry)
        if key not in known and url and uses[url.rstrip("/").lower()] == 1:
            yield dpi_record(key, entry, url)


def dpi_record(key: str, entry: dict[str, Any], url: str) -> Record:
    """One summary as a record."""
    licences = [item["License"] for item in entry.get("Licenses", [])]
    record = Record("dpi", key, tidy_name(entry["Dataset Name"]), url, licence=licences, aliases=dpi_aliases(entry))
    inferred = entry.get("Inferred Metadata", {})
    dates = [(name, str(inferred.get(name) or "")) for name in ("S2 Date", "HF Date", "Github Date")]
    year = next(((date[:4], f"Inferred Metadata {name}") for name, date in dates if date[:4].isdigit()), None)
    citations = next((v for k, v in inferred.items() if k.startswith("S2 Citation Count") and isinstance(v, int)), None)
    creators, sources = entry.get("Creators") or [], entry.get("Text Sources") or []
    record.put("dataset_name", record.name, "Dataset Name")
    record.put("objective", entry.get("Paper Title"), "Paper Title")
    record.put("task", [t for t in entry.get("Task Categories", []) if isinstance(t, str)][:10], "Task Categories")
    record.put("year", int(year[0]) if year else None, year[1] if year else "")
    record.put(
        "instances_number", (entry.get("Text Metrics") or {}).get("Num Dialogs") or None, "Text Metrics Num Dialogs"
    )
    record.put("citations", citations, "Inferred Metadata S2 Citation Count")
    record.put("is_public", True, "Dataset URL")
    record.put("metadata_provided_with_dataset", True, "provenance summary")
    if creators:
        record.put("accountability_defined", True, f"C: Creators: {creators[:3]}")
    if creators and sources and licences:
        record.put("transparency", True, "B: Text Sources, Licenses and Creators filled in")
    record.tags = [f"language:{name}" for name in entry.get("Languages", [])][:20]
    return record


def tensorflow_datasets(folder: Path) -> Iterator[Record]:
    """TensorFlow Datasets: README, TAGS and CITATIONS of each dataset."""
    for path in sorted(folder.iterdir()):
        tags = lines_of(path / "TAGS.txt")
        readme = "\n".join(lines_of(path / "README.md"))
        bibtex = "\n".join(lines_of(path / "CITATIONS.bib"))
        record = Record("tfds", path.name, path.name, f"https://www.tensorflow.org/datasets/catalog/{path.name}")
        record.aliases = [path.name.removesuffix("_dataset")]
        year = re.search(r"\byear\s*=\s*[{\"]?\s*(\d{4})", bibtex, re.IGNORECASE)
        record.put("dataset_name", record.name, "name of the dataset's folder")
        record.put("objective", readme, "README.md")
        record.put("task", named(tags, "ml.task."), "TAGS.txt ml.task")
        record.put("domain", named(tags, "content.subject."), "TAGS.txt content.subject")
        record.put("year", int(year.group(1)) if year else None, "CITATIONS.bib year")
        record.put("metadata_provided_with_dataset", True, "README.md, TAGS.txt")
        record.put("external_documentation_available", True if bibtex.strip() else None, "CITATIONS.bib")
        record.tags = sorted(
            named(tags, "content.data-type.") + [f"language:{x}" for x in named(tags, "content.language.")]
        )
        yield record


def lines_of(path: Path) -> list[str]:
    """The lines of a file, none when it is missing."""
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def named(tags: list[str], prefix: str) -> list[str]:
    """The last words of the tags below a prefix."""
    return [tag.split()[0].removeprefix(prefix).replace("-", " ") for tag in tags if tag.startswith(prefix)]


def vega(path: Path) -> Iterator[Record]:
    """The tables of the vega-datasets package."""
    package = json.loads(path.read_text(encoding="utf-8"))
    for resource in package["resources"]:
        fields = resource.get("schema", {}).get("fields", [])
        if not fields or resource["name"] in ("flights_2k", "flights_5k"):
            continue
        url = f"https://github.com/vega/vega-datasets/blob/v{package['version']}/data/{resource['path']}"
        record = Record("vega", resource["path"], resource["name"].replace("_", " "), url)
        record.licence = [item["name"] for item in resource.get("licenses", [])]
        fill_resource(record, resource, fields)
        yield record


def fill_resource(record: Record, resource: dict[str, Any], fields: list[dict[str, Any]]) -> None:
    """What a tabular resource of a Data Package states."""
    dates = [f["name"] for f in fields if f.get("type") in ("date", "datetime", "time", "year", "yearmonth")]
    record.put("dataset_name", record.name, "resource name")
    record.put("objective", resource.get("description"), "resource description")
    record.put("features_number", len(fields), "schema.fields (no target is named)")
    record.put("has_temporal_factors", bool(dates), f"schema field {dates[0]}" if dates else "no field of a date type")
    record.put("is_public", True, "resource path")
    record.put("metadata_provided_with_dataset", True, "datapackage.json schema")
    if sources := [s["path"] for s in resource.get("sources", []) if s.get("path")]:
        record.put("external_documentation_available", True, f"sources: {sources[0]}")


def data_packages(folder: Path) -> Iterator[Record]:
    """The other Data Packages that hold data rather than an example of the format."""
    for path in sorted(folder.glob("*/datapackage.json")):
        package = json.loads(path.read_text(encoding="utf-8"))
        schema = package["resources"][0].get("schema", {})
        if (
            EXAMPLES_ONLY.search(path.parent.name)
            or path.parent.name == "vega-datasets"
            or not isinstance(schema, dict)
        ):
            continue
        name = re.sub(r"\s*\(Example\)", "", package.get("title", package["name"]))
        record = Record("datapackage", path.parent.name, name, package.get("homepage", ""))
        record.licence = [x.get("name") or x.get("id") or x.get("title", "") for x in package.get("licenses", [])]
        fill_resource(record, package | {"sources": package.get("sources", [])}, schema.get("fields", []))
        record.put("dataset_name", record.name, "title")
        record.put("objective", package.get("description"), "description")
        if len(package["resources"]) > 1 or not schema.get("fields"):
            record.put("features_number", None, "")
            record.put("has_temporal_factors", None, "")
        yield record


def pmlb(folder: Path, *, known: set[str]) -> Iterator[Record]:
    """PMLB tables that nobody has described yet: their counted figures only."""
    with (folder / "all_summary_stats.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            key = row["dataset"]
            if key in known or key.startswith("_deprecated"):
                continue
            url = f"https://github.com/EpistasisLab/pmlb/tree/master/datasets/{key}"
            record = Record("pmlb", key, key, url, licence=["MIT (PMLB repository)"])
            record.put("dataset_name", key, "all_summary_stats.tsv dataset")
            record.put("task", [row["task"]], "all_summary_stats.tsv task")
            record.put("instances_number", int(float(row["n_instances"])), "all_summary_stats.tsv n_instances")
            record.put("features_number", int(float(row["n_features"])), "all_summary_stats.tsv n_features")
            record.put("is_public", True, "github.com/EpistasisLab/pmlb")
            record.put("is_split", False, "PMLB ships one undivided table")
            yield record
