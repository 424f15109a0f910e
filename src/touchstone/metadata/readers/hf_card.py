"""Hugging Face dataset cards: Markdown with a YAML head, and `dataset_infos.json` in the same folder.

Sizes, splits and columns come from `dataset_infos.json` or from `dataset_info` in the head. The prose of the card is
returned as sections for the extractor.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from touchstone.core.vocabulary import fold_tasks, known_domains
from touchstone.metadata.access_restrictions import find_access_restriction
from touchstone.metadata.documents import Claim, DatasetDocument
from touchstone.metadata.exact_values import stated_key
from touchstone.metadata.licences import combine_licences
from touchstone.metadata.markdown import split_front_matter
from touchstone.metadata.parsing import DocumentError, parse_yaml
from touchstone.metadata.prose import MARKDOWN_ADDRESS, find_citation_year, plain_text
from touchstone.metadata.readers.builder import (
    LOADER_NAMES,
    MIN_INSTANCES,
    DocumentBuilder,
    list_of_strings,
    objects_of,
    parse_number,
    pointer,
)
from touchstone.metadata.readers.source_document import SourceDocument

STANDARD: Final = "hf_card"
# The record contains these fields as they are, so they are not stored a second time.
REPRESENTED_FIELDS: Final = ("pretty_name",)
INFOS_FILE: Final = "dataset_infos.json"
# Keys for the parts of a card outside the fields of its head. No JSON pointer starts with "#".
BODY: Final = "#body"
UNPARSED_HEAD: Final = "#head"
INFOS: Final = f"#{INFOS_FILE}"
# The heading of the claims in cards that this product has written.
EVIDENCE_HEADING: Final = "Evidence"
CARD_TITLE: Final = re.compile(r"^#\s+Dataset Card for\b", re.MULTILINE | re.IGNORECASE)
# Fields that only heads of dataset cards have. Others, such as `license` and `tags`, occur in any Markdown.
HEAD_FIELDS: Final = frozenset(
    {"annotations_creators", "configs", "dataset_info", "extra_gated_fields", "extra_gated_prompt", "language_creators",
     "multilinguality", "paperswithcode_id", "pretty_name", "size_categories", "source_datasets", "task_categories",
     "task_ids"}
)  # fmt: skip
TITLE_PREFIX: Final = re.compile(r"^Dataset Card for\s*", re.IGNORECASE)
HOME_LINKS: Final = ("Homepage", "Repository", "Paper")
# Matches "the files have to be downloaded manually" and "this needs a manual download".
MANUAL_DOWNLOAD: Final = re.compile(
    r"\bdownload(?:ed)? (?:\w+ ){0,3}manually\b|\bmanual(?:ly)? download", re.IGNORECASE
)
# The words of a split's name, such as `validation_matched` or `test2019`, that show that it is held out.
HELD_OUT_WORDS: Final = frozenset(
    {"dev", "development", "devtest", "eval", "evaluation", "test", "testing", "tests", "val", "valid", "validation"}
)  # fmt: skip
# The Arrow types of dates and times, without their parameters: `timestamp[s]`, `time64[us]`.
TEMPORAL_TYPES: Final = ("timestamp", "date32", "date64", "time32", "time64")


class Configuration(NamedTuple):
    """A configuration of a dataset, such as one of its languages.

    Attributes:
        info: its members, such as `splits` and `features`.
        location: where the card or its companion contains them.
    """

    info: Mapping[str, Any]
    location: str


@dataclass(frozen=True)
class DatasetCard:
    """A dataset card whose head has been parsed.

    Attributes:
        source: the card, with `dataset_infos.json` as a companion.
        head: the fields of its YAML head, or an empty mapping if it has no readable head.
    """

    source: SourceDocument
    head: Mapping[str, Any]

    @cached_property
    def configurations(self) -> dict[str, Configuration]:
        """The configurations by their names."""
        configurations: dict[str, Configuration] = {}

        # The head contains a list of configurations, or a single one without a list.
        infos_in_head = self.head.get("dataset_info")
        if isinstance(infos_in_head, Mapping):
            infos_in_head = [infos_in_head]
        if isinstance(infos_in_head, list):
            for index, info in enumerate(infos_in_head):
                if isinstance(info, dict):
                    name = str(info.get("config_name", "default"))
                    configurations[name] = Configuration(info, pointer("dataset_info", index))
            return configurations

        companion, _rejected = self.source.readable_companion(INFOS_FILE)
        if companion is not None:
            for name, info in companion.members.items():
                if isinstance(info, dict):
                    configurations[name] = Configuration(info, INFOS_FILE + pointer(name))
        return configurations

    def info_values(self, name: str) -> list[Any]:
        """Return the non-empty values of one member in all configurations."""
        values = [configuration.info.get(name) for configuration in self.configurations.values()]
        return [value for value in values if value]

    def section_text(self, heading: str) -> str | None:
        """Return the text under the first heading with this name, or None."""
        for section in self.source.markdown.sections:
            if section.path and section.path[-1].casefold() == heading.casefold():
                return section.text
        return None


def detect(source: SourceDocument) -> bool:
    """Return whether a document is Markdown with the usual fields or title of a dataset card."""
    if not source.may_be_markdown:
        return False

    front_matter = split_front_matter(source.text)[0] or ""
    has_fields = any(line.split(":")[0].strip() in HEAD_FIELDS for line in front_matter.splitlines())
    return has_fields or CARD_TITLE.search(source.text) is not None or describes_loader(source)


def describes_loader(source: SourceDocument) -> bool:
    """Return whether a card describes a file loader, such as `csv`, instead of a dataset."""
    return source.path.name.lower() == "readme.md" and source.folder in LOADER_NAMES


def read(source: SourceDocument) -> Iterator[DatasetDocument]:
    """Yield the single dataset that a card describes.

    Raises:
        DocumentError: the card describes a file loader instead of a dataset, or does not name the dataset.
    """
    if describes_loader(source):
        raise DocumentError("loader_name", name=source.folder)

    builder = DocumentBuilder(STANDARD, key=source.folder)
    builder.sections.extend(source.markdown.sections)
    builder.rejected.extend(source.markdown.rejected)
    card = DatasetCard(source, read_head(builder, source.markdown.front_matter))

    add_names(builder, card)
    add_licence_and_access(builder, card)
    add_tasks(builder, card.head)
    add_sizes(builder, card)
    add_documentation(builder, card)
    add_year(builder, card)

    # An export repeats all other fields unchanged.
    builder.keep_unmapped(card.head, REPRESENTED_FIELDS)
    builder.unmapped[BODY] = source.markdown.body
    yield builder.build()


def read_head(builder: DocumentBuilder, front_matter: str | None) -> dict[str, Any]:
    """Return the fields of the YAML head. A head that cannot be parsed is rejected, and has no fields."""
    if front_matter is None:
        return {}

    try:
        parsed = parse_yaml(front_matter)
    except DocumentError as error:
        builder.reject("YAML head", error.code, **error.facts)
        builder.unmapped[UNPARSED_HEAD] = front_matter
        return {}

    builder.rejected.extend(parsed.rejected)
    return parsed.data if isinstance(parsed.data, dict) else {}


def add_names(builder: DocumentBuilder, card: DatasetCard) -> None:
    """Add name, key, description, languages and tags."""
    source, head = card.source, card.head
    title = TITLE_PREFIX.sub("", source.markdown.title or "")
    # The template has the title "Dataset Card for [Dataset Name]". Some cards begin with another of its headings.
    is_template_title = title.startswith("[") or title in HOME_LINKS
    stated_title = None if is_template_title else title
    builder.set_name(head.get("pretty_name"), stated_title, source.folder)

    if not builder.key:
        key = head.get("paperswithcode_id") or builder.record.get("dataset_name") or stated_key(head)
        builder.key = str(key or "")
    if not builder.key:
        raise DocumentError("no_identifier")

    builder.set_description(card.section_text("Dataset Summary"))
    if "description" not in builder.record:
        builder.set_description(next(iter(card.info_values("description")), None))

    builder.set_metadata("language", list_of_strings(head.get("language") or head.get("languages")))
    builder.set_metadata("tags", list_of_strings(head.get("tags")))
    if source.folder:
        builder.set_metadata("url", f"https://huggingface.co/datasets/{source.folder}")


def add_licence_and_access(builder: DocumentBuilder, card: DatasetCard) -> None:
    """Add the licence, and whether the data are public.

    Access conditions decide this, then an open licence, then a download address.
    """
    licence_names = list_of_strings(card.head.get("license"))
    details = licence_details(card.head)
    if details:
        # "other" only announces the details.
        builder.set_licence([*(name for name in licence_names if name != "other"), *details])
        named_licence = combine_licences(licence_names)
    else:
        named_licence = builder.set_licence(licence_names)

    consent_claim = claim_about_consent(card.head)
    if consent_claim is not None:
        builder.add_claim(consent_claim)
        return

    restriction = find_access_restriction(card.source.text, builder.names)
    if restriction is not None:
        builder.add_claim(Claim("is_public", False, restriction, note="a condition for access is stated"))
    elif MANUAL_DOWNLOAD.search(card.source.text):
        builder.reject("is_public", "access_unclear", reason="the files have to be downloaded by hand")
    elif named_licence is not None and named_licence.is_open:
        note = "an open licence, and no condition for access"
        builder.add_field_claim("is_public", True, licence_names[0], "license", note=note)
    elif address := download_address(card):
        note = "a public download address, and no condition for access"
        builder.add_claim(Claim("is_public", True, address, INFOS_FILE, field="download_checksums", note=note))


def licence_details(head: Mapping[str, Any]) -> list[str]:
    """Return what a head says about a licence that the hub does not list: details, its name, or its address."""
    details = list_of_strings(head.get("license_details"))
    if details or "other" not in list_of_strings(head.get("license")):
        return details

    # A link may also be the name of a file in the repository, which says less than "other".
    addresses = [link for link in list_of_strings(head.get("license_link")) if "://" in link]
    return list_of_strings(head.get("license_name")) or addresses


def claim_about_consent(head: Mapping[str, Any]) -> Claim | None:
    """Return the claim that the data are not public if the hub asks for consent before the download, or None."""
    for name in ("extra_gated_prompt", "gated", "extra_gated_fields"):
        value = head.get(name)
        if value:
            quote = value.strip().splitlines()[0] if isinstance(value, str) else name
            note = "the hub asks for consent"
            return Claim("is_public", False, quote, pointer(name), field=name, note=note)
    return None


def download_address(card: DatasetCard) -> str | None:
    """Return the first download address of the files, or None. The addresses are the keys of their checksums."""
    for checksums in card.info_values("download_checksums"):
        if not isinstance(checksums, Mapping):
            continue
        for address in checksums:
            if str(address).startswith(("http://", "https://", "ftp://")):
                return str(address)
    return None


def add_tasks(builder: DocumentBuilder, head: Mapping[str, Any]) -> None:
    """Add the tasks from their categories and identifiers, and the domains from the tags."""
    tasks = [*list_of_strings(head.get("task_categories")), *list_of_strings(head.get("task_ids"))]
    builder.set_terms("task", fold_tasks(tasks))
    builder.set_terms("domain", known_domains(list_of_strings(head.get("tags"))))


# Sizes, splits and columns


def add_sizes(builder: DocumentBuilder, card: DatasetCard) -> None:
    """Add rows, splits and columns from the largest configuration.

    Configurations often contain one another, so their sum would count rows several times.
    """
    companion, rejected = card.source.readable_companion(INFOS_FILE)
    builder.rejected.extend(rejected)
    if companion is not None and companion.data is not None:
        builder.unmapped[INFOS] = companion.data

    configurations = card.configurations
    if not configurations:
        return

    row_counts = {name: sum(split_sizes(info).values()) for name, (info, _location) in configurations.items()}
    largest_name = max(row_counts, key=row_counts.__getitem__)
    info, location = configurations[largest_name]
    note = f"the largest of {len(configurations)} configurations: {largest_name}" if len(configurations) > 1 else ""
    sizes = split_sizes(info)
    unreadable_counts = [split.get("num_examples") for split in splits_of(info) if str(split.get("name")) not in sizes]
    if unreadable_counts:
        # The sum of the other splits is not the number of rows, and the only one with a size is not the only split.
        attribute = "instances_number"
        builder.reject(f"{location}/splits", "implausible_value", attribute=attribute, value=unreadable_counts[0])
    else:
        add_splits(builder, sizes, location, note)
    add_columns(builder, info, location, note)


def splits_of(info: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the splits of a configuration, which may be an object or a list, with their names as members."""
    splits = info.get("splits")
    if isinstance(splits, Mapping):
        splits = [{**split, "name": name} for name, split in splits.items() if isinstance(split, Mapping)]
    return objects_of(splits)


