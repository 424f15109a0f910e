"""The labels, sentences, numbers and dates of a report in one language."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from babel.core import Locale
from babel.dates import format_datetime
from babel.numbers import format_decimal, format_percent

from touchstone.core.attributes import BY_NAME, FLAGS
from touchstone.core.evidence import Assurance, ClaimValue, EvidenceLevel
from touchstone.messages import ranking_note_text, report_text, text
from touchstone.messages.labels import (
    ALGORITHM_LABELS,
    GROUP_METRIC_LABELS,
    METHOD_LABELS,
    METRIC_LABELS,
)
from touchstone.messages.locales import Text, in_language
from touchstone.messages.numbers import (
    bound_of_tiny_share,
    format_lower_bound,
    format_significant,
    format_upper_bound,
    less_than,
)
from touchstone.messages.plurals import with_count
from touchstone.messages.proposal_notes import translate_note
from touchstone.messages.report import FILTER_LABELS
from touchstone.messages.report_law import LEGAL_POINT_TITLES
from touchstone.ranking.criteria import CRITERIA
from touchstone.services.selection.report.fact_types import ReportedDataset, ReportedDecision

DASH: Final = "–"
_SIGNIFICANT_DIGITS: Final = 4
_MAX_DECIMALS: Final = 6
# Other floats are written with an exponent: smaller ones would be rounded to 0, and larger ones are not exact.
_SMALLEST_PLAIN: Final = 1e-6
_LARGEST_PLAIN: Final = 1e15
_NO_BREAK_SPACE: Final = "\N{NO-BREAK SPACE}"
_TIME_FORMATS: Final = {"fr": f"%H{_NO_BREAK_SPACE}h{_NO_BREAK_SPACE}%M", "en": "%H:%M"}
# The spaces of French punctuation, where lines must not break.
_FRENCH_SPACE: Final = re.compile(r"(?<=«) | (?=[»:;?!%])")
_CRITERIA_BY_NAME: Final = {criterion.name: criterion for criterion in CRITERIA}


class HasPlace(Protocol):
    """An object with a place in a ranking, which objects of the same score share."""

    @property
    def place(self) -> int:
        """1 + the number of datasets with a higher score."""

    @property
    def tied_with(self) -> int:
        """The number of other datasets with the same score."""


class ReportLanguage:
    """The wording and the number and date formats of one language.

    Attributes:
        locale: the language, `fr` or `en`.
    """

    def __init__(self, locale: str) -> None:
        self.locale = locale
        self._babel_locale = Locale.parse(locale)

    def text(self, key: str, **facts: Any) -> str:
        """Return a sentence of the report with its arguments inserted.

        Integers are formatted, and they select the singular or plural form of the words that depend on them.
        """
        formatted = {name: self._format_argument(fact) for name, fact in facts.items()}
        sentence = report_text(key, self.locale, **formatted)
        return self.with_fixed_spaces(sentence)

    def with_fixed_spaces(self, sentence: str) -> str:
        """Return a sentence with non-breaking spaces beside French punctuation."""
        return _FRENCH_SPACE.sub(_NO_BREAK_SPACE, sentence) if self.locale == "fr" else sentence

    def choose(self, texts: Text) -> str:
        """Return the text in this language from a pair of French and English texts, with non-breaking spaces."""
        return self.with_fixed_spaces(in_language(texts, self.locale))

    def claim_note(self, note: str) -> str:
        """Return the note of a claim, which says by which rule its value follows from the quote."""
        return self.with_fixed_spaces(translate_note(note, self.locale))

    def translation(self, texts: Any) -> Any:
        """Return the value in this language from an object with the members `fr` and `en` in the result of a job."""
        return texts[self.locale]

    def integer(self, value: int) -> str:
        """Format an integer with the separators of this language."""
        return str(format_decimal(value, locale=self._babel_locale))

    def decimal(self, value: float, digits: int = 3) -> str:
        """Format a number with the given number of decimals."""
        return str(format_decimal(value, format=f"#,##0.{'0' * digits}", locale=self._babel_locale))

    def signed(self, value: float, digits: int = 3) -> str:
        """Format a difference with its sign, or without a sign if it is rounded to zero."""
        rounded = round(value, digits)
        sign = "" if rounded == 0 else "+" if rounded > 0 else "\N{MINUS SIGN}"
        return f"{sign}{self.decimal(abs(rounded), digits)}"

    def number(self, value: float | None) -> str:
        """Format a float with four significant digits, an integer with all its digits, and None as a dash.

        Very small and very large floats have an exponent.
        """
        if value is None:
            return DASH
        if isinstance(value, float) and value != 0 and not _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
            return format_significant(value, self.locale, _SIGNIFICANT_DIGITS)
        if isinstance(value, int) or value.is_integer():
            return str(format_decimal(int(value), locale=self._babel_locale))
        significant = float(f"{value:.{_SIGNIFICANT_DIGITS}g}")
        rounded = round(significant, _MAX_DECIMALS) + 0.0  # zero without a minus sign
        return str(format_decimal(rounded, format="#,##0.######", locale=self._babel_locale))

    def bound(self, value: float, *, is_lower: bool) -> str:
        """Format a bound with few digits.

        Lower bounds are rounded up and upper bounds down, so that every number beyond the shown bound is also beyond
        the exact one.
        """
        format_bound = format_lower_bound if is_lower else format_upper_bound
        return format_bound(value, self.locale)

    def percent(self, share: float) -> str:
        """Format a share in 0-1 as a percentage without decimals, or as `<1%` if it would be rounded to zero."""
        bound = bound_of_tiny_share(share, decimals=0)
        if bound is not None:
            return less_than(self.percent(bound), self.locale)
        return str(format_percent(share, locale=self._babel_locale))

    def weight_share(self, share: float) -> str:
        """Format the share of a weight in 0-1 as a percentage with at most one decimal, or as `<0.1%`."""
        bound = bound_of_tiny_share(share, decimals=1)
        if bound is not None:
            return less_than(self.weight_share(bound), self.locale)

        pattern = "#,##0.# %" if self.locale == "fr" else "#,##0.#%"
        return self.with_fixed_spaces(str(format_percent(share, format=pattern, locale=self._babel_locale)))

    def timestamp(self, timestamp: datetime | None) -> str:
        """Format the date and the time in UTC, or None as a dash."""
        if timestamp is None:
            return DASH
        time_of_day = f"{timestamp.astimezone(UTC):{_TIME_FORMATS[self.locale]}}"
        return f"{self.day(timestamp)}, {time_of_day} UTC"

    def day(self, timestamp: datetime) -> str:
        """Format the date in UTC."""
        in_utc = timestamp.astimezone(UTC)
        return str(format_datetime(in_utc, "d MMMM yyyy", locale=self._babel_locale))

    def enumeration(self, items: Sequence[str]) -> str:
        """Join items with commas."""
        return ", ".join(items)

    def attribute(self, name: str) -> str:
        """Return the label of an attribute of datasets."""
        attribute = BY_NAME[name]
        return self.choose((attribute.label_fr, attribute.label_en))

    def field(self, name: str) -> str:
        """Return the label of a changed field of a dataset, or its name in the API if it has no label."""
        prefix, _, attribute = name.rpartition(".")
        if prefix in ("", "evidence", "claims") and attribute in BY_NAME:
            return self.attribute(attribute)
        return name

    def criterion(self, name: str) -> str:
        """Return the label of a criterion."""
        criterion = _CRITERIA_BY_NAME[name]
        return self.choose((criterion.label_fr, criterion.label_en))

    def criterion_formula(self, name: str) -> str:
        """Return the formula of a criterion in words."""
        criterion = _CRITERIA_BY_NAME[name]
        return self.choose((criterion.formula_fr, criterion.formula_en))

    def level(self, level: EvidenceLevel) -> str:
        """Return the name of a level of evidence."""
        return text(f"level_{level.value}", self.locale)

    def assurance(self, assurance: Assurance) -> str:
        """Return the name of an assurance."""
        return text(f"assurance_{assurance.value}", self.locale)

    def assurance_hint(self, assurance: Assurance) -> str:
        """Return the explanation of an assurance."""
        return text(f"assurance_{assurance.value}_hint", self.locale)

    def claim_value(self, value: ClaimValue, *, is_applicable: bool = True) -> str:
        """Return the value of an attribute in words."""
        if not is_applicable:
            return text("not_applicable", self.locale)
        if value is None:
            return text("unknown", self.locale)
        if isinstance(value, bool):
            return text("yes" if value else "no", self.locale)
        return self.number(value)

    def attribute_value(self, name: str, value: ClaimValue, *, is_applicable: bool = True) -> str:
        """Return the value of an attribute in words. Years are written without separators."""
        if is_applicable and isinstance(value, int) and not isinstance(value, bool):
            return self.filter_value(name, value)
        return self.claim_value(value, is_applicable=is_applicable)

    def legal_point(self, key: str) -> str:
        """Return the title of a point of law."""
        return self.choose(LEGAL_POINT_TITLES[key])

    def algorithm(self, name: str) -> str:
        """Return the label of an algorithm."""
        return self._label(ALGORITHM_LABELS.get(name), name)

    def metric(self, name: str) -> str:
        """Return the label of a metric, which may be a metric for single groups."""
        return self._label(METRIC_LABELS.get(name) or GROUP_METRIC_LABELS.get(name), name)

    def method(self, name: str) -> str:
        """Return the label of an explanation method."""
        return self._label(METHOD_LABELS.get(name), name)

    def filter_sentence(self, name: str, value: object) -> str:
        """Return a filter with its value, such as "Year ≥ 2015" or "Task: classification"."""
        label = self.filter(name)
        value_text = self.filter_value(name, value)
        if name.endswith(("_min", "_max")):
            return f"{label} {value_text}"
        return self.text("labelled", label=label, value=value_text)

    def gate_sentence(self, name: str, value: object) -> str:
        """Return a gate with its value, or with the required level of evidence if it requires an attribute."""
        if name in FLAGS:
            return self.text("gate_flag", label=self.attribute(name), level=self.assurance(Assurance(str(value))))
        return self.filter_sentence(name, value)

    def gate_label(self, name: str) -> str:
        """Return the label of a gate without its value and its comparison sign."""
        return self._quantity(name.removesuffix("_min").removesuffix("_max"))

    def dataset(self, dataset: ReportedDataset) -> str:
        """Return the name of a dataset, or its number if its name is unknown."""
        return dataset.name or self.text("dataset_number", id=str(dataset.id))

    def rank(self, item: HasPlace) -> str:
        """Format the place of a dataset, with an equals sign if others share it."""
        return self.place(item.place, item.tied_with)

    def place(self, place: int, tied_with: int) -> str:
        """Format a place, such as "5", or "5 =" if others share it."""
        return f"{self.integer(place)}{_NO_BREAK_SPACE}=" if tied_with else self.integer(place)

    def note(self, code: str, criterion_names: Sequence[str]) -> str:
        """Return the sentence of a note on a ranking about one or more criteria."""
        labels = self.enumeration([self.criterion(name) for name in criterion_names])
        if len(criterion_names) == 1:
            return ranking_note_text(code, labels, self.locale)
        return self.text(f"notes_{code}", criteria=labels)

    def author(self, decision: ReportedDecision) -> str:
        """Return the name of the author of a choice, and say whether it is the owner of the project."""
        name = decision.by or self.text("author_unnamed")
        return self.text("author_is_owner" if decision.is_by_owner else "author_name", name=name)

    def filter(self, name: str) -> str:
        """Return the label of a filter. The label of a bound ends with its comparison sign."""
        for suffix, sign in (("_min", "≥"), ("_max", "≤")):
            if name.endswith(suffix):
                return f"{self._quantity(name.removesuffix(suffix))} {sign}"
        return self._quantity(name)

    def filter_value(self, name: str, value: object) -> str:
        """Return the value of a filter in words. Years are written without separators."""
        if isinstance(value, bool):
            return self.claim_value(value)
        if isinstance(value, int | float) and not name.startswith("year"):
            return self.number(value)
        if isinstance(value, list | tuple):
            return self.enumeration([self.filter_value(name, item) for item in value])
        return str(value)

    def _quantity(self, name: str) -> str:
        """Return the label of the property that a filter examines."""
        if name in FILTER_LABELS:
            return self.choose(FILTER_LABELS[name])
        return self.attribute(name) if name in BY_NAME else name

    def _label(self, texts: Text | None, name: str) -> str:
        """Return a label in this language, or the name itself if this release does not know it."""
        return name if texts is None else self.choose(texts)

    def _format_argument(self, argument: Any) -> Any:
        """Format an integer argument of a sentence, and return any other argument unchanged.

        The formatted integer retains its value, which selects the singular or plural form in the sentence.
        """
        if isinstance(argument, bool) or not isinstance(argument, int):
            return argument
        return with_count(self.integer(argument), argument, self.locale)
