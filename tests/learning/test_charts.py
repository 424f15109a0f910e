"""Charts are valid, agree with the data, and are drawn without a browser or the network."""

import json
import re
import string
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.learning.small_tables import explain, messy_table, model_of, train
from touchstone.core.colours import LOWERS, RAISES
from touchstone.learning.charts.calibration_chart import calibration_chart
from touchstone.learning.charts.chart_style import shorten_in_middle
from touchstone.learning.charts.classification_charts import confusion_chart, roc_chart
from touchstone.learning.charts.explanation_charts import dependence_chart, waterfall_chart
from touchstone.learning.charts.renderer import render_png, render_svg
from touchstone.learning.charts.svg_converter import ConversionError, SvgConverter
from touchstone.learning.column_types import ColumnKind
from touchstone.learning.evaluation import Predictions
from touchstone.learning.explaining.partial_dependence import Dependence
from touchstone.learning.localized_text import format_cell, format_distinctly, format_fact, format_signed, localize
from touchstone.messages import charts as chart_texts
from touchstone.messages import labels, model_card, narratives, progress, row_warnings, training_warnings

Charts = dict[str, Any]


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> Charts:
    """Return every chart of a classification, a regression, their explanations, and a table."""
    folder = tmp_path_factory.mktemp("charts")
    frame = messy_table(150).assign(score=lambda f: np.arange(150) * 1.5 + (f["sex"] == "f"))
    classes = train(frame, "outcome", folder, sensitive_features=["sex"])
    charts: Charts = dict(classes.result["charts"]) | explain(frame, model_of(classes), folder)["charts"]
    numbers = train(frame, "score", folder, sensitive_features=["sex"], algorithms=["linear"])
    charts |= {f"{name}_of_numbers": chart for name, chart in numbers.result["charts"].items()}
    charts |= explain(frame, None, folder, target="outcome")["charts"]
    return charts


def test_every_kind_of_chart_is_there(charts: Charts) -> None:
    """All kinds of charts are created."""
    names = {
        *("confusion", "roc", "precision_recall", "calibration", "learning_curve", "leaderboard", "group_metrics_1"),
        *("importance", "shap_importance", "beeswarm", "waterfall_1", "dependence_1"),
        *("residuals_of_numbers", "predicted_actual_of_numbers", "group_metrics_1_of_numbers"),
        *("correlations", "target_balance", "missing"),
    }
    assert names <= set(charts)


def test_charts_draw_in_both_languages(charts: Charts) -> None:
    """Each chart is rendered with its title, in French and in English."""
    for name, chart in charts.items():
        for locale in ("fr", "en"):
            picture = render_svg(chart["spec"][locale])
            assert picture.startswith("<svg"), name
            assert chart["title"][locale].split("«")[0].split("“")[0].split("'")[0].strip() in picture, name
            assert "undefined" not in picture, name
            assert "NaN" not in picture, name
    assert render_png(charts["roc"]["spec"]["fr"], scale=1.0).startswith(b"\x89PNG")


def test_charts_contain_their_data(charts: Charts) -> None:
    """No chart refers to an address, so neither a browser nor a renderer has to load anything."""
    for chart in charts.values():
        text = json.dumps({locale: {**spec, "$schema": ""} for locale, spec in chart["spec"].items()})
        assert "http" not in text
        assert '"url"' not in text


def test_the_confusion_chart_counts_rows() -> None:
    """Rows, columns and shares equal those of the confusion matrix."""
    truth, predicted = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    cells = confusion_chart(Predictions(truth, predicted, 2), ["no", "yes"])["spec"]["en"]["data"]["values"]
    assert [(cell["true"], cell["predicted"], cell["rows"]) for cell in cells] == [
        ("no", "no", 2),
        ("no", "yes", 1),
        ("yes", "no", 0),
        ("yes", "yes", 1),
    ]
    assert cells[1]["share"] == pytest.approx(1 / 3)


def test_the_confusion_chart_of_many_classes_is_legible() -> None:
    """With forty classes, counts and labels are small enough for their cells, and zeros are only shown by the shade."""
    truth = np.repeat(np.arange(40), 50)
    predicted = np.where(np.arange(len(truth)) % 50 < 43, truth, (truth + 7) % 40)
    spec = confusion_chart(Predictions(truth, predicted, 40), [f"class {code}" for code in range(40)])["spec"]["en"]

    texts = re.findall(r"<text[^>]*>[^<]*</text>", render_svg(spec))
    counts = [text for text in texts if re.search(r">\d+</text>", text)]
    assert sum(">0<" in text and 'opacity="0"' not in text for text in counts) == 0
    assert sum(">43<" in text for text in counts) == 40
    assert all('font-size="9px"' in text for text in counts)
    assert sum("rotate(-90)" in text and ">class" in text for text in texts) == 40


