"""`touchstone project`."""

from typing import Annotated, Any, Final

import typer

from touchstone.cli.catalog_commands import COMPOSITES, PLACES
from touchstone.cli.command_context import Session
from touchstone.cli.command_runner import command
from touchstone.cli.filter_options import FILTERS, WEIGHTS
from touchstone.cli.option_groups import PAGE
from touchstone.cli.tables import Column, facts, shown, table
from touchstone.client import Project

project = typer.Typer(help="Your projects: a need, its weights, and the choice you made.", no_args_is_help=True)

PROJECTS: Final = (
    Column[Project]("Id", lambda one: one.id, is_key=True),
    Column[Project]("Name", lambda one: one.name),
    Column[Project]("Chosen dataset", lambda one: one.chosen_dataset_id and str(one.chosen_dataset_id)),
    Column[Project]("Changed", lambda one: one.updated_at),
)
Id = Annotated[str, typer.Argument(help="Id of the project.")]


@command(project, "list", page=PAGE)
def list_projects(*, session: Session, page: dict[str, Any]) -> None:
    """List your projects, newest change first."""
    page_of_projects = session.client.page_projects(**{"page_size": 20, **page})
    title = f"Projects: {page_of_projects.total_count}, page {page_of_projects.page} of {page_of_projects.total_pages}"
    session.show(page_of_projects, table(PROJECTS, page_of_projects.projects, title))


@command(project, "create", filters=FILTERS, weights=WEIGHTS)
def create(
    name: Annotated[str, typer.Argument(help="Its name.")],
    description: Annotated[str | None, typer.Option(help="What you need the data for.")] = None,
    *,
    session: Session,
    filters: dict[str, Any],
    weights: Any,
) -> None:
    """Begin a project with the filters and weights that describe your need."""
    if isinstance(weights, str):
        weights = profile_weights(session, weights)
    fields = {"description": description, "criteria": filters, "weights": weights}
    record = session.client.create_project(name, **{key: value for key, value in fields.items() if value})
    session.show(record, _project_facts(record))


def profile_weights(session: Session, name: str) -> dict[str, float]:
    """Return the weights of a profile, which the service defines.

    Raises:
        typer.BadParameter: it knows none of this name.
    """
    profiles = {item["name"]: item["weights"] for item in session.client.get_criteria()["profiles"]}
    if name not in profiles:
        raise typer.BadParameter(f"{name!r} is not a profile; known: {', '.join(profiles)}")
    return {item["criterion_name"]: item["weight"] for item in profiles[name]}


@command(project, "show")
def show(project_id: Id, *, session: Session) -> None:
    """Show a project."""
    record = session.client.get_project(project_id)
    session.show(record, _project_facts(record))


@command(project, "choose")
def choose(
    project_id: Id,
    dataset: Annotated[int, typer.Argument(help="Id of the dataset you choose.")],
    reason: Annotated[str, typer.Option(help="Why: what you would answer if asked in a year.")],
    *,
    session: Session,
) -> None:
    """Keep your choice and the reason for it."""
    updated = session.client.update_project(project_id, chosen_dataset_id=dataset, choice_reason=reason)
    session.show(updated, _project_facts(updated))


@command(project, "recommend")
def recommend(
    project_id: Id,
    limit: Annotated[int, typer.Option(help="How many places.")] = 20,
    *,
    session: Session,
) -> None:
    """Rank the catalog by a project's filters and weights."""
    recommendations = session.client.get_recommendations(project_id, limit=limit)
    title = f"{recommendations.project.name}: {recommendations.total_count} datasets match"
    session.show(recommendations, table((*PLACES, *COMPOSITES), recommendations.datasets, title))


@command(project, "delete")
def delete(project_id: Id, *, session: Session) -> None:
    """Delete a project."""
    session.client.delete_project(project_id)
    session.show(None, f"Project {project_id} is deleted.")


def _project_facts(one: Project) -> Any:
    weights = ", ".join(f"{weight.criterion_name} {weight.weight:g}" for weight in one.weights)
    pairs = {
        "Id": one.id,
        "Need": one.description,
        "Filters": ", ".join(f"{name}={shown(value)}" for name, value in one.criteria.items()),
        "Weights": weights,
        "Chosen dataset": one.chosen_dataset_id and str(one.chosen_dataset_id),
        "Reason": one.choice_reason,
        "Changed": one.updated_at,
    }
    return facts(pairs, one.name)


def register(app: typer.Typer) -> None:
    """Put `project` into the main application."""
    app.add_typer(project, name="project")
