"""What a model is to be used for, according to its card, and who says so."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.learning.localized_text import LocalizedText, join_texts, localize
from touchstone.learning.task_interface import Json
from touchstone.messages.model_card import MODEL_CARD
from touchstone.messages.pages_evidence import EVIDENCE_PAGES


@dataclass(frozen=True, slots=True)
class CardSources:
    """What a model card says that follows neither from the table nor from the training.

    Attributes:
        dataset: what the catalog says about the dataset.
        project: the name and the description of the project that needs the model; empty without one.
        stated_use: what the model is to be used for, as whoever started the training has stated it.
    """

    dataset: Mapping[str, Any] = field(default_factory=dict)
    project: Mapping[str, Any] = field(default_factory=dict)
    stated_use: str | None = None


def describe_intended_use(result: Json, record: Json, sources: CardSources) -> LocalizedText:
    """Return the paragraph of a model card about what the model may be used for.

    It first quotes what people have stated, each time with the source. Then come sentences that are derived from the
    training, for example that the model is only meant for rows like those of its dataset.
    """
    stated = list(_stated_uses(sources))
    if not stated:
        stated = [localize(MODEL_CARD["use_not_stated"])]

    name = sources.dataset.get("name")
    origin = localize(MODEL_CARD["named_dataset"], name=name) if name else localize(MODEL_CARD["unnamed_dataset"])
    derived = [
        localize(MODEL_CARD["intended_use_rows"], target=record["target"], dataset=origin),
        localize(MODEL_CARD["intended_use_limits"]),
    ]
    if result["group_metrics"]:
        derived.append(localize(MODEL_CARD["intended_use_people"]))
    return join_texts([*stated, *derived])


def _stated_uses(sources: CardSources) -> Iterator[LocalizedText]:
    """Yield a sentence for each statement of what the model, or the data that it learned from, are for."""
    if sources.stated_use:
        yield localize(MODEL_CARD["use_of_request"], use=_one_line(sources.stated_use))

    need = sources.project.get("description")
    if need:
        yield localize(MODEL_CARD["use_of_project"], name=sources.project["name"], need=_one_line(need))

    for purpose in sources.dataset.get("purposes") or ():
        level = localize(EVIDENCE_PAGES[f"level_{purpose['level']}"])
        yield localize(MODEL_CARD["use_of_dataset"], quote=_one_line(purpose["quote"]), level=level)


def _one_line(text: str) -> str:
    """Return a text as it is quoted within a sentence: without line breaks and without a full stop at its end."""
    return " ".join(text.split()).rstrip(".")
