"""Search by words, suggestions, licences, languages, sources and trainable records, over the API."""

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.selection.conftest import BOB, client_of, create_record
from tests.selection.seeded import random_rows, seed
from tests.selection.test_selection_following import second_backend, wait_for_response
from touchstone.core.errors import IndexBuilding
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.ranking.catalog import catalog as catalog_module
from touchstone.ranking.catalog.catalog import Layout
from touchstone.ranking.query.predicates import FullText
from touchstone.services.selection.app import Selection
from touchstone.services.selection.catalog.list_ids import SortOrder
from touchstone.services.selection.catalog.live_catalog import POLL_SECONDS, LiveCatalog


async def names(client: httpx2.AsyncClient, **parameters: str) -> list[str]:
    """Return the names of the records that a list finds."""
    answer = await client.get("/datasets", params=parameters)
    assert answer.status_code == 200, answer.text
    return [record["name"] for record in answer.json()]


async def test_words_are_found_in_every_text_of_a_record_by_every_read_route(ada: httpx2.AsyncClient) -> None:
    """The list, its count, facets, search, scores and recommendations agree about `q`."""
    await create_record(
        ada, name="Réadmissions", objective="predict", metadata={"tags": ["hospital"]}, domain=["Santé"]
    )
    await create_record(ada, name="other", description="hospitals", task=["QA"])
    await create_record(ada, name="third")

    assert await names(ada, q="readmission HOPITAL predicting") == ["Réadmissions"]
    assert await names(ada, q="hospital") == ["Réadmissions", "other"]
    assert await names(ada, q="hosptial health") == ["Réadmissions"]
    assert await names(ada, q="question answering") == ["other"]
    assert await names(ada, q="hospital", domain="medicine") == ["Réadmissions"]
    assert await names(ada, q="hospital third") == []
    assert len(await names(ada, q="  ")) == 3

    page = (await ada.get("/datasets?q=hospital&page_size=1")).json()
    assert page["total_count"] == 2
    assert (await ada.get("/datasets/facets?q=hospital")).json()["total_count"] == 2
    search_response = await ada.post("/datasets/search", json={"q": "hospital", "name_contains": "other"})
    assert [record["name"] for record in search_response.json()] == ["other"]
    score_response = await ada.post("/datasets/score", json={"filters": {"q": "hospital"}})
    assert {item["dataset_name"] for item in score_response.json()} == {"Réadmissions", "other"}

    project = (await ada.post("/projects", json={"name": "p", "criteria": {"q": "hospital"}})).json()
    recommendations = (await ada.get(f"/projects/{project['id']}/recommendations")).json()
    assert recommendations["total_count"] == 2


async def test_relevance_orders_a_list_best_first_and_by_id_without_words(ada: httpx2.AsyncClient) -> None:
    """A word in the name counts more than one in a long description."""
    await create_record(
        ada, name="weather", description="of a place with wine and bread and a long story about everything"
    )
    await create_record(ada, name="Wine", description="quality")
    await create_record(ada, name="bread")
    assert await names(ada, q="wine", sort_by="relevance") == ["Wine", "weather"]
    assert await names(ada, q="wine", sort_by="relevance", sort_order="asc") == ["weather", "Wine"]
    assert await names(ada, sort_by="relevance") == ["weather", "Wine", "bread"]


async def test_the_next_search_sees_every_write(
    ada: httpx2.AsyncClient,
) -> None:
    """Creating, changing and deleting are visible to the next search."""
    record = await create_record(ada, name="zeppelin")
    assert await names(ada, q="zeppelins") == ["zeppelin"]
    await ada.patch(f"/datasets/{record['id']}", json={"name": "balloon"})
    assert await names(ada, q="zeppelin") == []
    assert await names(ada, q="balloon") == ["balloon"]
    await ada.delete(f"/datasets/{record['id']}")
    assert await names(ada, q="balloon") == []


