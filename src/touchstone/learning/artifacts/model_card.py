"""The model card, which describes a model, its training data, its quality and its limits.

The sections follow Mitchell et al., Model Cards for Model Reporting (2019). The card is written as JSON for programs
and as Markdown for readers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from touchstone.core.attributes import BY_NAME
from touchstone.learning.artifacts.intended_use import CardSources, describe_intended_use
from touchstone.learning.column_types import CARDINALITY_THRESHOLD
from touchstone.learning.fairness.groups import INTERSECTION
from touchstone.learning.localized_text import LOCALES, format_fact, localize
from touchstone.learning.request_choices import METRIC_BY_NAME
from touchstone.learning.task_interface import Json
from touchstone.messages.fairness import FAIRNESS
from touchstone.messages.labels import GROUP_METRIC_LABELS, MISSING_VALUE
from touchstone.messages.locales import Text, in_language
from touchstone.messages.model_card import MODEL_CARD
from touchstone.messages.pages_evidence import EVIDENCE_PAGES

FORMAT: Final = 1
UNKNOWN_LICENCE: Final = "unknown"  # the value in the catalog
COPIED_RESULTS: Final = (
    "metrics",
    "task_choice",
    "decision",
    "calibration",
    "weighting",
    "group_metrics",
    "mitigation",
    "warnings",
    "onnx",
)


def build_model_card(result: Json, record: Json, sources: CardSources) -> Json:
    """Return the card as JSON.

    Args:
        result: the result of the training.
        record: the record stored in the model file.
        sources: information from the catalog and the users.
    """
    model = result["model"]
    return {
        "format": FORMAT,
        "target": record["target"],
        "task": record["task"],
        "classes": record["classes"],
        "positive_class": model["positive_class"],
        "intended_use": describe_intended_use(result, record, sources),
        "model": {name: value for name, value in model.items() if name not in ("features", "classes")},
        "features": model["features"],
        "dataset": {**sources.dataset, "sha256": record["sha256"], "rows": result["profile"]["rows"]},
        **{name: result[name] for name in COPIED_RESULTS if name in result},
        "split": record["split"],
        "seed": record["seed"],
        "versions": record["versions"],
    }


def render_model_card(card: Json) -> str:
    """Return the card in Markdown, in French and then in English."""
    return "\n---\n\n".join(_MarkdownCard(card, locale).render() for locale in LOCALES)


@dataclass(frozen=True, slots=True)
class _MarkdownCard:
    """The card in one language."""

    card: Json
    locale: str

    def render(self) -> str:
        """Return the complete card.

        The sections about groups and mitigation are left out if no sensitive column was named.
        """
        title = f"# {self.text('title', target=self.card['target'])}\n"
        measured_quality = f"{self.split()}\n\n{self.metrics()}"

        sections = [
            self.section("what", self.model()),
            self.section("intended_use", self.card["intended_use"][self.locale]),
            self.section("data", self.data()),
            self.section("preparation", self.text("preparation_line", many=CARDINALITY_THRESHOLD)),
            self.section("metrics", measured_quality),
        ]
        if self.card["group_metrics"]:
            sections.append(self.section("groups", self.groups()))
        if self.card.get("mitigation"):
            sections.append(self.section("mitigation", self.mitigation()))
        sections.append(self.section("limits", self.warnings()))
        sections.append(self.section("versions", self.versions()))
        return "\n".join([title, *sections])

    def text(self, key: str, **facts: Any) -> str:
        """Return a message of the card with its placeholders filled in."""
        return localize(MODEL_CARD[key], **facts)[self.locale]

    def choose(self, text: Text) -> str:
        """Return the version of a text in the language of the card."""
        return in_language(text, self.locale)

    def section(self, key: str, body: str) -> str:
        """Return a section with its heading."""
        return f"## {self.text(key)}\n\n{body}\n"

    def model(self) -> str:
        """Return the sentences about the algorithm, its settings, the task and the decision rule."""
        model = self.card["model"]
        settings = self.members(model) or ", ".join(f"{name} = {value}" for name, value in model["settings"].items())
        task = localize(MODEL_CARD[model["task"]])
        sentence = self.text("model", algorithm=model["label"], settings=settings or "–", task=task)

        entries = [self.card[name] for name in ("task_choice", "weighting", "decision", "calibration")]
        decisions = [entry["text"][self.locale] for entry in entries if entry is not None]
        return " ".join([sentence, *decisions])

    def members(self, model: Json) -> str:
        """Return the members of an ensemble with their weights, or an empty string for a single model."""
        members = model["members"]
        if len(members) < 2:
            return ""
        return ", ".join(f"{member['label'][self.locale]} ({self.number(member['weight'])})" for member in members)

    def data(self) -> str:
        """Return the name, licences and digest of the dataset, and a table of its ethical record."""
        dataset = self.card["dataset"]
        digest = self.text(
            "data_line",
            rows=dataset["rows"],
            features=len(self.card["features"]),
            digest=dataset["sha256"],
        )
        if not dataset.get("name"):
            return digest

        name = self.text("dataset_line", name=dataset["name"], number=str(dataset["id"]))
        known_licences = [licence for licence in dataset["licenses"] if licence != UNKNOWN_LICENCE]
        licences = self.text("licences_line", licences=known_licences or self.text("licence_unknown"))
        return f"{name} {licences} {digest}\n\n{self.ethical_record()}"

    def ethical_record(self) -> str:
        """Return a table of the ethical attributes of the dataset with their levels of evidence."""
        lines = [self.text("ethical_columns"), "|---|---|---|"]
        for entry in self.card["dataset"]["ethical_record"]:
            attribute = BY_NAME[entry["attribute"]]
            label = self.choose((attribute.label_fr, attribute.label_en))
            level = entry["level"]
            level_label = self.choose(EVIDENCE_PAGES[f"level_{level}"]) if level else None
            lines.append(_table_line([label, self.flag(entry["value"]), level_label]))
        return "\n".join(lines)

    def flag(self, value: bool | None) -> str:
        """Return the words for yes, no or unknown."""
        if value is None:
            return self.text("not_known")
        return self.text("yes" if value else "no")

    def split(self) -> str:
        """Return the sentence about the split used to measure quality."""
        split = self.card["split"]
        percent = round(100 * split["test_size"])
        name = split["group_column"] or ""
        return self.text(f"split_{split['strategy']}", percent=percent, folds=split["folds"], name=name)

    def metrics(self) -> str:
        """Return the table of metrics, compared with the baseline."""
        metrics = self.card["metrics"]
        baseline = metrics["baseline"]

        lines = [self.text("metrics_columns"), "|---|---|---|---|"]
        for name, estimate in _measured_metrics(metrics).items():
            label = self.choose(METRIC_BY_NAME[name].label)
            cells = [label, self.value(estimate), self.interval(estimate), self.value(baseline[name])]
            lines.append(_table_line(cells))
        return "\n".join(lines)

    def groups(self) -> str:
        """Return a table of the metrics by group for each sensitive column and their intersection."""
        return "\n\n".join(self.column_groups(entry) for entry in self.card["group_metrics"])

    def column_groups(self, entry: Json) -> str:
        """Return a heading and the tables of the groups of one sensitive column.

        With more than two classes, there is a further table with the rates of each class.
        """
        groups = entry["groups"]
        parts = [f"### {_escape(entry['column'])}", self.group_table(groups, [group["metrics"] for group in groups])]
        for name in groups[0].get("classes", {}):
            parts.append(f"#### {_escape(self.text('rates_of_class', name=name))}")
            parts.append(self.group_table(groups, [group["classes"][name] for group in groups]))
        return "\n\n".join(parts)

    def group_table(self, groups: Sequence[Json], metrics_of_groups: Sequence[Json]) -> str:
        """Return a table of groups and the given metrics of each."""
        names = list(metrics_of_groups[0])
        labels = [self.choose(GROUP_METRIC_LABELS[name]) for name in names]

        lines = [_table_line([self.text("group"), self.text("rows"), *labels]), "|---" * (len(names) + 2) + "|"]
        for group, metrics in zip(groups, metrics_of_groups, strict=True):
            values = [self.value_with_interval(metrics[name]) for name in names]
            lines.append(_table_line([self.group_name(group["group"]), group["rows"], *values]))
        return "\n".join(lines)

    def group_name(self, name: str | None) -> str:
        """Return the displayed name of a group. The group None consists of the rows without a value."""
        return self.choose(MISSING_VALUE) if name is None else name

    def mitigation(self) -> str:
        """Return the mitigation method, the gaps before and after it, and the group thresholds."""
        mitigation = self.card["mitigation"]
        lines = [
            mitigation["text"][self.locale],
            "",
            self.text("mitigation_columns"),
            "|---|---|---|---|",
        ]
        lines += [_table_line(cells) for cells in self.mitigation_rows(mitigation)]
        if mitigation["thresholds"]:
            columns = _table_line([INTERSECTION.join(mitigation["columns"]), self.text("threshold")])
            lines += ["", columns, "|---|---|"]
            lines += [_table_line(cells) for cells in self.threshold_rows(mitigation["thresholds"])]
        return "\n".join(lines)

    def threshold_rows(self, thresholds: Sequence[Json]) -> Iterator[list[str]]:
        """Yield each group with its decision threshold."""
        for entry in thresholds:
            group = self.text("groups_without_threshold") if entry["group"] is None else entry["group"]
            yield [group, self.number(entry["threshold"])]

    def mitigation_rows(self, mitigation: Json) -> Iterator[list[str]]:
        """Yield the main metric and the gaps of every sensitive column, before and after the mitigation."""
        before, after = mitigation["before"], mitigation["after"]
        metric = before["metrics"]["metric"]
        values = [self.value(_measured_metrics(state["metrics"])[metric]) for state in (before, after)]
        yield ["", self.choose(METRIC_BY_NAME[metric].label), *values]

        for entry_before, entry_after in zip(before["group_metrics"], after["group_metrics"], strict=True):
            for name, gap in entry_before["gaps"].items():
                differences = [self.number(state["difference"]) for state in (gap, entry_after["gaps"][name])]
                label = self.text("gap_of", metric=localize(GROUP_METRIC_LABELS[name]))
                yield [entry_before["column"], label, *differences]

            yield from self.class_gap_rows(entry_before, entry_after)

    def class_gap_rows(self, entry_before: Json, entry_after: Json) -> Iterator[list[str]]:
        """Yield the gaps of each class of a sensitive column before and after, if there are more than two classes."""
        for class_name, gaps in entry_before.get("class_gaps", {}).items():
            for name, gap in gaps.items():
                gap_after = entry_after["class_gaps"][class_name][name]
                rate = localize(FAIRNESS["rate_of_class"], metric=localize(GROUP_METRIC_LABELS[name]), name=class_name)
                differences = [self.number(state["difference"]) for state in (gap, gap_after)]
                yield [entry_before["column"], self.text("gap_of", metric=rate), *differences]

    def warnings(self) -> str:
        """Return the warnings as a list, or a sentence if there are none."""
        lines = [f"- {warning['text'][self.locale]}" for warning in self.card["warnings"]]
        return "\n".join(lines) or self.text("no_warning")

    def versions(self) -> str:
        """Return the seed, the versions of the software, and a sentence about the ONNX file."""
        versions = ", ".join(f"{name} {version}" for name, version in self.card["versions"].items())
        onnx = self.card["onnx"]["text"][self.locale]
        return f"{self.text('seed', seed=str(self.card['seed']))}\n\n{versions}\n\n{onnx}"

    def value(self, estimate: Json) -> str:
        """Format the value of a metric or its mean over folds, or return a dash if it is not defined."""
        return self.number(estimate.get("value", estimate.get("mean")))

    def value_with_interval(self, estimate: Json) -> str:
        """Format the value of a metric with its confidence interval, or return a dash if it is not defined."""
        if estimate["low"] is None:
            return self.value(estimate)
        return f"{self.value(estimate)} {self.interval(estimate)}"

    def number(self, number: float | None) -> str:
        """Format a number in the language of the card, or return a dash if it is None."""
        return "–" if number is None else format_fact(float(number), self.locale)

    def interval(self, estimate: Json) -> str:
        """Format the confidence interval of a metric, or return a dash if it is not defined."""
        if estimate["low"] is None:
            return "–"
        return f"[{self.number(estimate['low'])} ; {self.number(estimate['high'])}]"


def _measured_metrics(metrics: Json) -> Json:
    """Return the metrics of the model, measured on a single split or over folds."""
    measured: Json = metrics.get("holdout") or metrics["folds"]
    return measured


def _table_line(cells: Sequence[object]) -> str:
    """Return a line of a Markdown table with escaped cells."""
    values = ["–" if cell is None else str(cell) for cell in cells]
    return f"| {' | '.join(_escape(value) for value in values)} |"


def _escape(text: str) -> str:
    """Escape the characters that would end a table cell or a line."""
    return text.replace("|", "\\|").replace("\n", " ")
