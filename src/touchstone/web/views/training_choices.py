"""What the training form offers to choose from, and with what it is filled in: as the request itself is defined."""

from dataclasses import dataclass
from typing import Final

from touchstone.learning.choices import Duplicates, Strategy
from touchstone.learning.requests import TrainingRequest


@dataclass(frozen=True, slots=True)
class TrainingChoices:
    """The values of each select field of the training form, in their order.

    Attributes:
        strategies: How rows are set aside for the evaluation.
        duplicates: What becomes of identical rows.
    """

    strategies: tuple[str, ...]
    duplicates: tuple[str, ...]


CHOICES: Final = TrainingChoices(
    strategies=tuple(Strategy),
    duplicates=tuple(Duplicates),
)
DEFAULTS: Final = TrainingRequest(dataset_id=1, target="target")
