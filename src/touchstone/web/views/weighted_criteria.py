"""The weighted criteria, for the sliders, the bar of shares and the columns of the heat map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.web.localizer import Localizer
from touchstone.web.rank_state import RankState

CRITERIA_WIDTH: Final = 50  # the width of all criterion columns in percent of the heat map
# The smallest shares of the score with columns wide enough for horizontal numbers and for a percentage.
_HORIZONTAL_NUMBER_MIN_SHARE: Final = 0.08
_PERCENTAGE_MIN_SHARE: Final = 0.05
# The CSS classes of a heat map, with the upper limit of the share of its narrowest column. The style sheet slants the
# labels of narrow columns, and makes the heat map wider on phones. No share in a common profile is equal to a limit,
# because a slider that crosses a limit makes the server send the whole ranking.
_NARROW_COLUMN_CLASSES: Final = {
    "under-6": 0.06,
    "under-9": 0.09,
    "under-14": 0.14,
    "under-17": 0.17,
    "under-19": 0.19,
    "under-23": 0.23,
    "under-29": 0.29,
}
_MAX_SHORT_LABEL_LENGTH: Final = 10  # if no label is longer, the header of the heat map is low


@dataclass(frozen=True, slots=True)
class WeightedCriterion:
    """A criterion with its weight.

    Attributes:
        name: the name in the API.
        label: the name for readers.
        formula: a description of how the value of a dataset is computed.
        kind: `composite` or `attribute`.
        position: the position of the slider in 0-100.
        share: the share of the score in 0-1.
        preceding_share: the sum of the shares of the criteria before this one.
        number: the index among all criteria, which determines the colour.
        share_text: the share as a percentage.
        precise_share_text: the share as a percentage with one decimal.
        position_text: the slider position and the share of the score in words, for screen readers.
    """

    name: str
    label: str
    formula: str
    kind: str
    position: float
    share: float
    preceding_share: float
    number: int
    share_text: str
    precise_share_text: str
    position_text: str

    @property
    def x(self) -> str:
        """The SVG attribute `x` of the segment in the bar of all shares."""
        return css_percentage(self.preceding_share)

    @property
    def width(self) -> str:
        """The SVG attribute `width` of the segment in the bar of all shares."""
        return css_percentage(self.share)

    @property
    def title(self) -> str:
        """The tooltip of the segment."""
        return f"{self.label} {self.precise_share_text}"

    @property
    def has_vertical_numbers(self) -> bool:
        """Whether the column of the heat map is too narrow for horizontal numbers."""
        return self.share < _HORIZONTAL_NUMBER_MIN_SHARE

    @property
    def hides_percentage(self) -> bool:
        """Whether the column of the heat map is too narrow for its percentage."""
        return self.share < _PERCENTAGE_MIN_SHARE


def weighted_criteria(
    description: Mapping[str, Any], state: RankState, localizer: Localizer
) -> tuple[WeightedCriterion, ...]:
    """Return all criteria with the weights of the reader, in the order of the API.

    Criteria without a weight are included, because the page shows a slider for every criterion.

    Args:
        description: the criteria as the API describes them, with their labels in both languages.
        state: the state of the rank page, which holds the weights.
        localizer: the reader's language.
    """
    shares = state.shares
    preceding_share = 0.0
    criteria = []

    for number, entry in enumerate(description["criteria"]):
        name = entry["name"]
        position = state.slider_positions.get(name, 0.0)
        share = shares.get(name, 0.0)
        share_text = localizer.percent(share)

        criterion = WeightedCriterion(
            name=name,
            label=localized_label(entry, "label", localizer.locale),
            formula=localized_label(entry, "formula", localizer.locale),
            kind=entry["kind"],
            position=position,
            share=share,
            preceding_share=preceding_share,
            number=number,
            share_text=share_text,
            precise_share_text=localizer.percent(share, digits=1),
            position_text=_describe_position(position, share_text, localizer),
        )
        criteria.append(criterion)
        preceding_share += share

    return tuple(criteria)


def _describe_position(position: float, share_text: str, localizer: Localizer) -> str:
    """Describe the position of a slider for screen readers, such as "40, 33% of the score"."""
    share_of_score = localizer.text("share_of_score", share=share_text)
    return f"{localizer.number(position)}, {share_of_score}"


def localized_label(description: Mapping[str, Any], key: str, locale: str) -> str:
    """Return the label or the formula of a criterion or a profile in one language.

    The API describes them in both languages, either as `"label": {"fr": …, "en": …}` or as `"label_fr": …, "label_en":
    …`. Without either, the label is the name.

    Args:
        description: the description of the criterion or the profile by the API.
        key: the text to return: `label` or `formula`.
        locale: the language, `fr` or `en`.
    """
    text = description.get(key)
    if isinstance(text, Mapping):
        return str(text[locale])

    default = text or description["name"]
    return str(description.get(f"{key}_{locale}", default))


def criterion_labels(description: Mapping[str, Any], locale: str) -> Mapping[str, str]:
    """Return the label of each criterion by name, from the description of the criteria by the API."""
    return {criterion["name"]: localized_label(criterion, "label", locale) for criterion in description["criteria"]}


def criteria_with_weight(criteria: Sequence[WeightedCriterion]) -> tuple[WeightedCriterion, ...]:
    """Return the criteria with a weight above zero."""
    return tuple(criterion for criterion in criteria if criterion.share > 0)


def describe_shares(used_criteria: Sequence[WeightedCriterion], localizer: Localizer) -> str:
    """Describe the shares of all criteria for screen readers."""
    if not used_criteria:
        return localizer.text("weights_none")

    shares = ", ".join(f"{criterion.label} {criterion.share_text}" for criterion in used_criteria)
    return f"{localizer.text('shares_label')} {shares}"


def heat_map_classes(used_criteria: Sequence[WeightedCriterion]) -> str:
    """Return the CSS classes of the heat map for the widths and the labels of its columns.

    A class such as `under-17` means that the narrowest column has less than 17 % of the score. The class `short-labels`
    means that all labels are short. The style sheet uses them to decide whether to slant the labels.
    """
    css_classes = []

    narrowest_share = min((criterion.share for criterion in used_criteria), default=1.0)
    width_class = _narrow_column_class(narrowest_share)
    if width_class is not None:
        css_classes.append(width_class)

    if all(len(criterion.label) <= _MAX_SHORT_LABEL_LENGTH for criterion in used_criteria):
        css_classes.append("short-labels")
    return " ".join(css_classes)


def _narrow_column_class(share: float) -> str | None:
    """Return the CSS class with the smallest limit above the share, or None if there is none."""
    for css_class, limit in _NARROW_COLUMN_CLASSES.items():
        if share < limit:
            return css_class
    return None


def css_percentage(share: float) -> str:
    """Format a share in 0-1 as a percentage for SVG and CSS."""
    return f"{100 * share:.3f}%"
