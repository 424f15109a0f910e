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
        """Return the whole card."""
        title = f"# {self.text('title', target=self.record['target'])}\n"
        sections = [
            self.section("what", self.model()),
            self.section("data", self.data()),
            self.section("preparation", self.text("preparation_line", many=MANY_VALUES)),
            self.section("metrics", f"{self.split()}\n\n{self.metrics()}"),
        ]
        if self.result["group_metrics"]:
            sections.append(self.section("groups", self.groups()))
        sections += [
            self.section("limits", self.warnings()),
            self.section(
                "versions", ", ".join(f"{name} {version}" for name, version in self.record["versions"].items())
            ),
        ]
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
        return self.text(
            "model", algorithm=model["label"], settings=settings or "–", task=localize(MODEL_CARD[model["task"]])
        )

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
        return self.text(f"split_{split['strategy']}", percent=percent, folds=split["folds"])

    def metrics(self) -> str:
        """Return the table of metrics beside those of the baseline."""
        metrics = self.result["metrics"]
        own = metrics.get("holdout") or metrics["folds"]
        lines = [self.text("metrics_columns"), "|---|---|---|---|"]
        for name, entry in own.items():
            label = localize(METRIC_BY_NAME[name].label)[self.locale]
            baseline = self.figure(metrics["baseline"][name])
            lines.append(_table_line([label, self.figure(entry), self.interval(entry), baseline]))
        return "\n".join(lines)

    def groups(self) -> str:
        """Return the table of the first metric of each group."""
        columns = self.result["group_metrics"]
        metric = next(iter(columns[0]["groups"][0]["metrics"]))
        label = GROUP_METRIC_LABELS[metric][LOCALES.index(self.locale)]
        lines = [self.text("groups_columns", metric=label), "|---|---|---|---|---|"]
        for column in columns:
            for group in column["groups"]:
                figure = group["metrics"][metric]
                lines.append(
                    _table_line(
                        [column["column"], group["group"], group["rows"], self.figure(figure), self.interval(figure)]
                    )
                )
        return "\n".join(lines)

    def warnings(self) -> str:
        """Return the warnings as a list, or a sentence that there is none."""
        lines = [f"- {warning['text'][self.locale]}" for warning in self.result["warnings"]]
        return "\n".join(lines) or self.text("no_warning")

    def figure(self, entry: Json) -> str:
        """Return the value of a metric, or its mean over folds."""
        value = entry.get("value", entry.get("mean"))
        return "–" if value is None else format_fact(float(value), self.locale)

    def interval(self, entry: Json) -> str:
        """Return the confidence interval of a metric."""
        if entry["low"] is None:
            return "–"
        return f"[{format_fact(float(entry['low']), self.locale)} ; {format_fact(float(entry['high']), self.locale)}]"


def _table_line(cells: Sequence[object]) -> str:
    """Return a line of a Markdown table, with cells that can neither end their cell nor their line."""
    texts = ["–" if cell is None else str(cell) for cell in cells]
    escaped = [text.replace("|", "\\|").replace("\n", " ") for text in texts]
    return f"| {' | '.join(escaped)} |"
