"""The identity of a dataset for a report, from its present record or from the content that a choice has stored."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from touchstone.services.selection.datasets.dataset_record import DatasetRecord
from touchstone.services.selection.datasets.label_words import licence_words
from touchstone.services.selection.projects.choice_store import ChosenDataset
from touchstone.services.selection.report.fact_types import ReportedDataset


def present_dataset(record: DatasetRecord) -> ReportedDataset:
    """Return the identity of a dataset according to its present record."""
    return _reported_dataset(
        record.id, record.dataset_id, str(record.attributes["dataset_name"]), record.attributes, record.metadata or {}
    )


def chosen_dataset(dataset: ChosenDataset) -> ReportedDataset:
    """Return the identity of a dataset at the time of the choice, which is incomplete if its content was not stored."""
    content = dataset.content
    if content is None:
        return unknown_dataset(dataset.id, dataset.name)
    return _reported_dataset(
        dataset.id, content.dataset_id, dataset.name, content.record, content.record.get("metadata") or {}
    )


def unknown_dataset(dataset_id: int, name: str) -> ReportedDataset:
    """Return the identity of a dataset of which only the number and the name are known."""
    return ReportedDataset(
        id=dataset_id,
        dataset_id=None,
        name=name,
        objective=None,
        licences=(),
        source_name=None,
        source_url=None,
        data_sha256=None,
    )


def _reported_dataset(
    dataset_id: int, uuid: UUID, name: str, attributes: Mapping[str, Any], metadata: Mapping[str, Any]
) -> ReportedDataset:
    """Return the identity of a dataset from the attributes and the metadata of its record."""
    source = _object_member(metadata, "source")
    measurement = _object_member(metadata, "measured")
    # A large member of a stored content is represented by an object with its own digest.
    licence = metadata.get("licence")
    is_measured = "rows" in measurement
    objective = attributes.get("objective")

    return ReportedDataset(
        id=dataset_id,
        dataset_id=uuid,
        name=name,
        objective=None if objective is None else str(objective),
        licences=() if isinstance(licence, Mapping) else licence_words(licence),
        source_name=_text_member(source, "name"),
        source_url=_text_member(source, "url"),
        data_sha256=_text_member(measurement, "sha256") if is_measured else None,
    )


def _object_member(metadata: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member of the free-form metadata that should be an object, or an empty one."""
    member = metadata.get(name)
    return member if isinstance(member, Mapping) else {}


def _text_member(json_object: Mapping[str, Any], name: str) -> str | None:
    """Return a member that should be a text, or None."""
    member = json_object.get(name)
    return member if isinstance(member, str) else None
