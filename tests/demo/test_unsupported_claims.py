"""A record full of unsupported claims leads the ranking only for readers who count mere declarations."""

from tests.selection.conftest import FOUR, client_of
from touchstone.core.attributes import ETHICAL
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.ranking.weight_profiles import PROFILES
from touchstone.services.selection.app import Selection


async def test_ten_unsupported_values_are_not_among_the_first_hundred(settings: Settings, database: Database) -> None:
    """In every profile, records with documented evidence come before ten values that somebody merely declares."""
    selection = await Selection.open(settings.model_copy(update={"demo": True}), database, None)
    async with client_of(selection) as client:
        record = {**FOUR, "name": "AAA", **dict.fromkeys(ETHICAL, True), "citations": 9_999_999}
        dataset_id = (await client.post("/datasets/", json=record)).json()["id"]

        for profile in PROFILES:
            ranked_ids = {}
            for assurance in ("declared", "documented"):
                path = f"/datasets/score?limit=100&assurance={assurance}"
                items = (await client.post(path, json={"profile": profile})).json()
                ranked_ids[assurance] = [item["id"] for item in items]
            assert dataset_id not in ranked_ids["documented"], profile
            if profile == "ethical":
                assert ranked_ids["declared"][0] == dataset_id
    await selection.close()
