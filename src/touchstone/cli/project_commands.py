"""`touchstone project`: the projects of a user."""

from typing import Annotated, Any, Final

import typer
from rich.table import Table

from touchstone.cli.choice_commands import choice
from touchstone.cli.command_context import CommandContext
from touchstone.cli.command_runner import server_command
from touchstone.cli.filter_options import (
    ASSURANCE,
    ASSURANCE_OPTION,
    FILTERS,
    GATE_OPTION,
    ONLY_PASSING_OPTION,
    WEIGHTS,
    parse_gates,
)
from touchstone.cli.option_groups import PAGE, Option, OptionGroup
from touchstone.cli.ranking_tables import explain_ranking, summarize_ranking
from touchstone.cli.tables import Column, build_facts_table, build_table, digits_of, format_value
from touchstone.client import Project
from touchstone.client.evidence_models import AssuranceName
from touchstone.client.fields import GateChoice

project = typer.Typer(help="Your projects: a need, its weights, and the choice you made.", no_args_is_help=True)
project.add_typer(choice)

PROJECT_COLUMNS: Final = (
    Column[Project]("Id", lambda project: project.id, is_key=True),
    Column[Project]("Name", lambda project: project.name),
    Column[Project]("Chosen dataset", lambda project: digits_of(project.chosen_dataset_id)),
    Column[Project]("Changed", lambda project: project.updated_at),
)


def _parse_project_fields(given_options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a new project that were given as options, with all `--gate` options as `gates`."""
    fields = {name: value for name, value in given_options.items() if name != GATE_OPTION.name}
    gates = parse_gates(given_options)
    if gates:
        fields["gates"] = gates
    return fields


PROJECT_OPTIONS: Final = OptionGroup(
    (Option("description", str, "What you need the data for."), ASSURANCE_OPTION, GATE_OPTION),
    build=_parse_project_fields,
)
RECOMMEND_OPTIONS: Final = OptionGroup(
    (
        Option("explain", bool, "Show the points of each criterion, and the reason for the place of each dataset."),
        ONLY_PASSING_OPTION,
    )
)
ProjectId = Annotated[str, typer.Argument(help="Id of the project.")]


@server_command(project, "list", page=PAGE)
def list_projects(*, context: CommandContext, page: dict[str, Any]) -> None:
    """List your projects, newest change first."""
    project_page = context.client.page_projects(**page)
    title = f"Projects: {project_page.total_count}, page {project_page.page} of {project_page.total_pages}"
    context.show(project_page, build_table(PROJECT_COLUMNS, project_page.projects, title))


@server_command(project, "create", fields=PROJECT_OPTIONS, filters=FILTERS, weights=WEIGHTS)
def create(
    name: Annotated[str, typer.Argument(help="Its name.")],
    *,
    context: CommandContext,
    fields: dict[str, Any],
    filters: dict[str, Any],
    weights: dict[str, float] | str | None,
) -> None:
    """Create a project with the filters, weights and requirements that describe your need."""
    if isinstance(weights, str):
        weights = profile_weights(context, profile_name=weights)

    need: dict[str, Any] = {"criteria": filters, "weights": weights}
    given_need = {field_name: value for field_name, value in need.items() if value}

    new_project = context.client.create_project(name, **fields, **given_need)
    context.show(new_project, _project_table(new_project))


def profile_weights(context: CommandContext, profile_name: str) -> dict[str, float]:
    """Return the weights of a weight profile, by criterion.

    A project stores weights instead of the name of a profile, so that its ranking does not change with the profile.

    Raises:
        typer.BadParameter: the service has no profile of this name.
    """
    criteria = context.client.get_criteria()
    weights_by_profile = {profile["name"]: profile["weights"] for profile in criteria["profiles"]}
    if profile_name not in weights_by_profile:
        known_names = ", ".join(weights_by_profile)
        raise typer.BadParameter(f"{profile_name!r} is not a profile; known: {known_names}")

    weights = weights_by_profile[profile_name]
    return {weight["criterion_name"]: weight["weight"] for weight in weights}


@server_command(project, "show")
def show(project_id: ProjectId, *, context: CommandContext) -> None:
    """Show a project."""
    shown_project = context.client.get_project(project_id)
    context.show(shown_project, _project_table(shown_project))


@server_command(project, "choose")
def choose(
    project_id: ProjectId,
    dataset: Annotated[int, typer.Argument(help="Id of the dataset you choose.")],
    reason: Annotated[str, typer.Option(help="The reason for your choice.")],
    *,
    context: CommandContext,
) -> None:
    """Store your choice and the reason for it."""
    updated = context.client.update_project(project_id, chosen_dataset_id=dataset, choice_reason=reason)
    context.show(updated, _project_table(updated))


@server_command(project, "recommend", options=RECOMMEND_OPTIONS, assurance=ASSURANCE)
def recommend(
    project_id: ProjectId,
    limit: Annotated[int, typer.Option(help="How many datasets, best first.")] = 20,
    *,
    context: CommandContext,
    options: dict[str, Any],
    assurance: AssuranceName | None,
) -> None:
    """Rank the catalog by a project's filters and weights, and at its level of evidence unless you name another."""
    gate: GateChoice = "pass" if options.get(ONLY_PASSING_OPTION.name) else "all"
    recommendations = context.client.get_recommendations(project_id, limit=limit, assurance=assurance, gate=gate)

    title = f"{recommendations.project.name}: {recommendations.total_count} datasets match"
    present_ranking = explain_ranking if options.get("explain") else summarize_ranking
    context.show(recommendations, *present_ranking(recommendations, title))


def _chosen_dataset(project: Project) -> str | None:
    """Return the id and the name of the chosen dataset of a project, or None if none was chosen.

    If the dataset has changed or was withdrawn since then, the changes are listed in parentheses.
    """
    chosen_dataset = project.chosen_dataset
    if chosen_dataset is None:
        return digits_of(project.chosen_dataset_id)

    description = f"{chosen_dataset.id} {chosen_dataset.name}"
    if chosen_dataset.state not in ("changed", "withdrawn"):
        return description

    note = f"{chosen_dataset.state} since it was chosen"
    if chosen_dataset.changes:
        changed_fields = [change.field for change in chosen_dataset.changes]
        note += f": {', '.join(changed_fields)}"
    return f"{description} ({note})"


@server_command(project, "delete")
def delete(project_id: ProjectId, *, context: CommandContext) -> None:
    """Delete a project."""
    context.client.delete_project(project_id)
    context.show(None, f"Project {project_id} is deleted.")


def _project_table(project: Project) -> Table:
    """Return a table of a project with its need, filters, weights and chosen dataset."""
    filters = [f"{name}={format_value(value)}" for name, value in project.criteria.items()]
    weights = [f"{weight.criterion_name} {weight.weight:g}" for weight in project.weights]
    gates = [f"{name}={format_value(value)}" for name, value in project.gates.items()]
    values_by_label = {
        "Id": project.id,
        "Need": project.description,
        "Filters": ", ".join(filters),
        "Weights": ", ".join(weights),
        "Requirements": ", ".join(gates),
        "Assurance": project.assurance,
        "Chosen dataset": _chosen_dataset(project),
        "Reason": project.choice_reason,
        "Changed": project.updated_at,
    }
    return build_facts_table(values_by_label, title=project.name)


def register(app: typer.Typer) -> None:
    """Add `project` to the application."""
    app.add_typer(project, name="project")
