"""The client against the whole service: the service understands everything that the client sends."""

import contextlib
import io
from collections.abc import AsyncIterator
from typing import Any, get_args, get_type_hints
from uuid import uuid4

import pytest
from PIL import Image

from tests.serving import Service
from touchstone.client import (
    AsyncTouchstone,
    Identity,
    InProcess,
    TouchstoneError,
    account_calls,
    bulk_calls,
    catalog_calls,
    choice_calls,
    comparison_calls,
    document_calls,
    evidence_calls,
    export_calls,
    external_sign_in_calls,
    import_calls,
    job_calls,
    reason_calls,
    record_of,
)
from touchstone.client.document_calls import ExportFormat
from touchstone.client.fields import Filters
from touchstone.database.engine import Database
from touchstone.metadata.writers.formats import FORMATS
from touchstone.services.gateway.accounts import create_user
from touchstone.services.gateway.public_routes import PUBLIC_ROUTES

pytestmark = pytest.mark.anyio
PASSWORD = "correct horse battery"
CSV = b"age,city,income\n" + b"".join(b"%d,%s,%d\n" % (20 + n % 40, b"ab"[n % 2 : n % 2 + 1], n % 2) for n in range(60))


@pytest.fixture
async def guest(service: Service) -> AsyncIterator[AsyncTouchstone]:
    async with AsyncTouchstone("http://touchstone", transport=InProcess(service.app), locale="en") as client:
        yield client


async def sign_up(guest: AsyncTouchstone) -> AsyncTouchstone:
    email = f"{uuid4().hex}@example.org"
    await guest.register(email, PASSWORD, pseudo="p")
    client = guest.with_identity(Identity(locale="en"))
    await client.login(email, PASSWORD)
    return client


@pytest.fixture
async def client(guest: AsyncTouchstone) -> AsyncTouchstone:
    return await sign_up(guest)


async def test_a_record_is_created_found_changed_and_deleted(client: AsyncTouchstone) -> None:
    """A record is created, found in every way, changed only in the version that was read, and deleted."""
    record = await client.create_dataset("Écoles", "Open data", year=2020, domain=["a,b", "c"], is_split=False)
    assert (record.name, record.is_split, record.transparency, record.domain) == ("Écoles", False, None, ["a,b", "c"])
    for records in (
        await client.list_datasets(dataset_name="ecoles", domain=["a,b"], year_min=2020),
        (await client.page_datasets(page_size=1, is_split=False, dataset_name="ecoles")).datasets,
        await client.search_datasets(name_contains="ECOLES"),
        [item async for item in client.iterate_datasets(dataset_name="ecoles", page_size=1)],
    ):
        assert [item.id for item in records] == [record.id]
    stored_record = await client.get_dataset(record.dataset_id)
    changed_record = await client.update_dataset(record.id, etag=stored_record.etag, transparency=True, year=None)
    assert (changed_record.transparency, changed_record.year) == (True, None)
    with pytest.raises(TouchstoneError) as problem:
        await client.update_dataset(record.id, etag=stored_record.etag, year=1999)
    assert problem.value.code == "precondition_failed"
    await client.delete_dataset(record.id)
    with pytest.raises(TouchstoneError) as problem:
        await client.get_dataset(record.id)
    assert (problem.value.status, problem.value.code) == (404, "dataset_not_found")


async def test_a_record_is_exported_in_each_format_of_the_service(client: AsyncTouchstone) -> None:
    """The formats that the client names are those of the service."""
    record = await client.create_dataset("Écoles", "Open data")
    assert set(get_args(ExportFormat)) == set(FORMATS)

    for format_name, export_format in FORMATS.items():
        file = await client.export_dataset(record.id, format_name)  # type: ignore[arg-type]
        assert (file.name, file.media_type) == (f"ecoles{export_format.suffix}", export_format.media_type)
        assert "Écoles" in file.content.decode()