def split_sizes(info: Mapping[str, Any]) -> dict[str, int]:
    """Return the number of examples in each split that states a whole number of them."""
    sizes = {}
    for split in splits_of(info):
        examples = parse_number(split.get("num_examples"))
        if isinstance(examples, int):
            sizes[str(split.get("name"))] = examples
    return sizes


def add_splits(builder: DocumentBuilder, sizes: Mapping[str, int], location: str, note: str) -> None:
    """Add the number of rows, and whether some of them are held out for tests.

    Several splits do not show that rows are held out: they may be languages, or parts without an order.

    Args:
        builder: the builder of the document.
        sizes: the number of rows of each split, such as `train` and `test`.
        location: the location of the configuration.
        note: the note about the choice of the configuration, or an empty string.
    """
    total_rows = sum(sizes.values())
    if total_rows == 0:
        return

    splits_location = f"{location}/splits"
    if total_rows < MIN_INSTANCES:
        builder.reject(splits_location, "implausible_value", attribute="instances_number", value=total_rows)
        return

    # The card contains the sizes of the splits but not their sum, so the largest is quoted and the note shows the sum.
    names = list(sizes)
    quote = str(max(sizes.values()))
    notes = [note] if note else []
    if len(names) > 1:
        notes.append(" + ".join(f"{size} ({name})" for name, size in sizes.items()))
    sum_note = "; ".join(notes)
    field = "splits.num_examples"
    builder.add_claim(Claim("instances_number", total_rows, quote, splits_location, field=field, note=sum_note))

    names_with_rows = [name for name, size in sizes.items() if size > 0]
    held_out_names = [name for name in names_with_rows if is_held_out(name)]
    if len(names_with_rows) > 1 and held_out_names:
        builder.add_claim(Claim("is_split", True, held_out_names[0], splits_location, field="splits", note=note))
    elif len(names) == 1:
        builder.add_claim(Claim("is_split", False, names[0], splits_location, field="splits", note="the only split"))