async def test_other_processes_and_restarts_find_the_same(settings: Settings, ada: httpx2.AsyncClient) -> None:
    """A second process finds what the first has written, labels included, though it never reads whole metadata."""
    metadata = {"licence": "CC BY 4.0", "language": ["English", "fr"], "source": {"name": "UCI"}, "tags": ["tagword"]}
    await create_record(ada, name="before", metadata=metadata)
    async with second_backend(settings) as (_, second_client):
        for query in ("q=tagword", "license=CC-BY-*", "language=en", "source=uci", "trainable=false"):
            assert [record["name"] for record in (await second_client.get(f"/datasets?{query}")).json()] == [
                "before"
            ], query
        second_record = await create_record(ada, name="after", metadata=metadata)
        await wait_for_response(second_client, "/datasets?q=after&license=CC-BY-4.0", [second_record])


async def test_private_texts_leak_through_nothing(selection: Selection, ada: httpx2.AsyncClient) -> None:
    """Neither a search, nor a count, nor a facet, nor a suggestion tells others about a private record."""
    metadata = {"tags": ["classifiedword"], "licence": "MIT", "source": {"name": "secretsource"}}
    await create_record(
        ada, name="classified", visibility="private", metadata=metadata, domain=["secretdomain"], task=["secrettask"]
    )
    await create_record(ada, name="open")
    async with client_of(selection, BOB) as bob, client_of(selection, None) as anonymous:
        for client in (bob, anonymous):
            for word in ("classified", "classifiedword", "clasified", "secretdomain"):
                assert await names(client, q=word) == []
                assert (await client.get(f"/datasets/suggest?q={word[:4]}")).json() == {"suggestions": []}
            facets = (await client.get("/datasets/facets")).json()
            assert "secret" not in str(facets)
            assert facets["values"]["license"] == [{"value": "unknown", "count": 1}]

    suggestions = (await ada.get("/datasets/suggest?q=secret")).json()["suggestions"]
    assert [(suggestion["kind"], suggestion["text"]) for suggestion in suggestions] == [
        ("domain", "secretdomain"),
        ("task", "secrettask"),
    ]


async def test_a_search_has_at_most_200_characters(ada: httpx2.AsyncClient) -> None:
    """Each word takes time to look up, so that a long text is refused, wherever it is sent."""
    await create_record(ada, name="credit")
    for length, status in ((200, 200), (201, 422)):
        text = ("credit " * 40)[:length]
        assert (await ada.get("/datasets/", params={"q": text})).status_code == status
        assert (await ada.get("/datasets/suggest", params={"q": text})).status_code == status
        assert (await ada.post("/datasets/search", json={"q": text})).status_code == status
        assert (await ada.post("/datasets/score", json={"filters": {"q": text}})).status_code == status


async def test_suggestions_are_limited_and_need_a_text(ada: httpx2.AsyncClient) -> None:
    """Without a text nothing is suggested; parameters that do not fit are refused."""
    for number in range(12):
        await create_record(ada, name=f"credit {number}")
    assert len((await ada.get("/datasets/suggest?q=cre")).json()["suggestions"]) == 10
    assert len((await ada.get("/datasets/suggest?q=cre&limit=3")).json()["suggestions"]) == 3
    assert (await ada.get("/datasets/suggest")).json() == {"suggestions": []}
    assert (await ada.get("/datasets/suggest?limit=51")).status_code == 422
    assert (await ada.get("/datasets/suggest?query=x")).status_code == 422


LICENCES = {
    "by": "CC-BY-4.0",
    "by-nc": ["cc by-nc 4.0"],
    "either": "MIT OR Apache-2.0",
    "both": "MIT AND CC-BY-4.0",
    "words": "Kaggle terms",
    "capitals": "TERMS AND CONDITIONS",
    "none": None,
    "unspecified": "unknown",
}


@pytest.mark.parametrize(
    ("value", "expected_names"),
    [
        ("CC-BY-4.0", ["by"]),
        ("cc by 4.0", ["by"]),
        ("CC-BY-*", ["by", "by-nc"]),
        ("cc-by-nc*", ["by-nc"]),
        ("MIT", ["either"]),
        ("Apache-2.0 OR GPL-3.0-only", ["either"]),
        ("CC-BY-4.0 AND MIT", ["both"]),
        ("(MIT)", ["either"]),
        ("MIT,CC-BY-4.0", ["by", "either"]),
        ("kaggle TERMS", ["words"]),
        ("Terms AND conditions", ["capitals"]),
        ("unknown", ["none", "unspecified"]),
        ("EUPL-1.2", []),
    ],
)
async def test_licences_are_filtered_by_expression_family_and_absence(
    ada: httpx2.AsyncClient, value: str, expected_names: list[str]
) -> None:
    """A choice of licences is found by each of them, and licences that apply together only by both."""
    for name, licence in LICENCES.items():
        await create_record(ada, name=name, metadata={"licence": licence})
    assert await names(ada, license=value) == expected_names


