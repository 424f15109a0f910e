"""The options for filters, which are derived from the table of attributes, and for weights and sorting."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, cast

import typer

from touchstone.cli.option_groups import Option, OptionGroup, check_is_finite, parse_assignments
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import Filters, Gates, RankingRequirements
from touchstone.core.attributes import ATTRIBUTES, Attribute, Kind
from touchstone.core.comma_lists import split_at_commas
from touchstone.core.json_decoding import parse_scalar

# The filters of the API use shorter names for these attributes.
BOUND_NAMES: Final = {"instances_number": "instances", "features_number": "features"}
NUMBER_TYPES: Final = {Kind.INTEGER: int, Kind.PERCENTAGE: float}


def _filter_options(attribute: Attribute) -> Iterator[Option]:
    """Yield the command-line options that filter datasets by one of their attributes.

    A number has two options, for its lower and its upper bound, and any other attribute has one.
    """
    name = attribute.name
    label = attribute.label_en

    if attribute.kind is Kind.TEXT:
        flags = "--name" if name == "dataset_name" else None
        yield Option(name, str, f"{label} contains this text.", flags=flags)
    elif attribute.kind is Kind.WORDS:
        yield Option(name, str, f"{label} is one of these; may be repeated.", is_repeatable=True)
    elif attribute.kind is Kind.FLAG:
        dashed_name = name.replace("_", "-")
        flags = f"--{dashed_name}/--no-{dashed_name}"
        yield Option(name, bool, f"{label}: assessed as true, or as false.", flags=flags)
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
        Option("trainable", bool, "Has a table that could be read, or not.", flags="--trainable/--no-trainable"),
        Option("file_type", str, "Type of the data file is one of these; may be repeated.", is_repeatable=True),
        Option("visibility", str, "`public` or `private`."),
    ),
    help_panel="Filters",
)


def parse_gates(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the requirements that were given as `--gate NAME=VALUE`, keyed by name.

    Several values for one name, separated by commas or given by several options, become a list. Both `--gate
    license=MIT,CC-BY-*` and `--gate license=MIT --gate license=CC-BY-*` accept either licence.

    Raises:
        typer.BadParameter: a value has no `=`, or no name before it.
    """
    values_by_name: dict[str, list[Any]] = {}
    for assignment in given_options.get("gate", []):
        # Assignments are parsed one at a time, because a name may be repeated.
        [(name, text)] = parse_assignments([assignment], name_placeholder="requirement").items()
        values = [parse_scalar(item) for item in split_at_commas(text)]
        values_by_name.setdefault(name, []).extend(values)

    gates = {}
    for name, values in values_by_name.items():
        gates[name] = values[0] if len(values) == 1 else values
    return gates


GATE_OPTION: Final = Option(
    "gate",
    str,
    "A requirement that does not affect the score, as NAME=VALUE: the level at which an attribute must be true "
    "(informed_consent=reviewed), a licence (license=CC-BY-*), a bound (instances_min=1000); may be repeated.",
    is_repeatable=True,
)
GATES: Final = OptionGroup((GATE_OPTION,), build=parse_gates, help_panel="Requirements")
ONLY_PASSING_OPTION: Final = Option(
    "only_passing", bool, "Leave out datasets that do not pass every requirement (--gate)."
)


def _parse_weights(given_options: dict[str, Any]) -> dict[str, float] | str | None:
    """Return the weights from `--weight CRITERION=NUMBER` as a mapping, or the weight profile from `--profile`.

    The result is None without either option.

    Raises:
        typer.BadParameter: both options were given, or a weight is not a finite number.
    """
    profile: str | None = given_options.get("profile")
    assignments = given_options.get("weight", [])
    weight_strings = parse_assignments(assignments, name_placeholder="criterion")
    if not weight_strings:
        return profile
    if profile is not None:
        raise typer.BadParameter("either --profile or --weight")

    try:
        weights = {criterion: float(weight) for criterion, weight in weight_strings.items()}
    except ValueError as error:
        raise typer.BadParameter(f"a weight is a number: {error}") from None

    for weight in weights.values():
        check_is_finite(weight)
    return weights


WEIGHTS: Final = OptionGroup(
    (
        Option("profile", str, "A named set of weights: ethical, technical, popularity or balanced (the default)."),
        Option("weight", str, "The weight of a criterion, as CRITERION=NUMBER; may be repeated.", is_repeatable=True),
    ),
    build=_parse_weights,
    help_panel="Weights",
)
SORTING: Final = OptionGroup(
    (
        Option("sort_by", str, "Sort key, such as dataset_name, num_citations, ethical_score or relevance."),
        Option("sort_order", str, "asc or desc.", flags="--sort-order --order"),
    ),
    help_panel="Order",
)


def _parse_assurance(given_options: dict[str, Any]) -> AssuranceName | None:
    """Return the level of evidence from `--assurance`, or None without this option.

    The service refuses levels that do not exist.
    """
    return cast(AssuranceName | None, given_options.get("assurance"))


ASSURANCE_OPTION: Final = Option(
    "assurance", str, "The weakest evidence that counts: declared (the default), documented or reviewed."
)
ASSURANCE: Final = OptionGroup((ASSURANCE_OPTION,), build=_parse_assurance, help_panel="Evidence")


@dataclass(frozen=True, slots=True)
class RankingOptions:
    """The filters, weights and requirements that describe a ranking.

    Attributes:
        weights: the weights by criterion, or the name of a weight profile, or None for the default profile.
        requirements: the weakest level of evidence that counts, and the gates.
    """

    filters: Filters
    weights: dict[str, float] | str | None
    requirements: RankingRequirements


def _parse_ranking_options(given_options: dict[str, Any]) -> RankingOptions:
    """Convert the options of a command into the filters, weights and requirements of a ranking.

    Raises:
        typer.BadParameter: both weights and a profile were given, a weight is not a number, or a gate has no value.
    """
    filter_names = {option.name for option in FILTERS.options}
    filters = {name: value for name, value in given_options.items() if name in filter_names}

    only_passing = bool(given_options.get(ONLY_PASSING_OPTION.name))
    requirements = RankingRequirements(
        assurance=_parse_assurance(given_options),
        gates=cast(Gates, parse_gates(given_options)),
        gate="pass" if only_passing else "all",
    )

    return RankingOptions(cast(Filters, filters), _parse_weights(given_options), requirements)


RANKING: Final = OptionGroup(
    (*FILTERS.options, *WEIGHTS.options, ASSURANCE_OPTION, GATE_OPTION, ONLY_PASSING_OPTION),
    build=_parse_ranking_options,
    help_panel="Ranking",
)
