"""The options for filters, weights and order; those for filters are derived from the table of attributes."""

from collections.abc import Iterator
from typing import Any, Final

import typer

from touchstone.cli.option_groups import Option, OptionGroup, parse_assignments
from touchstone.core.attributes import ATTRIBUTES, Attribute, Kind

# The filters of the API have shorter names for these attributes.
BOUND_NAMES: Final = {"instances_number": "instances", "features_number": "features"}
NUMBER_TYPES: Final = {Kind.INTEGER: int, Kind.PERCENTAGE: float}


def _filter_options(attribute: Attribute) -> Iterator[Option]:
    """Yield the command-line options that filter datasets by one of their attributes.

    A number has two options, for its lower and its upper bound; all other attributes have one.
    """
    name = attribute.name
    label = attribute.label_en

    if attribute.kind is Kind.TEXT:
        spelling = "--name" if name == "dataset_name" else None
        yield Option(name, str, f"{label} contains this text.", spelling=spelling)
    elif attribute.kind is Kind.WORDS:
        yield Option(name, str, f"{label} is one of these; may be repeated.", is_repeatable=True)
    elif attribute.kind is Kind.FLAG:
        dashed_name = name.replace("_", "-")
        spelling = f"--{dashed_name}/--no-{dashed_name}"
        yield Option(name, bool, f"{label}: assessed as true, or as false.", spelling=spelling)
    else:
        bound_name = BOUND_NAMES.get(name, name)
        number_type = NUMBER_TYPES[attribute.kind]
        yield Option(f"{bound_name}_min", number_type, f"{label}: at least.")
        yield Option(f"{bound_name}_max", number_type, f"{label}: at most.")


FILTERS: Final = OptionGroup(
    (
        *(option for attribute in ATTRIBUTES for option in _filter_options(attribute)),
        Option("ethical_score_min", float, "Ethical score: at least, 0 to 100."),
        Option("technical_score_min", float, "Technical score: at least, 0 to 100."),
        Option("popularity_score_min", float, "Popularity score: at least, 0 to 100."),
        Option("q", str, "These words are in the name, objective, description, tags, domain or task."),
        Option("license", str, "Licence, such as MIT, CC-BY-* or unknown; may be repeated.", is_repeatable=True),
        Option("language", str, "Language is one of these; may be repeated.", is_repeatable=True),
        Option("source", str, "Source is one of these; may be repeated.", is_repeatable=True),
        Option("trainable", bool, "Has a table that could be read, or not.", spelling="--trainable/--no-trainable"),
        Option("file_type", str, "Type of the data file is one of these; may be repeated.", is_repeatable=True),
        Option("visibility", str, "`public` or `private`."),
    ),
    help_panel="Filters",
)


def _parse_weights(given_options: dict[str, Any]) -> dict[str, float] | str | None:
    """Return the weights that the options `--weight CRITERION=NUMBER` set, or the profile that `--profile` names.

    Weights are returned as a mapping of criteria to numbers, a profile as its name. Without these options the result
    is None.

    Raises:
        typer.BadParameter: Both options were given, or a weight is not a number.
    """
    profile: str | None = given_options.get("profile")
    assignments = given_options.get("weight", [])
    weights_as_text = parse_assignments(assignments, name_placeholder="criterion")
    if not weights_as_text:
        return profile
    if profile is not None:
        raise typer.BadParameter("either --profile or --weight")

    try:
        return {criterion: float(weight) for criterion, weight in weights_as_text.items()}
    except ValueError as error:
        raise typer.BadParameter(f"a weight is a number: {error}") from None


WEIGHTS: Final = OptionGroup(
    (
        Option("profile", str, "A named set of weights: ethical, technical, popularity or balanced (the default)."),
        Option("weight", str, "How much a criterion counts, as CRITERION=NUMBER; may be repeated.", is_repeatable=True),
    ),
    build=_parse_weights,
    help_panel="Weights",
)
SORTING: Final = OptionGroup(
    (
        Option("sort_by", str, "Sort key, such as dataset_name, num_citations, ethical_score or relevance."),
        Option("sort_order", str, "asc or desc.", spelling="--sort-order --order"),
    ),
    help_panel="Order",
)


def _assurance(given_options: dict[str, Any]) -> str | None:
    """Return the level of evidence that the option `--assurance` names; None without the option."""
    assurance: str | None = given_options.get("assurance")
    return assurance


ASSURANCE_OPTION: Final = Option(
    "assurance", str, "The weakest evidence that counts: declared (the default), documented or reviewed."
)
ASSURANCE: Final = OptionGroup((ASSURANCE_OPTION,), build=_assurance, help_panel="Evidence")
