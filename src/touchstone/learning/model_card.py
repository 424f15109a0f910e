"""The model card: what a model is, what it learned from, how good it is, for whom it fails, in Markdown.

The sections follow Mitchell et al., Model Cards for Model Reporting (2019).
"""

from typing import Any

from touchstone.learning.column_types import MANY_VALUES
from touchstone.learning.interfaces import Json
from touchstone.learning.number_format import LOCALES, say, written
from touchstone.learning.requests import METRIC_BY_NAME
from touchstone.messages.labels import GROUP_METRIC_LABELS
from touchstone.messages.model_card import MODEL_CARD


def model_card(result: Json, record: Json) -> str:
    """The card in French, then in English; `result` is the answer of the training, `record` the model's own."""
    return "\n---\n\n".join(_card(result, record, locale) for locale in LOCALES)


def _card(result: Json, record: Json, locale: str) -> str:
    def text(key: str, **facts: Any) -> str:
        return say(MODEL_CARD[key], **facts)[locale]

    sections = [
        f"# {text('title', target=record['target'])}\n",
        f"## {text('what')}\n\n{_model(result, locale)}\n",
        f"## {text('data')}\n\n{_data(result, record, locale)}\n",
        f"## {text('preparation')}\n\n{text('preparation_line', many=MANY_VALUES)}\n",
        f"## {text('metrics')}\n\n{_how(record, locale)}\n\n{_metrics(result['metrics'], locale)}\n",
        f"## {text('groups')}\n\n{_groups(result['group_metrics'], locale)}\n" if result["group_metrics"] else "",
        f"## {text('limits')}\n\n{_warnings(result, locale)}\n",
        f"## {text('versions')}\n\n{', '.join(f'{name} {version}' for name, version in record['versions'].items())}\n",
    ]
    return "\n".join(section for section in sections if section)


def _model(result: Json, locale: str) -> str:
    model = result["model"]
    settings = ", ".join(f"{name} = {value}" for name, value in model["settings"].items()) or "–"
    label = model["label"]
    return say(MODEL_CARD["model"], algorithm=label, settings=settings, task=say(MODEL_CARD[model["task"]]))[locale]


def _data(result: Json, record: Json, locale: str) -> str:
    rows, features = result["profile"]["rows"], len(record["features"])
    return say(MODEL_CARD["data_line"], rows=rows, features=features, digest=record["sha256"])[locale]


def _how(record: Json, locale: str) -> str:
    split = record["split"]
    percent = round(100 * split["test_size"])
    return say(MODEL_CARD[f"split_{split['strategy']}"], percent=percent, folds=split["folds"])[locale]


def _metrics(metrics: Json, locale: str) -> str:
    own, naive = metrics.get("holdout") or metrics["folds"], metrics["baseline"]
    lines = [say(MODEL_CARD["metrics_columns"])[locale], "|---|---|---|---|"]
    for name, entry in own.items():
        cells = (_label(name, locale), _figure(entry, locale), _span(entry, locale), _figure(naive[name], locale))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _label(metric: str, locale: str) -> str:
    return say(METRIC_BY_NAME[metric].label)[locale]


def _figure(entry: Json, locale: str) -> str:
    value = entry.get("value", entry.get("mean"))
    return "–" if value is None else written(float(value), locale)


def _span(entry: Json, locale: str) -> str:
    if entry["low"] is None:
        return "–"
    return f"[{written(float(entry['low']), locale)} ; {written(float(entry['high']), locale)}]"


def _groups(columns: list[Json], locale: str) -> str:
    first = next(iter(columns[0]["groups"][0]["metrics"]))
    label = GROUP_METRIC_LABELS[first][LOCALES.index(locale)]
    lines = [say(MODEL_CARD["groups_columns"], metric=label)[locale], "|---|---|---|---|---|"]
    for column in columns:
        for group in column["groups"]:
            figure = group["metrics"][first]
            cells = (column["column"], group["group"], group["rows"], _figure(figure, locale), _span(figure, locale))
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    """A value inside a Markdown table: it may not end its cell or its line."""
    return str("–" if value is None else value).replace("|", "\\|").replace("\n", " ")


def _warnings(result: Json, locale: str) -> str:
    lines = [f"- {warning['text'][locale]}" for warning in result["warnings"]]
    return "\n".join(lines) or say(MODEL_CARD["no_warning"])[locale]