async def test_iterating_reads_what_a_long_page_leaves_out(client: AsyncTouchstone) -> None:
    """Iterating reads the metadata that do not fit into the 4 MiB of a page, so none are lost."""
    note = {"note": "x" * 65_000}
    datasets = [await client.create_dataset(f"n{number}", metadata=note) for number in range(66)]
    page = await client.page_datasets(page_size=100)
    omitted = [dataset.id for dataset in page.datasets if dataset.metadata_omitted]
    assert [dataset.id for dataset in page.datasets] == [dataset.id for dataset in datasets]
    assert 0 < len(omitted) < 5
    assert all(dataset.metadata == (None if dataset.id in omitted else note) for dataset in page.datasets)
    iterated_datasets = [dataset async for dataset in client.iterate_datasets(page_size=100)]
    assert [(dataset.id, dataset.metadata) for dataset in iterated_datasets] == [
        (dataset.id, note) for dataset in datasets
    ]


async def test_rankings_explain_themselves(client: AsyncTouchstone) -> None:
    """Points add up to the score and weights to one, and a profile is identified by its name."""
    for name, year in (("old", 2000), ("new", 2024)):
        await client.create_dataset(name, objective="ranked", year=year, transparency=True)
    ranking = await client.score_datasets({"objective": "ranked"}, weights={"year": 3, "transparency": 1}, explain=True)
    assert [item.dataset_name for item in ranking.datasets] == ["new", "old"]
    assert [item.rank for item in ranking.datasets] == [1, 2]
    assert sum(weight.weight for weight in ranking.effective_weights) == pytest.approx(1)
    first = ranking.datasets[0]
    assert first.points is not None
    assert sum(first.points.values()) == pytest.approx(first.score)
    assert (await client.score_datasets(weights="ethical", limit=1)).profile == "ethical"
    with pytest.raises(TouchstoneError) as problem:
        await client.score_datasets(weights={"yeer": 1})
    assert problem.value.status == 422


async def test_weights_of_a_project_are_weights_of_a_ranking(client: AsyncTouchstone) -> None:
    """The weights of an answer can be sent again as they are, in a ranking and in another project."""
    weights = {"year": 3.0, "transparency": 1.0}
    project = await client.create_project("Need", weights=weights)
    ranking = await client.score_datasets(weights=project.weights, limit=1)
    assert {item.criterion_name: item.weight for item in ranking.effective_weights} == {
        "year": 0.75,
        "transparency": 0.25,
    }
    copy = await client.create_project("The same need", weights=ranking.effective_weights)
    assert copy.weights == ranking.effective_weights


async def test_weights_may_be_written_as_in_the_api(client: AsyncTouchstone) -> None:
    """A list of weights from a request with curl works in the client, too."""
    ranking = await client.score_datasets(weights=[{"criterion_name": "year", "weight": 2}], limit=1)
    assert [(item.criterion_name, item.weight) for item in ranking.effective_weights] == [("year", 1.0)]


async def test_every_filter_of_the_client_is_one_of_the_service(client: AsyncTouchstone) -> None:
    """The client offers exactly the filters of the service."""
    values: dict[Any, Any] = {int: 1, float: 1.0, bool: True, str: "x"}
    filters = {name: next(values[k] for k in get_args(hint) if k in values) for name, hint in filter_hints().items()}
    await client.list_datasets(**filters)
    await client.get_facets(**filters)
    await client.score_datasets(filters)  # type: ignore[arg-type]
    with pytest.raises(TouchstoneError) as problem:
        await client.list_datasets(**{"no such filter": 1})  # type: ignore[arg-type]
    assert problem.value.code == "unknown_name"


def filter_hints() -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(Filters).items() if name != "visibility"}


async def test_facets_and_criteria_are_tables(client: AsyncTouchstone) -> None:
    """Facets count the records that match the filters; the criteria come with profiles and sort keys."""
    await client.create_dataset("x", objective="faceted", domain=["law"])
    facets = await client.get_facets(objective="faceted")
    assert facets["values"]["domain"] == [{"value": "law", "count": 1}]
    tables = await client.get_criteria()
    assert len(tables["criteria"]) == 12
    assert {"profiles", "sort_keys"} <= set(tables)


