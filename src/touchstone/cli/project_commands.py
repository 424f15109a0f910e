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
    found = session.client.page_projects(**{"page_size": 20, **page})
    title = f"Projects: {found.total_count}, page {found.page} of {found.total_pages}"
    session.show(found, table(PROJECTS, found.projects, title))


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
    made = session.client.create_project(name, **{key: value for key, value in fields.items() if value})
    session.show(made, _project_facts(made))


def profile_weights(session: Session, name: str) -> dict[str, float]:
    """The weights of a named profile, as the service knows them.

    Raises:
        typer.BadParameter: it knows none of this name.
    """
    known = {one["name"]: one["weights"] for one in session.client.get_criteria()["profiles"]}
    if name not in known:
        raise typer.BadParameter(f"{name!r} is not a profile; known: {', '.join(known)}")
    return {one["criterion_name"]: one["weight"] for one in known[name]}


@command(project, "show")
def show(project_id: Id, *, session: Session) -> None:
    """Show a project."""
    found = session.client.get_project(project_id)
    session.show(found, _project_facts(found))


@command(project, "choose")
def choose(
    project_id: Id,
    dataset: Annotated[int, typer.Argument(help="Id of the dataset you choose.")],
    reason: Annotated[str, typer.Option(help="Why: what you would answer if asked in a year.")],
    *,
    session: Session,
) -> None:
    """Keep your choice and the reason for it."""
    kept = session.client.update_project(project_id, chosen_dataset_id=dataset, choice_reason=reason)
    session.show(kept, _project_facts(kept))


@command(project, "recommend")
def recommend(
    project_id: Id,
    limit: Annotated[int, typer.Option(help="How many places.")] = 20,
    *,
    session: Session,
) -> None:
    """Rank the catalog by a project's filters and weights."""
    found = session.client.get_recommendations(project_id, limit=limit)
    title = f"{found.project.name}: {found.total_count} datasets match"
    session.show(found, table((*PLACES, *COMPOSITES), found.datasets, title))


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
