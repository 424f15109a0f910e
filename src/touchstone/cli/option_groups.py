"""Groups of command-line options, each of which a command receives as a single value."""

import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

DEFAULT_PAGE_SIZE: Final = 20


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option.

    Attributes:
        name: the name of the option in its group, with underscores.
        value_type: the type of a single value.
        help: one sentence for the help text.
        is_repeatable: whether the option may be given several times; its values are then collected in a list.
        flags: the flags of the option, separated by spaces, or None for its name with dashes, such as `--test-size`.
        is_required: whether the option must be given.
    """

    name: str
    value_type: type
    help: str
    is_repeatable: bool = False
    flags: str | None = None
    is_required: bool = False

    def to_parameter(self, help_panel: str | None) -> inspect.Parameter:
        """Convert the option to a function parameter, which Typer reads from the signature of a command.

        The default of an optional one is None. `help_panel` is the heading of the group in the help text.
        """
        dashed_name = self.name.replace("_", "-")
        flags = self.flags or f"--{dashed_name}"
        placeholder = None if self.value_type is bool else self.value_type.__name__.upper()
        typer_option = typer.Option(
            *flags.split(), help=self.help, metavar=placeholder, rich_help_panel=help_panel, show_default=False
        )

        annotation: Any = self.value_type
        if self.is_repeatable:
            annotation = list[annotation]

        default: Any = inspect.Parameter.empty
        if not self.is_required:
            annotation = annotation | None
            default = None

        return inspect.Parameter(
            self.name,
            kind=inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=Annotated[annotation, typer_option],
        )


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """A group of options that a command receives as a single value.

    Attributes:
        options: the options, in the order of the help text.
        build: a function that converts the given options, by name, to the value of the group. It raises
            `typer.BadParameter` if they cannot be combined.
        help_panel: the heading of the group in the help text.
    """

    options: tuple[Option, ...]
    build: Callable[[dict[str, Any]], Any] = dict
    help_panel: str | None = None

    def to_parameters(self) -> list[inspect.Parameter]:
        """Convert the options to function parameters for Typer."""
        return [option.to_parameter(self.help_panel) for option in self.options]

    def build_value(self, arguments: Mapping[str, Any]) -> Any:
        """Return the value of the group for the arguments that Typer passes to a command.

        Typer passes None, or an empty list, for options that were not given; `build` does not receive these.

        Raises:
            typer.BadParameter: a number is not finite, or `build` refuses the options.
        """
        given_options = {}
        for option in self.options:
            value = arguments[option.name]
            if isinstance(value, float):
                check_is_finite(value)
            if value not in (None, []):
                given_options[option.name] = value
        return self.build(given_options)


def with_option_groups(function: Callable[..., Any], groups: Mapping[str, OptionGroup]) -> Callable[..., Any]:
    """Return a command for Typer that passes the options of each group to `function` as a single argument.

    For example, the options `--page` and `--page-size` of a group `page` become the argument `page` of `function`.
    Typer reads options from the signature of a command, so the signature of the result contains all of them.
    """
    ordinary_parameters = _ordinary_parameters(function, groups)
    option_parameters: list[inspect.Parameter] = []
    for group in groups.values():
        option_parameters += group.to_parameters()

    @functools.wraps(function)
    def command(**arguments: Any) -> Any:
        function_arguments = {parameter.name: arguments[parameter.name] for parameter in ordinary_parameters}
        for group_name, group in groups.items():
            function_arguments[group_name] = group.build_value(arguments)
        return function(**function_arguments)

    command.__signature__ = inspect.Signature([*ordinary_parameters, *option_parameters])  # type: ignore[attr-defined]
    # Typer would prefer the annotations of `function` to the signature.
    command.__annotations__ = {}
    return command


def _ordinary_parameters(function: Callable[..., Any], groups: Mapping[str, OptionGroup]) -> list[inspect.Parameter]:
    """Return the parameters of a function except for option groups, as keyword-only parameters."""
    parameters = inspect.signature(function).parameters.values()
    return [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in parameters
        if parameter.name not in groups
    ]


def parse_assignments(assignments: list[str], name_placeholder: str) -> dict[str, str]:
    """Parse assignments such as `year=0.5` to a mapping of names to values, here `{"year": "0.5"}`.

    `name_placeholder` describes the names in error messages, for example as `criterion`.

    Raises:
        typer.BadParameter: an assignment has no `=` or no name before it, or a name is given twice.
    """
    values: dict[str, str] = {}
    for assignment in assignments:
        name, equals_sign, value = assignment.partition("=")
        name = name.strip()
        if not equals_sign or not name:
            raise typer.BadParameter(f"{assignment!r} is not {name_placeholder}=value")
        if name in values:
            raise typer.BadParameter(f"{name_placeholder} {name!r} is given twice")
        values[name] = value.strip()
    return values


def check_is_finite(number: float) -> None:
    """Raise typer.BadParameter for an infinite number and for NaN, which JSON cannot represent."""
    if not math.isfinite(number):
        raise typer.BadParameter(f"{number} is not a finite number")


def _page_query(given_options: dict[str, Any]) -> dict[str, Any]:
    return {"page_size": DEFAULT_PAGE_SIZE, **given_options}


PAGE: Final = OptionGroup(
    (
        Option("page", int, "Which page."),
        Option("page_size", int, "How many on a page."),
    ),
    build=_page_query,
    help_panel="Page",
)
