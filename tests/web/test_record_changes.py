"""Changes of records and projects are described in the words of the pages."""

from typing import Any

import pytest

from touchstone.client import FieldChange
from touchstone.web.localizer import Localizer
from touchstone.web.views.record_changes import ChangeDescriber

LABELS = {"year": "Novelty", "ethical_score": "Ethical"}
DECLARED = {"attribute": "transparency", "value": True, "not_applicable": False, "level": "declared"}
MEASURED = {"attribute": "year", "value": 2001, "not_applicable": False, "level": "measured"}
WEIGHTS = [{"criterion_name": "ethical_score", "weight": 2.5}, {"criterion_name": "year", "weight": 1}]


@pytest.mark.parametrize(
    ("field", "value", "label", "text"),
    [
        ("transparency", False, "Transparency", "no"),
        ("transparency", None, "Transparency", "no value"),
        ("year", 2024, "Year", "2024"),
        ("instances_number", 12500, "Instances", "12,500"),
        ("domain", ["finance", "credit"], "Domain", "finance, credit"),
        ("metadata.licence", "CC-BY-4.0", "Metadata: licence", "CC-BY-4.0"),
        ("evidence.transparency", {"level": "documented"}, "Transparency: evidence", "documented"),
        ("claims.transparency", [DECLARED], "Transparency: claims", "yes (declared)"),
        ("claims.year", [MEASURED], "Year: claims", "2001 (measured)"),
        ("claims.year", [], "Year: claims", "no value"),
        ("weights", WEIGHTS, "Weights", "Ethical 2.5, Novelty 1"),
        ("gates", {"transparency": "reviewed", "license": ["CC-BY-*"]}, None, "Transparency reviewed, Licence CC-BY-*"),
        (
            "gates",
            {"instances_min": 1000, "trainable": True},
            None,
            "Instances ≥ 1,000, Readable table, usable for training yes",
        ),
        ("description", "x" * 400, "Description", "x" * 300 + "…"),
    ],
)
def test_a_change_is_described(field: str, value: Any, label: str | None, text: str) -> None:
    """The field has its label, and the value reads as it does elsewhere on the pages."""
    describer = ChangeDescriber(Localizer("en"), LABELS)
    (change,) = describer.describe([FieldChange(field=field, before=value, after=None)])
    assert (change.before, change.after) == (text, "no value")
    assert label in (None, change.label)
