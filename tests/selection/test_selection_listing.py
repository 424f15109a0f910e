"""Lists: every sort key in both orders, pages without gaps, and both forms of the response."""

from base64 import urlsafe_b64encode
from random import Random

import httpx2
import pytest
from starlette.types import Receive, Scope, Send

from tests.ranking import by_hand
from tests.selection.conftest import ADA, client_of, create_record
from tests.selection.seeded import random_rows, seed, stored_row
from touchstone.core.settings import Settings
from touchstone.database.engine import Database
from touchstone.ranking.query.predicates import Visible
from touchstone.ranking.query.sort_order import SORT_KEYS
from touchstone.services.selection.app import Selection

ROWS = random_rows(3, 120)


async def test_pages_give_every_record_once_in_the_order_of_the_reference(seeded_client: httpx2.AsyncClient) -> None:
    """For every sort key and order, the pages contain every record once, in the order of the reference."""
    for key in SORT_KEYS:
        for order in ("asc", "desc"):
            expected_ids = by_hand.ordered(map(stored_row, ROWS), (Visible(ADA),), key, order == "desc")
            listed_ids = []
            for page in range(1, 5):
                answer = await seeded_client.get(
                    f"/datasets/?sort_by={key}&sort_order={order}&page={page}&page_size=37"
                )
                listed_ids += [record["id"] for record in answer.json()["datasets"]]
            assert listed_ids == expected_ids, (key, order)