async def test_projects_keep_a_choice(client: AsyncTouchstone) -> None:
    """A project stores criteria and weights, gives recommendations, and stores the choice with its reason."""
    dataset = await client.create_dataset("chosen", objective="for a project", transparency=True)
    project = await client.create_project(
        "Need", description="why", criteria={"objective": "for a project"}, weights={"transparency": 1}
    )
    ranking = await client.get_recommendations(project.id, limit=1)
    assert (ranking.project.id, ranking.total_count, ranking.datasets[0].id) == (project.id, 1, dataset.id)
    etag = (await client.get_project(project.id)).etag
    project = await client.update_project(
        project.id, etag=etag, chosen_dataset_id=dataset.id, choice_reason="documented"
    )
    assert (project.chosen_dataset_id, project.choice_reason, project.description) == (dataset.id, "documented", "why")
    assert [item.id for item in await client.list_projects()] == [project.id]
    assert (await client.page_projects()).total_count == 1
    await client.delete_project(project.id)
    with pytest.raises(TouchstoneError) as problem:
        await client.get_project(project.id)
    assert problem.value.detail == "Projet non trouvé"


async def test_files_are_uploaded_for_a_record(client: AsyncTouchstone) -> None:
    """An uploaded table is measured when a record refers to it."""
    upload = await client.upload_file(CSV, "people.csv")
    assert (upload.file_type, upload.bytes) == ("csv", len(CSV))
    dataset = await client.create_dataset("mine", file_path=upload.file_path, file_type="csv", visibility="private")
    assert (dataset.instances_number, dataset.visibility) == (60, "private")
    uploads = await client.list_files()
    assert ([file.id for file in uploads.files], uploads.used_bytes) == ([upload.id], len(CSV))
    await client.delete_file(upload.id)
    assert (await client.list_files()).files == []


async def test_an_account_is_its_owners(client: AsyncTouchstone, guest: AsyncTouchstone) -> None:
    """Users manage their profile, picture, sessions and password; a new password ends all sessions."""
    me = await client.update_me(given_name="Ada", locale="en")
    assert (me.given_name, me.locale, me.pseudo) == ("Ada", "en", "p")
    picture = io.BytesIO()
    Image.new("RGB", (8, 8), "teal").save(picture, "PNG")
    await client.set_picture(picture.getvalue())
    assert (await client.get_me()).picture is not None
    assert len(await client.get_picture()) > 0
    await client.delete_picture()
    other_client = guest.with_identity(Identity())
    await other_client.login(me.email, PASSWORD)
    sessions = await client.list_sessions()
    assert sorted(session.current for session in sessions) == [False, True]
    await client.delete_session(next(session.id for session in sessions if not session.current))
    with pytest.raises(TouchstoneError, match="401"):
        await other_client.get_me()
    await client.change_password(PASSWORD, PASSWORD + "!")
    with pytest.raises(TouchstoneError, match="401"):
        await client.get_me()


async def test_tokens_are_renewed_by_themselves(client: AsyncTouchstone) -> None:
    """A call with an expired token renews it and succeeds; after signing out, there is none to renew."""
    client.identity.token = "expired"
    me = await client.get_me()
    assert client.identity.token not in (None, "expired")
    second_client = client.with_identity(Identity(client.identity.token))
    await client.logout()
    for signed_out_client in (client, second_client):
        with pytest.raises(TouchstoneError) as problem:
            await signed_out_client.get_me()
        assert (problem.value.status, problem.value.code) == (401, "unauthorized")
    assert me.pseudo == "p"


