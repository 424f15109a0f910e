"""The schema.org description in the page of a dataset: complete, safe, and for public records only."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serving_process import ServingProcess, sign_in
from tests.web.conftest import Visit
from touchstone.web.views.search_engine_description import to_script

ELEMENT = 'script[type="application/ld+json"]'
HOSTILE = '</script><script>document.title = "taken over"</script><!-- & \u2028'
RECORD = {"name": "Street signs", "description": HOSTILE, "file_path": "none.csv", "file_type": "csv"}


def create(api: httpx2.Client, **changes: object) -> str:
    """Create a record and return the path of its page."""
    response = api.post("/api/v1/datasets/", json=RECORD | changes)
    assert response.status_code == 201, response.text
    return f"/app/datasets/{response.json()['id']}"


def test_a_public_dataset_is_described_to_search_engines(visit: Visit, api: httpx2.Client) -> None:
    """Its texts are in the description, and none of them becomes a part of the page."""
    path = create(api, metadata={"licence": "CC-BY-4.0", "tags": ["signs"]})

    page = visit(path)

    elements = page.locator(ELEMENT)
    assert elements.count() == 1
    description = json.loads(elements.first.text_content() or "")
    assert description["@type"] == "Dataset"
    assert description["name"] == "Street signs"
    assert description["description"] == HOSTILE
    assert description["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert description["url"].endswith(path)
    assert "touchstone:dataset" not in description
    assert "taken over" not in page.title()


def test_a_private_dataset_is_not_described(visit: Visit, api: httpx2.Client) -> None:
    page = visit(create(api, visibility="private"))

    assert page.locator(ELEMENT).count() == 0


@settings(max_examples=60)
@given(st.dictionaries(st.text(), st.one_of(st.text(), st.just(HOSTILE), st.integers()), max_size=4))
def test_nothing_in_the_description_is_html(members: dict[str, object]) -> None:
    script = to_script(members, "https://touchstone.example/app/datasets/7")

    assert script is not None
    assert not set(script) & set("<>&\u2028\u2029")
    description = json.loads(script)
    assert {name: description[name] for name in members if name not in ("url", "touchstone:dataset")} == {
        name: value for name, value in members.items() if name not in ("url", "touchstone:dataset")
    }


def test_a_very_long_description_is_left_out() -> None:
    assert to_script({"a": "x" * 300_000}, "https://touchstone.example/") is None


@pytest.fixture(scope="module")
def open_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a product whose operator has opened the pages of public datasets, and return its address."""
    serving = ServingProcess(
        tmp_path_factory.mktemp("open"), TOUCHSTONE_PUBLIC_PAGES="open", TOUCHSTONE_DEMO="false"
    ).start()
    yield serving.address
    serving.stop()


def test_a_search_engine_reads_public_datasets_without_signing_in(open_server: str) -> None:
    """Private, missing and edited records lead to the sign-in page, as every other page does."""
    with httpx2.Client(base_url=open_server, headers=sign_in(open_server), timeout=60) as api:
        public_path = create(api, metadata={"licence": "CC-BY-4.0"})
        private_path = create(api, visibility="private")

    with httpx2.Client(base_url=open_server, timeout=60) as stranger:
        page = stranger.get(public_path)
        redirects = [
            stranger.get(path) for path in (private_path, "/app/datasets/999999", f"{public_path}/edit", "/app/")
        ]

    assert page.status_code == 200
    assert "Street signs" in page.text
    assert HOSTILE not in page.text
    script = page.text.partition('<script type="application/ld+json">')[2].partition("</script>")[0]
    assert json.loads(script)["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert [(answer.status_code, answer.headers["location"].partition("?")[0]) for answer in redirects] == [
        (303, "/app/sign-in")
    ] * 4


def test_pages_are_closed_to_strangers_by_default(server: str, api: httpx2.Client) -> None:
    path = create(api)

    answer = httpx2.get(server + path)

    assert (answer.status_code, answer.headers["location"]) == (303, f"/app/sign-in?next={quote(path, safe='')}")