def test_the_confusion_chart_of_few_classes_shows_every_count() -> None:
    """With two classes, zeros are visible, and the labels stand side by side."""
    truth = np.array([0, 0, 0, 1])
    spec = confusion_chart(Predictions(truth, truth, 2), ["no", "yes"])["spec"]["en"]

    picture = render_svg(spec)
    counts = re.findall(r"<text[^>]*>\d</text>", picture)
    assert len(counts) == 4
    assert all('font-size="11px"' in count and 'opacity="0"' not in count for count in counts)
    assert "rotate(-40)" not in picture


def test_french_percentages_have_a_space_before_the_sign() -> None:
    """The legend of a confusion matrix writes percentages as sentences do."""
    truth = np.array([0, 0, 1])
    specs = confusion_chart(Predictions(truth, truth, 2), ["no", "yes"])["spec"]
    assert ">100\N{NO-BREAK SPACE}%</text>" in render_svg(specs["fr"])
    assert ">100%</text>" in render_svg(specs["en"])


def test_numbers_of_a_waterfall_are_inside_of_a_page() -> None:
    """A page draws charts as wide as their cards, and cuts off what is outside."""
    entry = {"row": 0, "base_value": 0.396, "prediction": 0.222, "uncertain": []}
    spec = waterfall_chart({**entry, "attributions": {"cat": -0.278, "size": 0.104}}, {"cat": "high"})["spec"]["en"]
    picture = render_svg({**spec, "width": 300, "autosize": {"type": "fit-x", "contains": "padding"}})

    plot_width = float(re.findall(r'class="background"[^>]* d="M0,0h(\d+)v', picture)[0])
    number_starts = [float(start) for start in re.findall(r'translate\(([\d.]+),[\d.]+\)"[^>]*>−0.278<', picture)]
    assert number_starts
    assert all(start + 40 < plot_width for start in number_starts)


def test_a_perfect_ranking_has_the_corner_in_its_roc() -> None:
    """The curve of perfect scores passes through the point without false and with all true positives."""
    truth = np.array([0, 0, 1, 1])
    probabilities = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    spec = roc_chart(Predictions(truth, truth, 2, probabilities), ["no", "yes"])["spec"]["en"]
    points = [(point["x"], point["y"]) for point in spec["layer"][-1]["data"]["values"]]
    assert points[0] == (0.0, 0.0)
    assert (0.0, 1.0) in points
    assert points[-1] == (1.0, 1.0)


def test_calibrated_scores_lie_on_the_diagonal() -> None:
    """If outcomes are drawn with the predicted probabilities, they are as frequent as predicted."""
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    truth = (rng.random(20_000) < scores).astype(np.intp)
    predictions = Predictions(truth, (scores > 0.5).astype(np.intp), 2, np.column_stack([1 - scores, scores]))
    points = calibration_chart(predictions, predictions, ["no", "yes"])["spec"]["en"]["layer"][1]["data"]["values"]
    assert all(abs(point["x"] - point["y"]) < 0.05 for point in points)
    assert sum(point["rows"] for point in points) == 20_000


@pytest.mark.parametrize(
    ("moments", "labels"),
    [
        (["2020-01-09T00:00:00", "2020-02-09T10:30:00"], ["2020-01-09", "2020-02-09"]),
        (["2020-01-09T00:00:00", "2020-01-09T10:30:00"], ["2020-01-09 00:00", "2020-01-09 10:30"]),
        (["2020-01-09T00:00:00", "2020-01-09T00:00:07"], ["2020-01-09 00:00:00", "2020-01-09 00:00:07"]),
        (["2020-01-09T00:00:00", "2020-01-09T00:00:00.500000"],) * 2,
    ],
)
def test_dates_along_an_axis_are_short(moments: list[str], labels: list[str]) -> None:
    """A date is only as long as necessary to distinguish the values, so that no label is cut off."""
    dependence = Dependence("when", ColumnKind.DATE, moments, [0.1, 0.2], [[0.0, 0.1]])
    row_curves, mean_curve = dependence_chart(dependence)["spec"]["en"]["layer"]
    assert [point["value"] for point in mean_curve["data"]["values"]] == labels
    assert [point["value"] for point in row_curves["data"]["values"]] == labels


def test_numbers_are_written_as_the_language_writes_them() -> None:
    """French has decimal commas, and thin spaces between thousands."""
    assert [format_fact(1234567, locale) for locale in ("fr", "en")] == ["1\u202f234\u202f567", "1,234,567"]
    assert [format_fact(0.5, locale) for locale in ("fr", "en")] == ["0,500", "0.500"]
    assert format_fact(1e-9, "en") == "1.00e-09"
    assert format_signed(2.5) == {"fr": "+2,50", "en": "+2.50"}
    assert format_signed(-2.5) == {"fr": "−2,50", "en": "−2.50"}
    assert format_distinctly([1.0901, 1.0899, 0.5]) == [
        {"fr": "1,0901", "en": "1.0901"},
        {"fr": "1,0899", "en": "1.0899"},
        {"fr": "0,50000", "en": "0.50000"},
    ]
    assert format_distinctly([-2.5, 2.5, 2.5])[0] == format_signed(-2.5)
    assert [text["en"] for text in format_distinctly([1.0, 1.0 + 1e-12])] == ["1.00", "1.00"]
    assert format_cell("57.956") == {"fr": "57,956", "en": "57.956"}
    assert format_cell("-3") == {"fr": "−3", "en": "−3"}
    assert format_cell("2024-05-01") == {"fr": "2024-05-01", "en": "2024-05-01"}
    assert format_cell("9" * 200) == dict.fromkeys(("fr", "en"), "9" * 200)


