"""Options as rows of tables: a command takes whole groups of them, and gets each group as one value."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

Build = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Flag:
    """One option.

    Attributes:
        name: of the value in its group; spelled with dashes on the command line.
        kind: type of one value.
        help: one sentence.
        many: may be repeated.
        spelling: when it is not simply `--name`.
        needed: must be given.
    """

    name: str
    kind: type
    help: str
    many: bool = False
    spelling: str | None = None
    needed: bool = False

    def parameter(self, panel: str | None) -> inspect.Parameter:
        """Return the option as a parameter that typer understands; its default is None."""
        spelled = self.spelling or "--" + self.name.replace("_", "-")
        metavar = None if self.kind is bool else self.kind.__name__.upper()
        option = typer.Option(
            *spelled.split(), help=self.help, metavar=metavar, rich_help_panel=panel, show_default=False
        )
        kind: Any = list[self.kind] if self.many else self.kind  # type: ignore[name-defined]
        default = inspect.Parameter.empty if self.needed else None
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[kind if self.needed else kind | None, option],
            default=default,
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Options that belong together; `build` makes one value of those that were given."""

    flags: tuple[Flag, ...]
    build: Build = dict
    panel: str | None = None

    def take(self, given: dict[str, Any]) -> Any:
        """Take this group's options out of all that were given, and make its value.

        Raises:
            typer.BadParameter: they do not fit together.
        """
        values = {flag.name: given.pop(flag.name) for flag in self.flags}
        return self.build({name: value for name, value in values.items() if value not in (None, [])})


def with_groups(function: Callable[..., Any], groups: Mapping[str, Group]) -> Callable[..., Any]:
    """Return the function with each parameter named in `groups` replaced by the options of that group."""
    plain_parameters = [
        parameter for parameter in inspect.signature(function).parameters.values() if parameter.name not in groups
    ]
    group_options = [flag.parameter(group.panel) for group in groups.values() for flag in group.flags]

    @functools.wraps(function)
    def command(**given: Any) -> Any:
        values = {name: group.take(given) for name, group in groups.items()}
        return function(**given, **values)

    keywords = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in plain_parameters]
    command.__signature__ = inspect.Signature([*keywords, *group_options])  # type: ignore[attr-defined]
    command.__annotations__ = {}
    return command


def pairs(given: list[str], what: str) -> dict[str, str]:
    """`name=value` texts as a mapping.

    Raises:
        typer.BadParameter: one has no `=`.
    """
    values = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{text!r} is not {what}=value")
        values[name.strip()] = value.strip()
    return values


PAGE: Final = Group((Flag("page", int, "Which page."), Flag("page_size", int, "How many on a page.")), panel="Page")