async def test_administrators_manage_accounts(
    client: AsyncTouchstone, guest: AsyncTouchstone, service: Service
) -> None:
    """An administrator lists users, deactivates one, and issues a token for a new password."""
    async with open_database(service) as database:
        await create_user(database, email="root@example.org", password=PASSWORD, is_superuser=True)
    administrator = guest.with_identity(Identity())
    await administrator.login("root@example.org", PASSWORD)
    me = await client.get_me()
    assert me.id in {user.id for user in (await administrator.page_users(page_size=100)).users}
    token = (await administrator.reset_user(me.id)).token
    await guest.reset_password(token, PASSWORD + "?")
    await client.login(me.email, PASSWORD + "?")
    assert not (await administrator.update_user(me.id, is_active=False)).is_active
    with pytest.raises(TouchstoneError, match="401"):
        await client.get_me()


@contextlib.asynccontextmanager
async def open_database(service: Service) -> AsyncIterator[Any]:
    database = Database(service.settings.effective_database_url)
    yield database
    await database.close()


async def test_records_move_between_catalogs(client: AsyncTouchstone) -> None:
    """Records that are exported from one catalog are imported into another, with all values of their creator."""
    original = await client.create_dataset(
        "moved", "d", objective="=1+1", domain=["a"], year=2001, transparency=False, metadata={"tags": ["x"]}
    )
    fields = {name: value for name, value in record_of(original).items() if value is not None}
    copy = await client.create_dataset(**fields)
    assert record_of(copy) == record_of(original)


async def test_everything_that_matches_is_exported(client: AsyncTouchstone) -> None:
    """An export has the records of the list, in its order and with their metadata, and can be saved as a file."""
    name = uuid4().hex
    for year in (2003, 2001, 2002):
        await client.create_dataset(f"{name} {year}", year=year, metadata={"notes": "x" * 100})

    listed_records = await client.list_datasets(dataset_name=name, sort_by="year", sort_order="desc")
    exported_records = [
        record async for record in client.export_records(dataset_name=name, sort_by="year", sort_order="desc")
    ]
    assert exported_records == listed_records
    assert [record.year for record in exported_records] == [2003, 2002, 2001]

    file = io.BytesIO()
    assert await client.export_to_file(file, dataset_name=name) == len(file.getvalue())
    assert file.getvalue().startswith(b"PAR1")


async def test_the_client_reaches_every_public_route() -> None:
    """Every documented public route has a call, except the health route for orchestrators."""
    routes_with_call = {(call.method, call.path) for call in every_call()}
    routes = {
        (route.method, route.path.format_map(Placeholders()))
        for route in PUBLIC_ROUTES
        if route.is_documented and "live" not in route.path
    }
    assert routes - routes_with_call == set()


async def test_a_choice_is_kept_frozen_and_replayed(client: AsyncTouchstone) -> None:
    """The history, the state of the chosen dataset, snapshots and replays have the types that the client promises."""
    first, second = await client.create_dataset("A", year=2010), await client.create_dataset("B", year=2020)
    project = await client.create_project("P", criteria={"dataset_name": "A"})
    project = await client.update_project(project.id, chosen_dataset_id=first.id, choice_reason="r")
    assert project.chosen_dataset is not None
    assert (project.chosen_dataset.state, project.chosen_dataset.name) == ("unchanged", "A")
    snapshot = await client.create_snapshot(project.id, note="n", limit=5)
    await client.update_project(project.id, chosen_dataset_id=second.id, choice_reason="s")
    await client.update_dataset(first.id, year=2011)

    newest, oldest = await client.list_choices(project.id)
    assert oldest.dataset is not None
    assert oldest.ranking is not None
    assert (oldest.reason, oldest.dataset.digest, oldest.ranking.rank) == ("r", project.chosen_dataset.digest, 1)
    assert (oldest.superseded_at, newest.superseded_at) == (newest.at, None)
    assert (await client.page_choices(project.id, page_size=1)).choices == [newest]
    assert await client.get_snapshot(project.id, snapshot.id) == snapshot
    (summary,) = await client.list_snapshots(project.id)
    assert (summary.sha256, summary.note) == (snapshot.sha256, "n")
    replay = await client.replay_snapshot(project.id, snapshot.id)
    assert (replay.identical, replay.items[0].status, replay.items[0].reason) == (False, "changed", "record")
    assert {change.field for change in replay.items[0].changes} == {"year"}
    await client.delete_dataset(second.id)
    project = await client.get_project(project.id)
    assert project.chosen_dataset is not None
    assert project.chosen_dataset.state == "withdrawn"


