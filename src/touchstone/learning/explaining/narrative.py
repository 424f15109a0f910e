"""Explanations in sentences, in French and English, derived from the results of an explanation.

The functions yield one `LocalizedText` per sentence, and none if there is nothing to report.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from touchstone.learning.explaining.associations import SMALLEST_ASSOCIATION
from touchstone.learning.localized_text import LOCALES, LocalizedText, format_percentage, localize
from touchstone.learning.task_interface import Json
from touchstone.messages.narratives import LIMITS, NARRATIVE

NEXT_COLUMNS: Final = 4
STRONGEST_COLUMNS: Final = 3


def sentence(key: str, /, **facts: Any) -> LocalizedText:
    """Return the sentence `key` of the narrative, with its placeholders filled in."""
    return localize(NARRATIVE[key], **facts)


def limit_sentences(keys: Sequence[str], **facts: Any) -> dict[str, list[str]]:
    """Return the limits of an explanation as `{fr: [sentence, ...], en: [sentence, ...]}`."""
    limits = [localize(LIMITS[key], **facts) for key in keys]
    return {locale: [limit[locale] for limit in limits] for locale in LOCALES}


def importance_sentences(columns: Sequence[Json], metric_label: LocalizedText) -> Iterator[LocalizedText]:
    """Yield sentences about the most important columns and the number of insignificant ones.

    `columns` holds the entries of the global explanation, the most important first. `metric_label` is the displayed
    name of the metric used to measure importance.
    """
    significant = [column for column in columns if column["importance"]["matters"]]
    if not significant:
        costliest = columns[0]["importance"]
        yield sentence(
            "importance_none",
            name=columns[0]["column"],
            metric=metric_label,
            drop=costliest["mean"],
            spread=costliest["std"],
            limit=costliest["chance"],
        )
        return

    most_important, *others = significant
    yield sentence(
        "importance_top",
        name=most_important["column"],
        metric=metric_label,
        drop=most_important["importance"]["mean"],
        spread=most_important["importance"]["std"],
    )

    if others:
        names = [sentence("named", name=column["column"]) for column in others[:NEXT_COLUMNS]]
        yield sentence("importance_next", names=names)

    insignificant_count = len(columns) - len(significant)
    if insignificant_count > 0:
        yield sentence("importance_useless", count=insignificant_count, total=len(columns))


def direction_sentences(columns: Sequence[Json]) -> Iterator[LocalizedText]:
    """Yield a sentence about the direction of the effect of each of the strongest columns, if it is clear.

    Columns with a measured importance that does not differ from chance are left out.
    """
    relevant_columns = [column for column in columns if column["importance"] is None or column["importance"]["matters"]]
    for column in relevant_columns[:STRONGEST_COLUMNS]:
        summary = column["shap"]
        if summary is not None and summary["direction"] in ("up", "down"):
            yield sentence(f"direction_{summary['direction']}", name=column["column"])


def pair_phrases(pairs: Sequence[Json]) -> list[LocalizedText]:
    """Return a phrase for each of the most strongly associated pairs of columns."""
    return [
        sentence("pair", first=pair["first"], second=pair["second"], strength=pair["association"])
        for pair in pairs[:STRONGEST_COLUMNS]
    ]


def table_sentences(profile: Json, target: Json | None) -> Iterator[LocalizedText]:
    """Yield sentences about the size of a table, its duplicate rows and the distribution of its target.

    `target` is the target's entry in the profile, or None if the table has no target.
    """
    yield sentence(
        "data",
        share=format_percentage(profile["missing_percentage"] / 100),
        rows=profile["rows"],
        columns=profile["columns"],
    )
    if profile["duplicate_rows"]:
        yield sentence("data_duplicates", rows=profile["duplicate_rows"])
    if target is not None and target["summary"]:
        yield from _target_sentences(profile, target)


def _target_sentences(profile: Json, target: Json) -> Iterator[LocalizedText]:
    """Yield a sentence about the target column: its most frequent class, or the range of its numbers.

    `target` is the entry of the column in the profile. A target of another kind, such as dates, gets no sentence.
    """
    summary = target["summary"]

    if summary.get("top"):
        most_frequent = summary["top"][0]
        share_with_target = 1 - target["missing_percentage"] / 100
        rows_with_target = max(1.0, profile["rows"] * share_with_target)  # Rounding could make the product less than 1.
        yield sentence(
            "data_classes",
            target=target["name"],
            classes=target["distinct"],
            name=most_frequent["value"],
            share=format_percentage(most_frequent["rows"] / rows_with_target),
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
    pairs: Sequence[Json], associations_with_target: Sequence[Json], target: str | None
) -> Iterator[LocalizedText]:
    """Yield sentences about the strongest association and the columns associated with the target.

    `pairs` holds pairs of associated columns, and `associations_with_target` the columns associated with the target. In
    both, the strongest association comes first. Associations that would be displayed as 0 are not mentioned.
    """
    if pairs:
        strongest_pair = pairs[0]
        yield sentence(
            "data_pair",
            first=strongest_pair["first"],
            second=strongest_pair["second"],
            strength=strongest_pair["association"],
        )

    names = [
        sentence("named_strength", name=column["column"], strength=column["association"])
        for column in associations_with_target[:STRONGEST_COLUMNS]
        if column["association"] >= SMALLEST_ASSOCIATION
    ]
    if names:
        yield sentence("data_with_target", target=target, names=names)
    elif associations_with_target:
        yield sentence("data_without_partner", target=target)


def proxy_sentences(proxies: Sequence[Json]) -> Iterator[LocalizedText]:
    """Yield warnings about proxies, which are columns that reveal a sensitive column.

    Each entry of `proxies` holds the name of a sensitive column and the columns associated with it, the strongest
    first. If no association is strong, a sentence says so.
    """
    for proxy in proxies:
        strong_columns = [column for column in proxy["columns"] if column["strong"]]
        if not strong_columns:
            yield sentence("data_no_proxy", sensitive=proxy["sensitive"])

        for column in strong_columns[:STRONGEST_COLUMNS]:
            yield sentence(
                "data_proxy",
                name=column["column"],
                sensitive=proxy["sensitive"],
                strength=column["association"],
            )