def is_held_out(split_name: str) -> bool:
    """Return whether one of the words in the name of a split shows that it is for testing or validation.

    Names are divided at digits and separators, and before capitals: `test2019`, `validation_matched`, `devClean`.
    """
    name_words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", split_name)
    return not HELD_OUT_WORDS.isdisjoint(word.lower() for word in name_words)


def add_columns(builder: DocumentBuilder, info: Mapping[str, Any], location: str, note: str) -> None:
    """Add the number of columns without the target, and the first temporal column."""
    types = column_types(info.get("features"))
    if not types:
        return

    # A table needs at least one feature, so its only column cannot be the target.
    target = target_column(info) if len(types) > 1 else None
    feature_names = [name for name in types if name != target]
    target_note = f"without the target {target}" if target in types else "no target is named"
    column_note = f"{note}; {target_note}" if note else target_note

    place = f"{location}/features"
    quote = next(iter(types))
    feature_count = len(feature_names)
    builder.add_claim(Claim("features_number", feature_count, quote, place, field="features", note=column_note))
    builder.add_claim(Claim("metadata_provided_with_dataset", True, quote, place, field="features"))

    for name, column_type in types.items():
        if column_type.startswith(TEMPORAL_TYPES):
            field = f"features.{name}"
            builder.add_claim(Claim("has_temporal_factors", True, column_type, place, field=field))
            return


