"""The schema.org description in the page of a dataset: complete, safe, and for public records only."""

import json

import httpx2
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.web.conftest import Visit
from touchstone.client import ExportedFile
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


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), st.one_of(st.text(), st.just(HOSTILE), st.integers()), max_size=4))
def test_nothing_in_the_description_is_html(members: dict[str, object]) -> None:
    file = ExportedFile(content=json.dumps(members).encode(), media_type="application/ld+json", name="a.jsonld")

    script = to_script(file, "https://touchstone.example/app/datasets/7")

    assert script is not None
    assert not set(script) & set("<>&\u2028\u2029")
    stated = json.loads(script)
    assert {name: stated[name] for name in members if name not in ("url", "touchstone:dataset")} == {
        name: value for name, value in members.items() if name not in ("url", "touchstone:dataset")
    }


def test_a_very_long_description_is_left_out() -> None:
    file = ExportedFile(content=json.dumps({"a": "x" * 300_000}).encode(), media_type="", name="")

    assert to_script(file, "https://touchstone.example/") is None
