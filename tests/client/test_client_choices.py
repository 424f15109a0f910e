"""The client against the whole service: choices with their history, snapshots, replays and reports."""

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from tests.serving import Service
from touchstone.client import AsyncTouchstone, Identity, InProcess, Project, TouchstoneError

pytestmark = pytest.mark.anyio
PASSWORD = "correct horse battery"


@pytest.fixture
async def client(service: Service) -> AsyncIterator[AsyncTouchstone]:
    """Return a client of a user who is signed in."""
    async with AsyncTouchstone("http://touchstone", transport=InProcess(service.app), locale="en") as guest:
        email = f"{uuid4().hex}@example.org"
        await guest.register(email, PASSWORD, pseudo="Ada")
        client = guest.with_identity(Identity(locale="en"))
        await client.login(email, PASSWORD)
        yield client


@pytest.fixture
async def project(client: AsyncTouchstone) -> Project:
    """Create two datasets, and return a project that ranks only these."""
    objective = uuid4().hex
    await client.create_dataset("Alpha", objective=objective, transparency=True, year=2020)
    await client.create_dataset("Beta", objective=objective, year=2024)
    return await client.create_project(
        "Need", criteria={"objective": objective}, weights={"transparency": 3, "year": 1}, gates={"year_min": 2022}
    )


async def test_every_choice_is_kept_with_its_reason_and_digest(client: AsyncTouchstone, project: Project) -> None:
    """Two choices are two entries; a change of the chosen record shows in the project, its deletion in the history."""
    alpha, beta = (await client.get_recommendations(project.id)).datasets
    await client.update_project(project.id, chosen_dataset_id=beta.id, choice_reason="newer")
    await client.update_project(project.id, chosen_dataset_id=alpha.id, choice_reason="transparent")

    current_choice, first_choice = await client.list_choices(project.id)
    assert (current_choice.reason, first_choice.reason, current_choice.superseded_at) == ("transparent", "newer", None)
    assert first_choice.superseded_at == current_choice.at
    assert current_choice.by is not None
    assert current_choice.by.pseudo == "Ada"
    assert current_choice.dataset is not None
    assert current_choice.dataset.digest is not None
    assert current_choice.ranking is not None
    assert (current_choice.ranking.rank, current_choice.ranking.gate_outcomes) == (1, {"year_min": "failed"})
    assert (await client.page_choices(project.id, page_size=1)).total_count == 2

    await client.update_dataset(alpha.id, year=2023)
    chosen_dataset = (await client.get_project(project.id)).chosen_dataset
    assert chosen_dataset is not None
    assert (chosen_dataset.state, chosen_dataset.digest) == ("changed", current_choice.dataset.digest)
    assert ("year", 2020, 2023) in [(change.field, change.before, change.after) for change in chosen_dataset.changes]

    await client.delete_dataset(alpha.id)
    dataset = (await client.list_choices(project.id))[0].dataset
    assert dataset is not None
    assert (dataset.withdrawn, dataset.name, dataset.digest) == (True, "Alpha", current_choice.dataset.digest)


async def test_a_snapshot_is_replayed(client: AsyncTouchstone, project: Project) -> None:
    """A replay finds nothing at first, and then names what has changed and why."""
    snapshot = await client.create_snapshot(project.id, note="spring")
    assert (snapshot.note, snapshot.item_count, len(snapshot.content["items"])) == ("spring", 2, 2)
    assert "sentence" not in snapshot.content["items"][0], "a digest must not depend on a language"
    assert [summary.sha256 for summary in await client.list_snapshots(project.id)] == [snapshot.sha256]
    assert (await client.page_snapshots(project.id)).snapshots[0].id == snapshot.id
    assert (await client.get_snapshot(project.id, snapshot.id)).content == snapshot.content
    assert (await client.replay_snapshot(project.id, snapshot.id)).identical

    alpha, beta = (await client.get_recommendations(project.id)).datasets
    await client.update_dataset(beta.id, transparency=True)
    replay = await client.replay_snapshot(project.id, snapshot.id)
    changes = {item.id: (item.rank.before, item.rank.after, item.reason) for item in replay.items}
    assert not replay.identical
    assert changes == {beta.id: (2, 1, "record"), alpha.id: (1, 2, "others")}

    with pytest.raises(TouchstoneError, match="404"):
        await client.get_snapshot(project.id, uuid4())
    await client.delete_snapshot(project.id, snapshot.id)
    assert await client.list_snapshots(project.id) == []


async def test_a_report_is_a_file_in_the_chosen_format_and_language(client: AsyncTouchstone, project: Project) -> None:
    """Its name and media type come from the service, and its digest does not depend on the language."""
    french, english = [await client.get_report(project.id, "html", lang=lang) for lang in ("fr", "en")]
    assert (english.media_type, english.name) == ("text/html", "report-need.html")
    assert french.content != english.content

    report = await client.get_report(project.id, "json")
    digest = json.loads(report.content)["sha256"]
    assert digest.encode() in french.content
    assert digest.encode() in english.content
