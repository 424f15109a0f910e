"""The model card in Markdown: what a model is, what it learned from, how good it is, and for whom it fails.

The sections follow Mitchell et al., Model Cards for Model Reporting (2019).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from touchstone.learning.choices import METRIC_BY_NAME
from touchstone.learning.column_types import MANY_VALUES
from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import LOCALES, format_fact, localize
from touchstone.messages.labels import GROUP_METRIC_LABELS
from touchstone.messages.model_card import MODEL_CARD


def model_card(result: Json, record: Json) -> str:
    """Return the card in French, then in English.

    `result` is the result of the training, `record` what is stored inside the model file.
    """
    return "\n---\n\n".join(_ModelCard(result, record, locale).render() for locale in LOCALES)


@dataclass(frozen=True, slots=True)
class _ModelCard:
    """The card in one language."""

    result: Json
    record: Json
    locale: str

    def render(self) -> str:
        """Return the whole card: a title, and a section for each question that a reader should ask of a model.

        The section about groups is left out if no sensitive column was named.
        """
        title = f"# {self.text('title', target=self.record['target'])}\n"
        measured_quality = f"{self.split()}\n\n{self.metrics()}"

        sections = [
            self.section("what", self.model()),
            self.section("data", self.data()),
            self.section("preparation", self.text("preparation_line", many=MANY_VALUES)),
            self.section("metrics", measured_quality),
        ]
        if self.result["group_metrics"]:
            sections.append(self.section("groups", self.groups()))
        sections.append(self.section("limits", self.warnings()))
        sections.append(self.section("versions", self.versions()))
        return "\n".join([title, *sections])

    def text(self, key: str, **facts: Any) -> str:
        """Return a text of the card, filled in with facts."""
        return localize(MODEL_CARD[key], **facts)[self.locale]

    def section(self, key: str, body: str) -> str:
        """Return a section with its heading."""
        return f"## {self.text(key)}\n\n{body}\n"

    def model(self) -> str:
        """Return the sentence about the algorithm, its settings and the task."""
        model = self.result["model"]
        settings = ", ".join(f"{name} = {value}" for name, value in model["settings"].items())
        task = localize(MODEL_CARD[model["task"]])
        return self.text("model", algorithm=model["label"], settings=settings or "–", task=task)

    def data(self) -> str:
        """Return the sentence about the training data."""
        return self.text(
            "data_line",
            rows=self.result["profile"]["rows"],
            features=len(self.record["features"]),
            digest=self.record["sha256"],
        )

    def split(self) -> str:
        """Return the sentence about how quality was measured."""
        split = self.record["split"]
        percent = round(100 * split["test_size"])
        name = split["group_column"] or ""
        return self.text(f"split_{split['strategy']}", percent=percent, folds=split["folds"], name=name)

    def metrics(self) -> str:
        """Return the table of metrics beside those of the baseline."""
        metrics = self.result["metrics"]
        own_metrics = metrics.get("holdout") or metrics["folds"]

        lines = [self.text("metrics_columns"), "|---|---|---|---|"]
        for name, estimate in own_metrics.items():
            label = localize(METRIC_BY_NAME[name].label)[self.locale]
            baseline = self.value(metrics["baseline"][name])
            lines.append(_table_line([label, self.value(estimate), self.interval(estimate), baseline]))
        return "\n".join(lines)

    def groups(self) -> str:
        """Return a Markdown table of how good the model is for each group of each sensitive column.

        To keep the table small, it only shows the first of the metrics that were measured, with its interval.
        """
        columns = self.result["group_metrics"]
        first_group = columns[0]["groups"][0]
        metric = next(iter(first_group["metrics"]))
        metric_label = GROUP_METRIC_LABELS[metric][LOCALES.index(self.locale)]

        lines = [self.text("groups_columns", metric=metric_label), "|---|---|---|---|---|"]
        for column in columns:
            for group in column["groups"]:
                estimate = group["metrics"][metric]
                value = self.value(estimate)
                interval = self.interval(estimate)
                lines.append(_table_line([column["column"], group["group"], group["rows"], value, interval]))
        return "\n".join(lines)

    def warnings(self) -> str:
        """Return the warnings as a list, or a sentence that there is none."""
        lines = [f"- {warning['text'][self.locale]}" for warning in self.result["warnings"]]
        return "\n".join(lines) or self.text("no_warning")

    def versions(self) -> str:
        """Return the versions of the software with which the model was trained."""
        return ", ".join(f"{name} {version}" for name, version in self.record["versions"].items())

    def value(self, estimate: Json) -> str:
        """Return the value of a metric, or its mean over folds; a dash if it is not defined."""
        value = estimate.get("value", estimate.get("mean"))
        return "–" if value is None else format_fact(float(value), self.locale)

    def interval(self, estimate: Json) -> str:
        """Return the confidence interval of a metric; a dash if it is not defined."""
        if estimate["low"] is None:
            return "–"
        low = format_fact(float(estimate["low"]), self.locale)
        high = format_fact(float(estimate["high"]), self.locale)
        return f"[{low} ; {high}]"


def _table_line(cells: Sequence[object]) -> str:
    """Return a line of a Markdown table; no text in a cell can end the cell or the line."""
    texts = ["–" if cell is None else str(cell) for cell in cells]
    escaped = [text.replace("|", "\\|").replace("\n", " ") for text in texts]
    return f"| {' | '.join(escaped)} |"