async def test_the_page_form_counts(seeded_client: httpx2.AsyncClient) -> None:
    """With `page` or `page_size`, the response is an object with the number of all matching records."""
    total = len(by_hand.matching(map(stored_row, ROWS), (Visible(ADA),)))
    for query, page, size in (("page=2", 2, 12), ("page_size=1", 1, 1), ("page=1&skip=50&limit=3", 1, 12)):
        answer = await seeded_client.get(f"/datasets/?{query}")
        body = answer.json()
        assert list(body) == ["datasets", "total_count", "page", "page_size", "total_pages"]
        assert (body["total_count"], body["page"], body["page_size"]) == (total, page, size)
        assert body["total_pages"] == -(-total // size)
        assert len(body["datasets"]) == size
        assert answer.headers["X-Total-Count"] == str(total)


async def test_links_lead_through_a_list_in_every_order(seeded_client: httpx2.AsyncClient) -> None:
    """For every sort key and order, the next links give every record once, in the order of the reference."""
    for key in (*SORT_KEYS, "relevance"):
        for order in ("asc", "desc"):
            is_sorted_by_id = key == "relevance"  # without words all records are equally relevant
            expected_ids = by_hand.ordered(
                map(stored_row, ROWS),
                (Visible(ADA),),
                "id" if is_sorted_by_id else key,
                not is_sorted_by_id and order == "desc",
            )
            listed_ids, query = [], f"?sort_by={key}&sort_order={order}&limit=37"
            while query:
                answer = await seeded_client.get(f"/datasets/{query}")
                assert answer.headers["X-Total-Count"] == str(len(expected_ids))
                listed_ids += [record["id"] for record in answer.json()]
                query = answer.links.get("next", {}).get("url", "")
                assert ("cursor=" in query) or is_sorted_by_id or not query
            assert listed_ids == expected_ids, (key, order)


async def test_a_cursor_neither_repeats_nor_skips_records_when_others_change(ada: httpx2.AsyncClient) -> None:
    """A list goes on behind its last record even if this one and others before it are gone."""
    records = [await create_record(ada, name=f"n{number}", year=2000 + number % 3) for number in range(12)]
    ids = [record["id"] for record in sorted(records, key=lambda record: (-record["year"], record["id"]))]
    first_page = await ada.get("/datasets/?sort_by=year&sort_order=desc&limit=5&domain=")
    assert [record["id"] for record in first_page.json()] == ids[:5]

    for id_ in (ids[0], ids[4]):
        assert (await ada.delete(f"/datasets/{id_}")).status_code == 204
    await create_record(ada, name="newest", year=2020)
    next_page = await ada.get(f"/datasets/{first_page.links['next']['url']}")
    assert [record["id"] for record in next_page.json()] == ids[5:10]
    assert "domain=" in first_page.links["next"]["url"]


async def test_a_cursor_belongs_to_one_order_and_replaces_a_page(seeded_client: httpx2.AsyncClient) -> None:
    """Any other text, another order, and a page beside it are refused with the name of the parameter."""
    first_page = await seeded_client.get("/datasets/?sort_by=year&limit=3")
    cursor = httpx2.URL(first_page.links["next"]["url"]).params["cursor"]
    forged_cursors = [
        urlsafe_b64encode(text).decode() for text in (b'["year",false,"x",1]', b'["no",false,1,1]', b"[]", b"\xff")
    ]
    queries = [f"sort_by=year&cursor={text}" for text in ("x", "%C3%A9", *forged_cursors)]
    queries += [f"cursor={cursor}", f"sort_by=year&sort_order=desc&cursor={cursor}"]
    queries += [f"sort_by=year&cursor={cursor}&{page}" for page in ("skip=0", "page=1", "page_size=3")]
    nested_cursor = b'["year",false,1,1,0,' + b"[" * 2900
    for encoded_cursor in (b'["year",false,1,1,-1]', nested_cursor):
        queries.append("sort_by=year&cursor=" + urlsafe_b64encode(encoded_cursor).decode())
    for query in queries:
        answer = await seeded_client.get(f"/datasets/?{query}")
        assert answer.status_code == 422, query
        assert answer.json()["errors"][0]["loc"] == ["query", "cursor"]


async def test_a_list_continues_after_texts_that_are_too_long_for_a_cursor(ada: httpx2.AsyncClient) -> None:
    """Links give every record once where short and long sort values alternate."""
    descriptions = ["a", "b", *[f"c{'x' * 600}{number}" for number in range(4)], "d", "e"]
    records = [
        await create_record(ada, name=f"n{number}", description=text) for number, text in enumerate(descriptions)
    ]

    listed_ids, query = [], "?sort_by=description&limit=2"
    for _ in range(len(records)):
        answer = await ada.get(f"/datasets/{query}")
        listed_ids += [record["id"] for record in answer.json()]
        if "next" not in answer.links:
            break
        query = answer.links["next"]["url"]
    assert listed_ids == [record["id"] for record in records]


@pytest.mark.parametrize(
    ("query", "repeated_filters"),
    [
        (b"domain=%CE%A9&objective=\xc3\xa9l&domain=\xce\xa9", "domain=%CE%A9&domain=%CE%A9&objective=%C3%A9l&"),
        (b"objective=a>;%22,+%26%25&&file_type=%", "objective=a%3E%3B%22%2C+%26%25&file_type=%25&"),
        (b"domain=&task&year_min=", "domain=&task=&year_min=&"),
    ],
)
async def test_links_repeat_the_filters_percent_encoded(
    seeded_client: httpx2.AsyncClient, query: bytes, repeated_filters: str
) -> None:
    """Raw bytes beyond ASCII, repeated, empty and reserved texts are encoded, and the service accepts its own links."""
    answer = await with_raw_query(seeded_client, query)
    assert answer.status_code == 200, answer.text
    first_link = answer.links["first"]["url"]
    assert first_link == f"?{repeated_filters}limit=100"
    assert (await seeded_client.get(f"/datasets/{first_link}")).json() == answer.json()


async def test_no_query_makes_a_list_fail(seeded_client: httpx2.AsyncClient) -> None:
    """Bytes that are not UTF-8 and unknown names are refused, and very long filters are answered without links."""
    for query in (b"task=\xff", b"task=%FF", b"\xff=1", b"=x", b"=", b"%00=1", b"cursor=\xc3\xa9"):
        assert (await with_raw_query(seeded_client, query)).status_code == 422, query

    long_response = await with_raw_query(seeded_client, b"limit=1&" + b"&".join([b"domain=\xce\xa9x"] * 300))
    assert (long_response.status_code, "Link" in long_response.headers) == (200, False)


async def with_raw_query(client: httpx2.AsyncClient, query: bytes) -> httpx2.Response:
    """Return the response to a list whose query string is sent as it is, although a client would encode it."""
    transport = client._transport
    assert isinstance(transport, httpx2.ASGITransport)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await transport.app({**scope, "query_string": query}, receive, send)

    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url=client.base_url, headers=client.headers
    ) as raw_client:
        return await raw_client.get("/datasets/")


