"""Write the reference pages in `docs/reference/` from the tables that the code itself reads.

`python tools/make_reference.py` writes them; a test compares them with what it would write.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from touchstone.core.attributes import ATTRIBUTES
from touchstone.core.environment import CLIENT_VARIABLES, PREFIX
from touchstone.core.errors import ERRORS
from touchstone.core.settings import Settings
from touchstone.jobs.states import FINAL, MOVES
from touchstone.learning.requests import ALGORITHMS, METHODS, METRICS
from touchstone.messages import MESSAGES
from touchstone.ranking.criteria import CRITERIA
from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.ranking.weight_profiles import DEFAULT_PROFILE, PROFILES
from touchstone.services.gateway.route_table import PUBLIC_ROUTES
from touchstone.services.selection.filters import FILTERS

FOLDER: Final = Path(__file__).parent.parent / "docs" / "reference"


def table(header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    """A Markdown table."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in lines) + "\n"


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def settings() -> str:
    """Every setting with its default and meaning."""
    rows = []
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, (), "") else f"`{field.default}`"
        rows.append((f"`{PREFIX}{name.upper()}`", default, field.description))
    intro = (
        "Read from the environment at the start. An unknown name or a value that does not fit stops it with one line.\n"
    )
    client = [(f"`{name}`", meaning) for name, meaning in CLIENT_VARIABLES.items()]
    return (
        f"# Settings\n\n{intro}\n"
        + table(("Variable", "Default", "Meaning"), rows)
        + "\n## Variables of the command line\n\nCommands that speak to a server read these; a server ignores them.\n\n"
        + table(("Variable", "Meaning"), client)
    )


def errors() -> str:
    """Every refusal with its status and its sentences."""
    rows = [(error.status, f"`{error.code}`", *MESSAGES[error.code], error.__doc__) for error in ERRORS]
    intro = (
        'Every refusal is `{"detail": "<one sentence>", "code": "<stable key>", "errors": [{loc, msg, type}]}`. '
        "The sentence is French, or English with `Accept-Language: en`; three are French always.\n"
    )
    return f"# Errors\n\n{intro}\n" + table(("Status", "Code", "French", "English", "When"), rows)


def attributes() -> str:
    """Every attribute of a record."""
    rows = [
        (
            f"`{a.name}`",
            a.kind.value,
            # The one number without a fixed end is the year, which may be the next one at most.
            "" if a.minimum is None else f"{a.minimum} to {'next year' if a.maximum is None else a.maximum}",
            "yes" if a.ethical else "",
            a.label_en,
        )
        for a in ATTRIBUTES
    ]
    intro = (
        "A flag is true, false (assessed, absent) or null (not assessed). Every attribute but the name may be null.\n"
    )
    return f"# Attributes of a dataset\n\n{intro}\n" + table(("Name", "Kind", "Bounds", "Ethical", "Label"), rows)


def filters() -> str:
    """Every filter of the list, the facets, the score and the projects."""
    rows = [
        (
            f"`{row.parameter.name}`",
            ", ".join(f"`{alias}`" for alias in row.parameter.aliases),
            row.parameter.type.value,
            row.parameter.description,
        )
        for row in FILTERS
    ]
    keys = ", ".join(f"`{key}`" for key in SORT_KEYS)
    intro = "The same names work in a query string, under `filters` of a score, and as the criteria of a project.\n"
    return (
        f"# Filters and sort keys\n\n{intro}\n"
        + table(("Name", "Other names", "Form", "Matches"), rows)
        + f"\n`sort_by` takes: {keys}.\n"
    )


def criteria() -> str:
    """The twelve criteria and the named profiles."""
    rows = [(f"`{c.name}`", c.kind, c.label_en, c.formula_en) for c in CRITERIA]
    profiles = [
        (
            f"`{name}`" + (" (default)" if name == DEFAULT_PROFILE else ""),
            ", ".join(f"`{criterion}` {weight}" for criterion, weight in profile.weights.items()),
        )
        for name, profile in PROFILES.items()
    ]
    intro = (
        "`score = sum of weight x criterion / sum of weights`, in float64, the terms added in this order. An unknown\n"
        "criterion counts as 0 and stays marked as unknown.\n"
    )
    return (
        f"# Criteria and profiles\n\n{intro}\n"
        + table(("Name", "Kind", "Label", "Value"), rows)
        + "\n"
        + table(("Profile", "Weights"), profiles)
    )


def routes() -> str:
    """Every public route."""
    rows = [
        (
            r.method,
            f"`{r.path}`",
            ", ".join(f"`{alias}`" for alias in r.aliases),
            "" if r.is_open else "token",
            r.backend or "gateway",
        )
        for r in PUBLIC_ROUTES
    ]
    intro = (
        "With and without a trailing slash are one route. Bodies and answers are described at `/docs` of a running "
        "service, or by `touchstone openapi`.\n"
    )
    return f"# Public routes\n\n{intro}\n" + table(("Method", "Path", "Also at", "Needs", "Answered by"), rows)


def jobs() -> str:
    """The states of a job, and what training and explanation can be asked for."""
    moves = [
        (f"`{state}`", ", ".join(f"`{to}`" for to in sorted(targets)) or "final", "yes" if state in FINAL else "")
        for state, targets in MOVES.items()
    ]
    algorithms = [(f"`{a.name}`", a.label[1], a.extra or "") for a in ALGORITHMS]
    metrics = [(f"`{m.name}`", m.label[1], m.task.value) for m in METRICS]
    methods = [(f"`{m.name}`", m.label[1], m.scope.value, "a training job" if m.needs_model else "") for m in METHODS]
    return "\n".join(
        (
            "# Jobs\n\nTraining and explanation share one contract; these tables are read by the code itself.\n",
            table(("State", "May become", "Final"), moves),
            table(("Algorithm", "Label", "Needs the extra"), algorithms),
            table(("Metric", "Label", "Task"), metrics),
            table(("Method", "Label", "Scope", "Needs"), methods),
        )
    )


PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "settings": settings,
    "errors": errors,
    "attributes": attributes,
    "filters": filters,
    "criteria": criteria,
    "routes": routes,
    "jobs": jobs,
}


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / f"{name}.md").write_text(page())


if __name__ == "__main__":
    main()
