"""The changed fields of records and projects, with their old and new values, for display."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.client import FieldChange
from touchstone.core.attributes import BY_NAME
from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import METADATA_FIELDS
from touchstone.web.rank_gates import RANGE_GATES

_EVIDENCE_PREFIX: Final = "evidence."
_CLAIMS_PREFIX: Final = "claims."
_METADATA_PREFIX: Final = "metadata."
# The message keys of the labels of fields with a prefix, by prefix.
_LABEL_KEY_BY_PREFIX: Final[Mapping[str, str]] = {
    _EVIDENCE_PREFIX: "change_evidence",
    _CLAIMS_PREFIX: "change_claims",
    _METADATA_PREFIX: "change_metadata",
}
_MAX_VALUE_LENGTH: Final = 300
# The fields, filters and gates that contain a year, which has no separator between thousands.
_YEARS: Final = frozenset({"year", "year_min", "year_max"})
# The signs in the labels of filters and gates that are bounds, by the suffix of their names.
_BOUND_SIGNS: Final = {"_min": "≥", "_max": "≤"}
# The message keys of the labels of fields that are not attributes, by field name.
_LABEL_KEY_BY_FIELD: Final[Mapping[str, str]] = {
    "description": "description",
    "file_path": "change_file_path",
    "file_type": "rank_file_type",
    "visibility": "rank_visibility",
    "name": "project_name",
    "criteria": "filters",
    "weights": "weights",
    "assurance": "assurance",
    "gates": "change_gates",
}


@dataclass(frozen=True, slots=True)
class DescribedChange:
    """A change of one field, formatted for display.

    Attributes:
        label: the label of the field.
        before: the old value.
        after: the new value.
    """

    label: str
    before: str
    after: str


class ChangeDescriber:
    """Describes changes of records and projects in the language of the reader.

    Attributes:
        localizer: the reader's language.
        criterion_labels: the labels of the criteria that can be weighted, by name.
    """

    def __init__(self, localizer: Localizer, criterion_labels: Mapping[str, str]) -> None:
        self.localizer = localizer
        self.criterion_labels = criterion_labels

    def describe(self, changes: Iterable[FieldChange]) -> tuple[DescribedChange, ...]:
        """Describe each of the changes."""
        return tuple(self._describe_change(change) for change in changes)

    def _describe_change(self, change: FieldChange) -> DescribedChange:
        """Return a change with the label of its field and its formatted values."""
        return DescribedChange(
            label=self._field_label(change.field),
            before=self._describe_value(change.field, change.before),
            after=self._describe_value(change.field, change.after),
        )

    def _describe_value(self, field: str, value: Any) -> str:
        """Format the value of a field.

        The field `evidence.NAME` has the level of evidence of an attribute, and `claims.NAME` has its claims.
        """
        if field.startswith(_EVIDENCE_PREFIX):
            return self._format_level(value)
        if field.startswith(_CLAIMS_PREFIX):
            return self._format_claims(value, field.removeprefix(_CLAIMS_PREFIX))
        return self._format_named_value(field, value)

    def _field_label(self, field: str) -> str:
        """Return the label of a field.

        The label of a field with a prefix, such as `evidence.informed_consent`, contains the label of the attribute.
        """
        for prefix, label_key in _LABEL_KEY_BY_PREFIX.items():
            if field.startswith(prefix):
                attribute = field.removeprefix(prefix)
                return self.localizer.text(label_key, name=self._label(attribute))

        if field in _LABEL_KEY_BY_FIELD:
            return self.localizer.text(_LABEL_KEY_BY_FIELD[field])
        return self._label(field)

    def _label(self, name: str) -> str:
        """Return the label of an attribute, a criterion, a filter or a gate, and any other name unchanged.

        The label of a bound such as `year_min` has a sign, as in "Year ≥".
        """
        for suffix, sign in _BOUND_SIGNS.items():
            if name.endswith(suffix):
                name_without_suffix = name.removesuffix(suffix)
                return f"{self._label(name_without_suffix)} {sign}"

        attribute = RANGE_GATES.get(name, name)
        if attribute in BY_NAME:
            return self.localizer.attribute(attribute)
        if name in self.criterion_labels:
            return self.criterion_labels[name]

        has_filter_label = name in (*METADATA_FIELDS, "trainable")
        return self.localizer.text(f"rank_{name}") if has_filter_label else name

    def _format_named_value(self, name: str, value: Any) -> str:
        """Format the value of an attribute, a filter or a gate."""
        if name in _YEARS and isinstance(value, int):
            return str(value)
        return self.format_value(value)

    def format_value(self, value: Any) -> str:
        """Format a JSON value for readers; null and empty values become the word for "nothing"."""
        if value is None or value in ("", [], {}):
            return self.localizer.text("change_nothing")
        if isinstance(value, bool):
            return self.localizer.text("yes" if value else "no")
        if isinstance(value, int | float):
            return self.localizer.number(value)
        if isinstance(value, list):
            return ", ".join(self._format_item(item) for item in value)
        if isinstance(value, Mapping):
            return ", ".join(self._format_member(name, member) for name, member in value.items())
        return self._format_string(str(value))

    def _format_member(self, name: str, member: Any) -> str:
        """Format a member of an object with its label, such as "Year ≥ 2015"."""
        return f"{self._label(name)} {self._format_named_value(name, member)}"

    def _format_string(self, value: str) -> str:
        """Return the label of a level of evidence, and any other string in at most 300 characters."""
        if value in set(Assurance):
            return self.localizer.text(f"assurance_{value}")
        return value if len(value) <= _MAX_VALUE_LENGTH else f"{value[:_MAX_VALUE_LENGTH]}…"

    def _format_item(self, item: Any) -> str:
        """Format an item of a list; weights are shown with their criterion, such as "Year 0.5"."""
        if isinstance(item, Mapping) and "criterion_name" in item:
            name = item["criterion_name"]
            return f"{self.criterion_labels.get(name, name)} {self.localizer.number(item['weight'])}"
        return self.format_value(item)

    def _format_level(self, evidence: Any) -> str:
        """Return the label of a level of evidence, or the word for "nothing" if there is none."""
        level = evidence.get("level") if isinstance(evidence, Mapping) else None
        if level not in set(EvidenceLevel):
            return self.localizer.text("change_nothing")
        return self.localizer.text(f"level_{level}")

    def _format_claims(self, claims: Any, attribute: str) -> str:
        """Format the claims about an attribute, separated by commas."""
        if not isinstance(claims, list) or not claims:
            return self.localizer.text("change_nothing")
        return ", ".join(self._format_claim(claim, attribute) for claim in claims)

    def _format_claim(self, claim: Mapping[str, Any], attribute: str) -> str:
        """Format the value and the level of evidence of a claim, such as "yes (documented)"."""
        if claim.get("not_applicable"):
            value = self.localizer.text("not_applicable")
        else:
            value = self._format_named_value(attribute, claim["value"])

        level = self.localizer.text(f"level_{claim['level']}")
        return f"{value} ({level})"