def column_types(features: Any) -> dict[str, str]:
    """Return the type of each column, or an empty string for nested types. The columns may be an object or a list."""
    if isinstance(features, Mapping):
        features = [{**feature, "name": name} for name, feature in features.items() if isinstance(feature, Mapping)]

    types: dict[str, str] = {}
    for feature in objects_of(features):
        data_type = feature.get("dtype")
        types[str(feature.get("name"))] = data_type if isinstance(data_type, str) else ""
    return types


def target_column(info: Mapping[str, Any]) -> str | None:
    """Return the column that is the output of a supervised task according to the configuration, or None.

    A column that is also the input, as in language modelling, is not a target.
    """
    columns_by_role = info.get("supervised_keys")
    if not isinstance(columns_by_role, Mapping):
        return None
    target = columns_by_role.get("output")
    return target if target and target != columns_by_role.get("input") else None


# Documentation and year


def add_documentation(builder: DocumentBuilder, card: DatasetCard) -> None:
    """Claim provided metadata from the description of the fields, and external documentation from a link."""
    fields_text = card.section_text("Data Fields")
    if fields_text and "metadata_provided_with_dataset" not in builder.record:
        quote = fields_text.strip().splitlines()[0].strip()
        note = "fields are described"
        builder.add_claim(Claim("metadata_provided_with_dataset", True, quote, "Data Fields", note=note))

    description = card.section_text("Dataset Description") or ""
    for line in description.splitlines():
        label = plain_text(line).split(":")[0].strip()
        address = MARKDOWN_ADDRESS.search(line)
        if label in HOME_LINKS and address is not None:
            quote = address.group(0)
            place = "Dataset Description"
            builder.add_claim(Claim("external_documentation_available", True, quote, place, note=label))
            return


def add_year(builder: DocumentBuilder, card: DatasetCard) -> None:
    """Add the year from the first citation in the card."""
    year_and_quote = find_citation_year(card.section_text("Citation Information") or "")
    if year_and_quote is not None:
        year, quote = year_and_quote
        builder.add_claim(Claim("year", year, quote, "Citation Information", note="the first citation"))