def test_long_cells_are_shortened_in_sentences() -> None:
    """Of a review of many lines, a sentence quotes the beginning on one line."""
    shortened = format_cell("Never again.\nIt broke. " * 50)["en"]
    assert shortened.startswith("Never again. It broke. Never")
    assert shortened.endswith("…")
    assert len(shortened) <= 100


def test_sentences_take_any_text_as_a_fact() -> None:
    """A column name that looks like a placeholder is quoted and not replaced."""
    sentence = localize(("« {name} »", "“{name}”"), name="{name} {0}")
    assert sentence == {"fr": "« {name} {0} »", "en": "“{name} {0}”"}


def test_both_languages_use_the_same_facts() -> None:
    """No number appears in only one of the languages."""
    modules = (labels, progress, row_warnings, training_warnings, narratives, chart_texts, model_card)
    tables = {
        name: rows
        for module in modules
        for name, rows in vars(module).items()
        if name.isupper() and isinstance(rows, dict)
    }
    assert len(tables) >= 10
    for name, rows in tables.items():
        for key, (french, english) in rows.items():
            fields = [{part[1] for part in string.Formatter().parse(text)} - {None} for text in (french, english)]
            assert fields[0] == fields[1], (name, key)


def test_colours_mean_what_the_table_of_colours_says(charts: Charts) -> None:
    """Increases have one colour and decreases another in every chart, and nothing else uses them."""
    for name, chart in charts.items():
        text = json.dumps(chart["spec"]["en"])
        if name.startswith(("shap_importance", "waterfall")):
            assert RAISES.light in text, name
            assert LOWERS.light in text, name
        else:
            assert RAISES.light not in text, name
            assert LOWERS.light not in text, name


def test_labels_of_the_confusion_matrix_never_overlap() -> None:
    """Labels that are too long to fit side by side are slanted."""
    codes = np.arange(3)
    svg_with_short_names = render_svg(confusion_chart(Predictions(codes, codes, 3), ["a", "b", "c"])["spec"]["en"])
    names = ["an uncommonly long class name", "another one that is long", "a third one of such a length"]
    svg_with_long_names = render_svg(confusion_chart(Predictions(codes, codes, 3), names)["spec"]["en"])
    assert "rotate(-40)" not in svg_with_short_names
    assert svg_with_long_names.count("rotate(-40)") == 3


def test_a_name_cannot_reverse_the_direction_of_a_line() -> None:
    """A right-to-left override in the name of a class is made visible."""
    codes = np.arange(2)
    spec = confusion_chart(Predictions(codes, codes, 2), ["safe", "\u202egpj.exe"])["spec"]["fr"]
    assert "\u202e" not in json.dumps(spec, ensure_ascii=False)
    assert "\N{REPLACEMENT CHARACTER}gpj.exe" in render_svg(spec)
    assert format_cell("a\u2067b") == dict.fromkeys(("fr", "en"), "a\N{REPLACEMENT CHARACTER}b")


def test_long_names_do_not_break_a_chart(tmp_path: Path) -> None:
    """Names of a thousand characters and names with quotes are drawn like all others."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x" * 1_000: rng.normal(size=60), 'the "y"': rng.choice(["a'b", "c\\d"], 60)})
    result = train(frame, 'the "y"', tmp_path, algorithms=["linear"], budget={"max_trials": 1}).result
    assert all(render_svg(chart["spec"]["fr"]) for chart in result["charts"].values())


def test_a_single_model_is_not_compared(tmp_path: Path) -> None:
    """One model with one score gives no chart, whose axis would have no extent."""
    result = train(messy_table(80), "outcome", tmp_path, algorithms=["linear"], budget={"max_trials": 1}).result
    assert "roc" in result["charts"]
    assert "leaderboard" not in result["charts"]


def test_names_that_differ_at_the_end_stay_different() -> None:
    """Names of groups that combine two columns are shortened in the middle."""
    names = [f"female: non-single or male: single × {ages}" for ages in ("19–26", "27–32")]
    labels = [shorten_in_middle(name) for name in names]
    assert labels == ["female: non-sing…: single × 19–26", "female: non-sing…: single × 27–32"]
    assert shorten_in_middle("female × 19–26") == "female × 19–26"


async def test_svg_is_converted_in_a_child_process() -> None:
    """A picture becomes a PNG of twice its size, and malformed SVG is an error."""
    converter = SvgConverter()
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><text y="9">é</text></svg>'
    png = await converter.to_png(picture)
    width_and_height = png[16:24]
    assert png.startswith(b"\x89PNG")
    assert width_and_height == (80).to_bytes(4) + (40).to_bytes(4)

    with pytest.raises(ConversionError):
        await converter.to_png("<svg")