async def test_pages_link_to_each_other(seeded_client: httpx2.AsyncClient) -> None:
    """The page form links to the first, previous, next and last page, with the same filters."""
    answer = await seeded_client.get("/datasets/?page=2&page_size=7&sort_by=name&visibility=public")
    last_page = answer.json()["total_pages"]
    link_parameters = {name: httpx2.URL(link["url"]).params for name, link in answer.links.items()}
    assert {name: params["page"] for name, params in link_parameters.items()} == {
        "first": "1",
        "prev": "1",
        "next": "3",
        "last": str(last_page),
    }
    assert all(
        (params["page_size"], params["sort_by"], params["visibility"]) == ("7", "name", "public")
        for params in link_parameters.values()
    )
    assert list((await seeded_client.get(f"/datasets/?page={last_page + 5}&page_size=7")).links) == [
        "first",
        "prev",
        "last",
    ]


async def test_the_plain_form_is_a_bare_array(seeded_client: httpx2.AsyncClient) -> None:
    """Without a page, the list is an array of 100 records by id, which `skip` and `limit` move."""
    ids = by_hand.ordered(map(stored_row, ROWS), (Visible(ADA),), "id", False)
    assert [record["id"] for record in (await seeded_client.get("/datasets")).json()] == ids[:100]
    assert [record["id"] for record in (await seeded_client.get("/datasets?skip=7&limit=5")).json()] == ids[7:12]
    for query in (
        "skip=5000",
        "skip=9007199254740991",
        "page=9007199254740991&page_size=1000",
        "year_min=9&year_max=8",
    ):
        answer = await seeded_client.get(f"/datasets?{query}")
        assert answer.status_code == 200
        assert answer.json() in ([], {**(answer.json() or {}), "datasets": []})


async def test_records_answer_the_same_wherever_they_are_read(seeded_client: httpx2.AsyncClient) -> None:
    """A record is the same object in a list, in a search and by itself, with the scores of the formulas."""
    listed_records = {record["id"]: record for record in (await seeded_client.get("/datasets?limit=1000")).json()}
    searched_records = {
        record["id"]: record for record in (await seeded_client.post("/datasets/search", json={})).json()
    }
    assert listed_records == searched_records
    for id_, row in ((row.id, row) for row in ROWS if row.id in listed_records):
        assert (await seeded_client.get(f"/datasets/{id_}")).json() == listed_records[id_]
        for name in by_hand.COMPOSITES:
            assert listed_records[id_][name] == by_hand.CRITERIA[name](row)


async def test_a_record_is_answered_whole_after_many_others(ada: httpx2.AsyncClient, selection: Selection) -> None:
    """Records that no longer fit into the cache of encoded records are read again, in order."""
    cache = selection.services.catalog.records.cache
    cache.limit = 5000
    records = [await create_record(ada, description="x" * 1000) for _ in range(12)]
    random = Random(1)
    for _ in range(20):
        skip = random.randrange(12)
        assert (await ada.get(f"/datasets?skip={skip}&limit=6")).json() == records[skip : skip + 6]
        assert cache.bytes <= cache.limit


async def test_a_long_search_is_whole(database: Database, settings: Settings) -> None:
    """A search with more matches than are encoded at once returns each of them once, by id."""
    await seed(database, random_rows(9, 1300))
    selection = await Selection.open(settings, database, None)
    async with client_of(selection) as client:
        answer = await client.post("/datasets/search", json={})
    await selection.close()
    ids = [record["id"] for record in answer.json()]
    assert ids == sorted(set(ids))
    assert answer.headers["X-Total-Count"] == str(len(ids))
    assert len(ids) > 600
