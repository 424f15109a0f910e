"""The intended use of a model, as described in its card, with the sources of each statement."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from touchstone.learning.localized_text import LocalizedText, join_texts, localize
from touchstone.learning.task_interface import Json
from touchstone.messages.model_card import MODEL_CARD
from touchstone.messages.pages_evidence import EVIDENCE_PAGES


@dataclass(frozen=True, slots=True)
class CardSources:
    """The information in a model card that comes neither from the table nor from the training.

    Attributes:
        dataset: the catalog record of the dataset.
        project: the name and the description of the project that needs the model, or empty without a project.
        stated_use: the intended use stated by the user who started the training.
    """

    dataset: Mapping[str, Any] = field(default_factory=dict)
    project: Mapping[str, Any] = field(default_factory=dict)
    stated_use: str | None = None


def describe_intended_use(result: Json, record: Json, sources: CardSources) -> LocalizedText:
    """Return the paragraph of a model card about the intended use.

    It begins with the stated uses, which are quoted with their sources. Conclusions from the training follow: the model
    is only meant for rows like the rows of its dataset, and its quality is not known for others. Group metrics show
    that the rows are about people, and no decision about a person should rest on the model alone.

    Args:
        result: the result of the training.
        record: the record stored in the model file.
        sources: information from the catalog and the users.
    """
    stated_uses = list(_quote_stated_uses(sources))
    if not stated_uses:
        stated_uses = [localize(MODEL_CARD["use_not_stated"])]

    name = sources.dataset.get("name")
    origin = localize(MODEL_CARD["named_dataset"], name=name) if name else localize(MODEL_CARD["unnamed_dataset"])
    conclusions = [
        localize(MODEL_CARD["intended_use_rows"], target=record["target"], dataset=origin),
        localize(MODEL_CARD["intended_use_limits"]),
    ]
    if result["group_metrics"]:
        conclusions.append(localize(MODEL_CARD["intended_use_people"]))
    return join_texts([*stated_uses, *conclusions])


def _quote_stated_uses(sources: CardSources) -> Iterator[LocalizedText]:
    """Yield a sentence for each statement about the purpose of the model or of its training data."""
    if sources.stated_use:
        yield localize(MODEL_CARD["use_of_request"], use=_one_line(sources.stated_use))

    need = sources.project.get("description")
    if need:
        yield localize(MODEL_CARD["use_of_project"], name=sources.project["name"], need=_one_line(need))

    for purpose in sources.dataset.get("purposes") or ():
        level = localize(EVIDENCE_PAGES[f"level_{purpose['level']}"])
        yield localize(MODEL_CARD["use_of_dataset"], quote=_one_line(purpose["quote"]), level=level)


def _one_line(text: str) -> str:
    """Return a text in a form that can be quoted in a sentence, without line breaks and a final full stop."""
    return " ".join(text.split()).rstrip(".")