@pytest.mark.parametrize("licence", ["Kaggle, other", "Custom * terms", "**Free** for research", "CC-BY-*", "A (b, c"])
async def test_a_licence_that_a_facet_lists_is_found_by_it(ada: httpx2.AsyncClient, licence: str) -> None:
    """A wording may contain what else separates licences or names a family."""
    await create_record(ada, name="worded", metadata={"licence": licence})
    await create_record(ada, name="plain", metadata={"licence": "MIT"})
    facets = (await ada.get("/datasets/facets")).json()["values"]["license"]
    assert {"value": licence, "count": 1} in facets
    assert await names(ada, license=licence.replace(",", "\\,")) == ["worded"]
    scored = await ada.post("/datasets/score", json={"filters": {"license": [licence]}})
    assert [item["dataset_name"] for item in scored.json()] == ["worded"]


@pytest.mark.parametrize("value", ["MIT AND (", "MIT OR", "(MIT", "MIT)", ")MIT(", "()", "NOSUCH-*", "CC-*-4.0"])
async def test_a_licence_that_is_no_expression_is_refused_in_both_languages(
    reader: httpx2.AsyncClient, value: str
) -> None:
    """The refusal names the place and the value, in a list as in the criteria of a project."""
    french = await reader.get("/datasets", params={"license": value})
    english = await reader.get("/datasets", params={"license": value}, headers={"Accept-Language": "en"})
    assert french.status_code == english.status_code == 422
    assert french.json()["errors"][0]["loc"] == ["query", "license"]
    assert "expression SPDX" in french.json()["detail"]
    assert "SPDX expression" in english.json()["detail"]
    assert (await reader.post("/projects", json={"name": "p", "criteria": {"license": [value]}})).status_code == 422


async def test_one_vocabulary_folds_domains_tasks_and_languages_but_records_keep_their_spelling(
    ada: httpx2.AsyncClient,
) -> None:
    """Filters and facets compare folded values."""
    await create_record(ada, name="a", task=["Question Answering"], metadata={"language": "English"})
    await create_record(ada, name="b", task=["question-answering"], metadata={"language": ["en-GB", "fr"]})
    await create_record(ada, name="c", task=["QA"], metadata={"language": "français"})

    assert await names(ada, task="qa") == ["a", "b", "c"]
    assert await names(ada, language="anglais") == ["a", "b"]
    assert [record["task"] for record in (await ada.get("/datasets")).json()] == [
        ["Question Answering"],
        ["question-answering"],
        ["QA"],
    ]
    values = (await ada.get("/datasets/facets")).json()["values"]
    assert values["task"] == [{"value": "question-answering", "count": 3}]
    assert [entry["count"] for entry in values["language"]] == [2, 2]


async def test_a_search_takes_the_filters_of_labels(ada: httpx2.AsyncClient) -> None:
    """Licence, language, source and trainability restrict a search as they restrict a list, in the same forms."""
    labels = {"licence": "CC-BY-4.0", "language": "en", "source": {"name": "UCI"}}
    await create_record(ada, name="labelled", metadata=labels)
    await create_record(ada, name="plain")

    async def found_names(**body: Any) -> list[str]:
        answer = await ada.post("/datasets/search", json={"name_contains": "l", **body})
        return [record["name"] for record in answer.json()]

    assert await found_names(license="CC-BY-*") == await found_names(license=["MIT", "CC-BY-4.0"]) == ["labelled"]
    assert await found_names(language="anglais") == await found_names(source=["uci"]) == ["labelled"]
    assert await found_names(trainable=True) == []
    assert await found_names(trainable=False) == await found_names(trainable=None, license=[]) == ["labelled", "plain"]

    malformed_values: dict[str, Any] = {"license": "MIT AND (", "trainable": "yes", "source": 5}
    for name, value in malformed_values.items():
        refusal = await ada.post("/datasets/search", json={name: value})
        assert (refusal.status_code, refusal.json()["errors"][0]["loc"]) == (422, ["body", name])


