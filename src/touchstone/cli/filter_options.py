"""The options that say which datasets, and what counts how much: derived from the table of attributes."""

from collections.abc import Iterator
from typing import Any, Final

import typer

from touchstone.cli.option_groups import Flag, Group, pairs
from touchstone.core.attributes import ATTRIBUTES, Attribute, Kind

# The interface's names of the bounds are shorter than the attributes' own.
BOUNDS: Final = {"instances_number": "instances", "features_number": "features"}
NUMBERS: Final = {Kind.INTEGER: int, Kind.PERCENTAGE: float}


def _flags_of(attribute: Attribute) -> Iterator[Flag]:
    name, label = attribute.name, attribute.label_en
    if attribute.kind is Kind.TEXT:
        yield Flag(name, str, f"{label} contains this text.", spelling="--name" if name == "dataset_name" else None)
    elif attribute.kind is Kind.WORDS:
        yield Flag(name, str, f"{label} is one of these; may be repeated.", many=True)
    elif attribute.kind is Kind.FLAG:
        dashed = name.replace("_", "-")
        yield Flag(name, bool, f"{label}: assessed as true, or as false.", spelling=f"--{dashed}/--no-{dashed}")
    else:
        short = BOUNDS.get(name, name)
        yield Flag(f"{short}_min", NUMBERS[attribute.kind], f"{label}: at least.")
        yield Flag(f"{short}_max", NUMBERS[attribute.kind], f"{label}: at most.")


FILTERS: Final = Group(
    (
        *(flag for attribute in ATTRIBUTES for flag in _flags_of(attribute)),
        Flag("ethical_score_min", float, "Ethical score: at least, 0 to 100."),
        Flag("technical_score_min", float, "Technical score: at least, 0 to 100."),
        Flag("popularity_score_min", float, "Popularity score: at least, 0 to 100."),
        Flag("file_type", str, "Type of the data file is one of these; may be repeated.", many=True),
        Flag("visibility", str, "`public` or `private`."),
    ),
    panel="Filters",
)


def _weighting(given: dict[str, Any]) -> dict[str, float] | str | None:
    weights = pairs(given.get("weight", []), "criterion")
    if weights and "profile" in given:
        raise typer.BadParameter("either --profile or --weight")
    try:
        return {name: float(value) for name, value in weights.items()} or given.get("profile")
    except ValueError as problem:
        raise typer.BadParameter(f"a weight is a number: {problem}") from None


WEIGHTS: Final = Group(
    (
        Flag("profile", str, "A named set of weights: ethical, technical, popularity or balanced (the default)."),
        Flag("weight", str, "How much a criterion counts, as CRITERION=NUMBER; may be repeated.", many=True),
    ),
    build=_weighting,
    panel="Weights",
)
SORTING: Final = Group(
    (
        Flag("sort_by", str, "Sort key, such as dataset_name, num_citations or ethical_score."),
        Flag("sort_order", str, "asc or desc.", spelling="--sort-order --order"),
    ),
    panel="Order",
)
