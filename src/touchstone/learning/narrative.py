"""Explanations in sentences, in French and English, built from their figures alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from touchstone.learning.interfaces import Json
from touchstone.learning.localized_text import LOCALES, LocalizedText, format_cell, format_signed, localize
from touchstone.messages.narratives import LIMITS, NARRATIVE

NEXT_COLUMNS: Final = 4
STRONGEST_COLUMNS: Final = 3
MAX_ROWS: Final = 5


def sentence(key: str, /, **facts: Any) -> LocalizedText:
    """Return a sentence of the narrative, filled in with facts."""
    return localize(NARRATIVE[key], **facts)


def limit_sentences(keys: Sequence[str], **facts: Any) -> dict[str, list[str]]:
    """Return the limits of an explanation as `{fr: [sentence, ...], en: [sentence, ...]}`."""
    limits = [localize(LIMITS[key], **facts) for key in keys]
    return {locale: [limit[locale] for limit in limits] for locale in LOCALES}


def importance_sentences(entries: Sequence[Json], metric_label: LocalizedText) -> Iterator[LocalizedText]:
    """Yield which columns matter, from the entries of the global explanation (most important first)."""
    significant = [entry for entry in entries if entry["importance"]["matters"]]
    if not significant:
        yield sentence("importance_none")
        return

    top = significant[0]
    yield sentence(
        "importance_top",
        name=top["column"],
        metric=metric_label,
        drop=top["importance"]["mean"],
        spread=top["importance"]["std"],
    )
    following = significant[1 : 1 + NEXT_COLUMNS]
    if following:
        yield sentence("importance_next", names=[sentence("named", name=entry["column"]) for entry in following])
    if len(significant) < len(entries):
        yield sentence("importance_useless", count=len(entries) - len(significant), total=len(entries))


def direction_sentences(entries: Sequence[Json]) -> Iterator[LocalizedText]:
    """Yield the direction in which the strongest columns push, where it is clear."""
    for entry in entries[:STRONGEST_COLUMNS]:
        if entry["shap"] is not None and entry["shap"]["direction"] in ("up", "down"):
            yield sentence(f"direction_{entry['shap']['direction']}", name=entry["column"])


def row_sentences(entries: Sequence[Json]) -> Iterator[LocalizedText]:
    """Yield what moved the prediction of each explained row."""
    for entry in entries[:MAX_ROWS]:
        yield sentence("row", row=str(entry["row"]), prediction=entry["prediction"], base=entry["base_value"])

        strongest_first = sorted(entry["attributions"].items(), key=lambda attribution: -abs(attribution[1]))
        raising = [(name, points) for name, points in strongest_first if points > 0][:STRONGEST_COLUMNS]
        lowering = [(name, points) for name, points in strongest_first if points < 0][:STRONGEST_COLUMNS]
        if raising:
            yield sentence("row_raised", names=[_contribution(*column, entry["values"]) for column in raising])
        if lowering:
            yield sentence("row_lowered", names=[_contribution(*column, entry["values"]) for column in lowering])
        yield from _counterfactual_sentences(entry)


def _contribution(name: str, points: float, values: Mapping[str, str]) -> LocalizedText:
    value = format_cell(values[name]) if values.get(name) else sentence("missing_value")
    return sentence("contribution", name=name, value=value, points=format_signed(points))


def _counterfactual_sentences(entry: Json) -> Iterator[LocalizedText]:
    for counterfactual in entry.get("counterfactuals", ()):
        changes = [
            sentence("change", name=change["column"], value=format_cell(change["to"]))
            for change in counterfactual["changes"]
        ]
        prediction = format_cell(counterfactual["prediction"])
        yield sentence("counterfactual", row=str(entry["row"]), prediction=prediction, changes=changes)


def table_sentences(profile: Json, target: Json | None) -> Iterator[LocalizedText]:
    """Yield the size of a table and the distribution of its target, which is an entry of the profile's columns."""
    yield sentence(
        "data",
        percent=float(profile["missing_percentage"]),
        rows=profile["rows"],
        columns=profile["columns"],
    )
    if profile["duplicate_rows"]:
        yield sentence("data_duplicates", rows=profile["duplicate_rows"])
    if target is not None and target["summary"]:
        yield from _target_sentences(profile, target)


def _target_sentences(profile: Json, target: Json) -> Iterator[LocalizedText]:
    summary = target["summary"]
    if summary.get("top"):
        most_frequent = summary["top"][0]
        rows_with_target = profile["rows"] * (1 - target["missing_percentage"] / 100)
        yield sentence(
            "data_classes",
            target=target["name"],
            classes=target["distinct"],
            name=most_frequent["value"],
            percent=100 * most_frequent["rows"] / max(1.0, rows_with_target),
        )
    elif "median" in summary:
        yield sentence(
            "data_number",
            target=target["name"],
            low=summary["min"],
            high=summary["max"],
            median=summary["median"],
        )


def association_sentences(
    pairs: Sequence[Json], with_target: Sequence[Json], target: str | None
) -> Iterator[LocalizedText]:
    """Yield the strongest association between two columns, and those with the target."""
    if pairs and pairs[0]["association"] > 0:
        strongest = pairs[0]
        yield sentence(
            "data_pair",
            first=strongest["first"],
            second=strongest["second"],
            strength=strongest["association"],
        )
    if with_target:
        names = [
            sentence("named_strength", name=entry["column"], strength=entry["association"])
            for entry in with_target[:STRONGEST_COLUMNS]
        ]
        yield sentence("data_with_target", target=target, names=names)


def proxy_sentences(proxies: Sequence[Json]) -> Iterator[LocalizedText]:
    """Yield which columns give a sensitive one away."""
    for proxy in proxies:
        strong = [column for column in proxy["columns"] if column["strong"]]
        for column in strong[:STRONGEST_COLUMNS]:
            yield sentence(
                "data_proxy",
                name=column["column"],
                sensitive=proxy["sensitive"],
                strength=column["association"],
            )
        if not strong:
            yield sentence("data_no_proxy", sensitive=proxy["sensitive"])