async def test_hostile_metadata_counts_as_not_given(ada: httpx2.AsyncClient) -> None:
    """Members of any other form neither fail the write nor match."""
    shapes: list[Any] = [{}, 5, [1, None, {}], {"name": {}}, True, [["x"]]]
    for number, shape in enumerate(shapes):
        metadata = {"licence": shape, "language": shape, "tags": shape, "source": shape}
        await create_record(ada, name=f"odd {number}", metadata=metadata)
    assert len(await names(ada, license="unknown")) == len(shapes)
    facets = (await ada.get("/datasets/facets")).json()
    assert facets["values"]["language"] == facets["values"]["source"] == []
    assert facets["flags"]["trainable"] == {"true": 0, "false": len(shapes), "unknown": 0}


async def test_searches_and_writes_at_the_same_time_never_fail(ada: httpx2.AsyncClient) -> None:
    """Readers keep a consistent state of the word index while a writer changes it."""

    async def write() -> None:
        for number in range(20):
            await create_record(ada, name=f"parallel word{number}")

    async def read() -> None:
        for _ in range(40):
            assert (await ada.get("/datasets?q=paralel&sort_by=relevance")).status_code == 200
            await asyncio.sleep(0)

    await asyncio.gather(write(), read(), read())
    assert len(await names(ada, q="parallel")) == 20


async def test_words_that_are_not_indexed_yet_answer_503_and_everything_else_works(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    """A large catalog is served before its words are indexed; its snapshot then has them at the next start."""
    await seed(database, random_rows(3, 60))
    layout = Layout(index_from=10, leaf_words=1, compiled=False)
    snapshot_path = tmp_path / "catalog.snapshot"
    catalog = LiveCatalog(database, layout, snapshot_path)
    await catalog.load()

    query = (FullText("iris"),)
    with pytest.raises(IndexBuilding) as error_info:
        await catalog.list_ids(query, SortOrder("id"))
    assert error_info.value.status == 503
    assert error_info.value.code == "index_building"
    assert error_info.value.headers["Retry-After"] == "5"
    assert (await catalog.list_ids((), SortOrder("id"))).total_count == 60

    follow_task = asyncio.create_task(catalog.follow())
    while catalog.is_renewing_index:
        await asyncio.sleep(0.01)
    listing = await catalog.list_ids(query, SortOrder("relevance", is_descending=True))
    assert listing.total_count > 0
    follow_task.cancel()
    await catalog.close()

    restarted_catalog = LiveCatalog(database, layout, snapshot_path)
    await restarted_catalog.load()
    assert not restarted_catalog.is_renewing_index
    assert await restarted_catalog.list_ids(query, SortOrder("relevance", is_descending=True)) == listing


@pytest.mark.parametrize("is_growing", [False, True], ids=["otherwise", "during-an-import"])
async def test_words_of_many_new_records_are_listed_before_a_search_needs_them(
    database: Database, is_growing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import would only get slower, so their words are listed afterwards."""
    monkeypatch.setattr(catalog_module, "_TOLERATED_UNLISTED_ROWS", 50)
    await seed(database, random_rows(3, 60))
    catalog = LiveCatalog(database)
    await catalog.load()

    with catalog.importing_in_bulk() if is_growing else nullcontext():
        columns = catalog._catalog.columns
        assert columns.is_word_listing_due
        follow_task = asyncio.create_task(catalog.follow())
        async with asyncio.timeout(10):
            while columns.is_word_listing_due and not is_growing:
                await asyncio.sleep(0.01)
        await asyncio.sleep(2 * POLL_SECONDS)
        assert columns.is_word_listing_due == is_growing

    assert (await catalog.list_ids((FullText("iris"),), SortOrder("id"))).total_count > 0
    follow_task.cancel()
    await catalog.close()
