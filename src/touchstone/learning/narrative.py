"""Telling an explanation in sentences, in French and English, from its numbers alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from touchstone.learning.interfaces import Json
from touchstone.learning.number_format import LOCALES, Said, joined, say, signed, spelled
from touchstone.messages.narratives import LIMITS, NARRATIVE

NEXT_COLUMNS: Final = 4
PUSHING_COLUMNS: Final = 3
TOLD_ROWS: Final = 5


def tell(key: str, /, **facts: Any) -> Said:
    """One sentence of the table."""
    return say(NARRATIVE[key], **facts)


def limits_of(keys: Sequence[str], **facts: Any) -> dict[str, list[str]]:
    """The limits of an explanation: `{fr: [sentence…], en: [sentence…]}`."""
    said = [say(LIMITS[key], **facts) for key in keys]
    return {locale: [one[locale] for one in said] for locale in LOCALES}


def of_importance(rows: Sequence[Json], metric: Said) -> Iterator[Said]:
    """Which columns matter, from the rows of the global explanation (most important first)."""
    matter = [row for row in rows if row["importance"]["matters"]]
    if not matter:
        yield tell("importance_none")
        return
    top = matter[0]
    figures = {"drop": top["importance"]["mean"], "spread": top["importance"]["std"]}
    yield tell("importance_top", name=top["column"], metric=metric, **figures)
    if len(matter) > 1:
        yield tell("importance_next", names=[tell("named", name=row["column"]) for row in matter[1 : 1 + NEXT_COLUMNS]])
    if len(matter) < len(rows):
        yield tell("importance_useless", count=len(rows) - len(matter), total=len(rows))


def of_directions(rows: Sequence[Json]) -> Iterator[Said]:
    """Which way the strongest columns push, where there is one way."""
    for row in rows[:PUSHING_COLUMNS]:
        direction = (row.get("shap") or {}).get("direction")
        if direction in ("up", "down"):
            yield tell(f"direction_{direction}", name=row["column"])


def of_rows(local: Sequence[Json], cells: Sequence[Mapping[str, str]]) -> Iterator[Said]:
    """What moved each explained row; `cells` are its values as text."""
    for one, own in list(zip(local, cells, strict=True))[:TOLD_ROWS]:
        yield tell("row", row=str(one["row"]), prediction=one["prediction"], base=one["base_value"])
        ordered = sorted(one["attributions"].items(), key=lambda pair: -abs(pair[1]))
        raised = [_contribution(name, points, own) for name, points in ordered if points > 0][:PUSHING_COLUMNS]
        lowered = [_contribution(name, points, own) for name, points in ordered if points < 0][:PUSHING_COLUMNS]
        if raised:
            yield tell("row_raised", names=raised)
        if lowered:
            yield tell("row_lowered", names=lowered)
        yield from _counterfactual(one)


def _contribution(name: str, points: float, cells: Mapping[str, str]) -> Said:
    value = spelled(cells[name]) if cells.get(name) else tell("missing_value")
    return tell("contribution", name=name, value=value, points=signed(points))


def _counterfactual(one: Json) -> Iterator[Said]:
    for found in one.get("counterfactuals", ()):
        changes = [tell("change", name=change["column"], value=spelled(change["to"])) for change in found["changes"]]
        yield tell("counterfactual", row=str(one["row"]), prediction=spelled(found["prediction"]), changes=changes)


def of_table(profile: Json, target: Json | None) -> Iterator[Said]:
    """The size of a table and the balance of its target."""
    size = {"rows": profile["rows"], "columns": profile["columns"]}
    yield tell("data", percent=float(profile["missing_percentage"]), **size)
    if profile["duplicate_rows"]:
        yield tell("data_duplicates", rows=profile["duplicate_rows"])
    summary = (target or {}).get("summary") or {}
    if target is not None and summary.get("top"):
        top = summary["top"][0]
        present = profile["rows"] * (1 - target["missing_percentage"] / 100)
        share = {"name": top["value"], "percent": 100 * top["rows"] / max(1.0, present)}
        yield tell("data_classes", target=target["name"], classes=target["distinct"], **share)
    elif target is not None and "median" in summary:
        ends = {"low": summary["min"], "high": summary["max"], "median": summary["median"]}
        yield tell("data_number", target=target["name"], **ends)


def of_associations(pairs: Sequence[Json], with_target: Sequence[Json], target: str | None) -> Iterator[Said]:
    """What goes together most, and what goes with the target."""
    if pairs and pairs[0]["association"] > 0:
        top = pairs[0]
        yield tell("data_pair", first=top["first"], second=top["second"], strength=top["association"])
    if with_target:
        names = [_strength(row) for row in with_target[:PUSHING_COLUMNS]]
        yield tell("data_with_target", target=target, names=names)


def of_proxies(proxies: Sequence[Json]) -> Iterator[Said]:
    """Which columns give a sensitive one away."""
    for entry in proxies:
        strong = [row for row in entry["columns"] if row["strong"]]
        for row in strong[:PUSHING_COLUMNS]:
            yield tell("data_proxy", name=row["column"], sensitive=entry["sensitive"], strength=row["association"])
        if not strong:
            yield tell("data_no_proxy", sensitive=entry["sensitive"])


def _strength(row: Json) -> Said:
    return tell("named_strength", name=row["column"], strength=row["association"])


def story(sentences: Iterator[Said]) -> Said:
    """The sentences as one text in each language."""
    return joined(list(sentences))
