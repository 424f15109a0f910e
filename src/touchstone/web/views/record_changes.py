"""Changes of records and projects, as tables show them: the label of a field, its value before, and its value now."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from touchstone.client import FieldChange
from touchstone.core.attributes import BY_NAME
from touchstone.core.evidence import Assurance, EvidenceLevel
from touchstone.web.localizer import Localizer
from touchstone.web.rank_filters import LABELS
from touchstone.web.rank_gates import RANGE_GATES

_EVIDENCE_PREFIX: Final = "evidence."
_CLAIMS_PREFIX: Final = "claims."
_METADATA_PREFIX: Final = "metadata."
# The keys of the labels of fields with a prefix.
_PREFIX_TEXTS: Final[Mapping[str, str]] = {
    _EVIDENCE_PREFIX: "change_evidence",
    _CLAIMS_PREFIX: "change_claims",
    _METADATA_PREFIX: "change_metadata",
}
_MAX_TEXT_LENGTH: Final = 300
_YEARS: Final = frozenset({"year", "year_min", "year_max"})
# Filters and gates whose names end like this are bounds, and are labelled with a sign.
_BOUND_SIGNS: Final = {"_min": "≥", "_max": "≤"}
# The keys of the labels of those fields that are not attributes.
_FIELD_TEXTS: Final[Mapping[str, str]] = {
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
    """One change as a table shows it.

    Attributes:
        label: The name of the field that has changed, for readers.
        before: The value before, as text.
        after: The value now, as text.
    """

    label: str
    before: str
    after: str


class ChangeDescriber:
    """Describes changes of records and projects in the language of the reader.

    Attributes:
        localizer: The reader's language.
        criterion_labels: The labels of the criteria that can be weighted, by name.
    """

    def __init__(self, localizer: Localizer, criterion_labels: Mapping[str, str]) -> None:
        self.localizer = localizer
        self.criterion_labels = criterion_labels

    def describe(self, changes: Iterable[FieldChange]) -> tuple[DescribedChange, ...]:
        """Return the changes as the rows of a table."""
        return tuple(self._describe_change(change) for change in changes)

    def _describe_change(self, change: FieldChange) -> DescribedChange:
        """Return one change with the label of its field and its values as text."""
        return DescribedChange(
            label=self._field_label(change.field),
            before=self._describe_value(change.field, change.before),
            after=self._describe_value(change.field, change.after),
        )

    def _describe_value(self, field: str, value: Any) -> str:
        """Return the value of a field as text.

        `evidence.NAME` has the level of evidence of an attribute, and `claims.NAME` the claims about it.
        """
        if field.startswith(_EVIDENCE_PREFIX):
            return self._level_text(value)
        if field.startswith(_CLAIMS_PREFIX):
            return self._claims_text(value, field.removeprefix(_CLAIMS_PREFIX))
        return self._value_text_of(field, value)

    def _field_label(self, field: str) -> str:
        """Return the label of a field for readers.

        A field such as `evidence.informed_consent` is labelled with the name of the attribute after the prefix.
        """
        for prefix, text_key in _PREFIX_TEXTS.items():
            if field.startswith(prefix):
                name = field.removeprefix(prefix)
                return self.localizer.text(text_key, name=self._name_label(name))

        if field in _FIELD_TEXTS:
            return self.localizer.text(_FIELD_TEXTS[field])
        return self._name_label(field)

    def _name_label(self, name: str) -> str:
        """Return the label of an attribute, a criterion, a filter or a gate, or any other name unchanged.

        A bound such as `year_min` is labelled with the attribute and a sign, as in "Year ≥".
        """
        for suffix, sign in _BOUND_SIGNS.items():
            if name.endswith(suffix):
                name_without_suffix = name.removesuffix(suffix)
                return f"{self._name_label(name_without_suffix)} {sign}"

        attribute = RANGE_GATES.get(name, name)
        if attribute in BY_NAME:
            return self.localizer.attribute(attribute)
        if name in self.criterion_labels:
            return self.criterion_labels[name]

        is_filter = name in (*LABELS, "trainable")
        return self.localizer.text(f"rank_{name}") if is_filter else name

    def _value_text_of(self, name: str, value: Any) -> str:
        """Return the value of an attribute, a filter or a gate in words. Years have no thousands separator."""
        if name in _YEARS and isinstance(value, int):
            return str(value)
        return self.value_text(value)

    def value_text(self, value: Any) -> str:
        """Return a JSON value in words. Null and empty values become the word for "nothing"."""
        if value is None or value in ("", [], {}):
            return self.localizer.text("change_nothing")
        if isinstance(value, bool):
            return self.localizer.text("yes" if value else "no")
        if isinstance(value, int | float):
            return self.localizer.number(value)
        if isinstance(value, list):
            return ", ".join(self._item_text(item) for item in value)
        if isinstance(value, Mapping):
            return ", ".join(self._member_text(name, member) for name, member in value.items())
        return self._word_text(str(value))

    def _member_text(self, name: str, member: Any) -> str:
        """Return a member of an object as text, such as "Year ≥ 2015"."""
        return f"{self._name_label(name)} {self._value_text_of(name, member)}"

    def _word_text(self, word: str) -> str:
        """Return the name of a level of evidence in the language of the reader, and any other text shortened."""
        if word in set(Assurance):
            return self.localizer.text(f"assurance_{word}")
        return word if len(word) <= _MAX_TEXT_LENGTH else f"{word[:_MAX_TEXT_LENGTH]}…"

    def _item_text(self, item: Any) -> str:
        """Return an item of a list in words. A weight is shown with its criterion, such as "Year 0.5"."""
        if isinstance(item, Mapping) and "criterion_name" in item:
            name = item["criterion_name"]
            return f"{self.criterion_labels.get(name, name)} {self.localizer.number(item['weight'])}"
        return self.value_text(item)

    def _level_text(self, evidence: Any) -> str:
        """Return the level of the evidence for an attribute as text; the word for "nothing" if it has no evidence."""
        level = evidence.get("level") if isinstance(evidence, Mapping) else None
        if level not in set(EvidenceLevel):
            return self.localizer.text("change_nothing")
        return self.localizer.text(f"level_{level}")

    def _claims_text(self, claims: Any, attribute: str) -> str:
        """Return the claims about an attribute as text, separated by commas."""
        if not isinstance(claims, list) or not claims:
            return self.localizer.text("change_nothing")
        return ", ".join(self._claim_text(claim, attribute) for claim in claims)

    def _claim_text(self, claim: Mapping[str, Any], attribute: str) -> str:
        """Return one claim as text: its value with its level of evidence, such as "yes (documented)"."""
        if claim.get("not_applicable"):
            value = self.localizer.text("not_applicable")
        else:
            value = self._value_text_of(attribute, claim["value"])

        level = self.localizer.text(f"level_{claim['level']}")
        return f"{value} ({level})"