class Placeholders(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "x"


def every_call() -> list[Any]:
    return [
        *calls_of_jobs("train"),
        *calls_of_jobs("explain"),
        job_calls.train(1, "t"),
        job_calls.preview_training(1, "t"),
        job_calls.explain(),
        job_calls.predict("x", []),
        job_calls.page_project_jobs("x"),
        account_calls.sign_in("e", "p"),
        account_calls.renew("r"),
        account_calls.revoke("r"),
        account_calls.register("e", "p"),
        account_calls.reset_password("t", "p"),
        account_calls.get_me(),
        account_calls.update_me(),
        account_calls.change_password("a", "b"),
        account_calls.get_picture(),
        account_calls.set_picture(b""),
        account_calls.delete_picture(),
        account_calls.list_sessions(),
        account_calls.delete_session("x"),
        account_calls.delete_oauth_account("x"),
        external_sign_in_calls.begin("x", "/app/"),
        external_sign_in_calls.complete("x", {}, state=None, device=None),
        account_calls.page_users(),
        account_calls.update_user("x"),
        account_calls.reset_user("x"),
        account_calls.hide_dataset("x", hidden=True),
        account_calls.page_hidden_datasets(),
        account_calls.get_health(),
        catalog_calls.list_datasets(),
        catalog_calls.create_dataset("n"),
        catalog_calls.search_datasets(),
        catalog_calls.score_datasets(),
        catalog_calls.get_facets(),
        catalog_calls.suggest("x"),
        catalog_calls.get_criteria(),
        catalog_calls.get_dataset("x"),
        catalog_calls.update_dataset("x"),
        catalog_calls.delete_dataset("x"),
        catalog_calls.upload_file(b"", "n"),
        import_calls.import_documents([("d.json", b"{}")]),
        catalog_calls.list_files(),
        catalog_calls.delete_file("x"),
        catalog_calls.list_projects(),
        catalog_calls.create_project("n"),
        catalog_calls.get_project("x"),
        catalog_calls.update_project("x"),
        catalog_calls.delete_project("x"),
        catalog_calls.get_recommendations("x"),
        evidence_calls.get_evidence("x"),
        evidence_calls.add_claim("x", "transparency", True),
        evidence_calls.review_claim("x", "x", "accept"),
        evidence_calls.withdraw_claim("x", "x"),
        evidence_calls.page_proposals(),
        document_calls.export_dataset("x"),
        export_calls.stream_export("jsonl"),
        export_calls.stream_export("parquet"),
        export_calls.stream_ranking(),
        *bulk_calls.bulk_import_calls([{"name": "x"}]),
        choice_calls.list_choices("x"),
        choice_calls.page_choices("x"),
        choice_calls.create_snapshot("x"),
        choice_calls.list_snapshots("x"),
        choice_calls.page_snapshots("x"),
        choice_calls.get_snapshot("x", "x"),
        choice_calls.delete_snapshot("x", "x"),
        choice_calls.replay_snapshot("x", "x"),
        choice_calls.get_report("x"),
        comparison_calls.compare_trainings(),
        comparison_calls.follow_training_comparison("x"),
        comparison_calls.get_training_comparison("x"),
        comparison_calls.page_training_comparisons(),
        comparison_calls.cancel_training_comparison("x"),
        comparison_calls.delete_training_comparison("x"),
        reason_calls.compare_datasets([]),
        reason_calls.get_lifts("x"),
        reason_calls.get_stability(),
    ]


def calls_of_jobs(kind: Any) -> list[Any]:
    return [
        job_calls.page_jobs(kind),
        job_calls.get_job(kind, "x"),
        job_calls.delete_job(kind, "x"),
        job_calls.cancel_job(kind, "x"),
        job_calls.follow_job(kind, "x"),
        job_calls.get_artifact(kind, "x", "x"),
    ]
