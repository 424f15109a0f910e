"""The page of a dataset shows warnings of its source, its variants, its collection and its languages."""

from typing import Any

import httpx2
import pytest

RECORD = {"name": "Second census", "description": "", "file_path": "", "file_type": "csv"}


@pytest.fixture
def browser(server: str, session_cookies: dict[str, str]) -> httpx2.Client:
    """Return a signed-in browser that prefers English."""
    cookies = session_cookies | {"touchstone_language": "en"}
    return httpx2.Client(base_url=server, cookies=cookies, timeout=30, follow_redirects=True)


def page_of(browser: httpx2.Client, api: httpx2.Client, metadata: dict[str, Any]) -> str:
    """Create a private record with this metadata, and return its page."""
    body = {**RECORD, "name": "First census", "visibility": "private", "metadata": metadata}
    record = api.post("/api/v1/datasets/", json=body).json()
    with browser:
        response = browser.get(f"/app/datasets/{record['id']}")
    assert response.status_code == 200
    return response.text


def test_warnings_and_relations_are_shown(browser: httpx2.Client, api: httpx2.Client) -> None:
    """A warning stands above the name; the other variants are links to their pages."""
    variant = api.post("/api/v1/datasets/", json={**RECORD, "visibility": "private"}).json()
    metadata = {
        "warnings": ["Its use is <b>no longer</b> recommended."],
        "variant_of": "Census",
        "variants": [{"dataset_id": variant["dataset_id"], "name": "Second census"}],
        "part_of": "Censuses of the world",
        "language": ["en", "fr"],
    }
    page = page_of(browser, api, metadata)
    assert "Its use is &lt;b&gt;no longer&lt;/b&gt; recommended." in page
    assert page.index("no longer") < page.index("<h1>")
    assert f'<a href="/app/datasets/{variant["dataset_id"]}">Second census</a>' in page
    for text in ("Variant of", "Part of", "Censuses of the world", "en, fr"):
        assert text in page


def test_the_address_with_the_uuid_leads_to_the_page(
    server: str, session_cookies: dict[str, str], api: httpx2.Client
) -> None:
    """Records refer to one another by UUID, so an address with a UUID redirects to the page of the record."""
    record = api.post("/api/v1/datasets/", json={**RECORD, "visibility": "private"}).json()
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        response = client.get(f"/app/datasets/{record['dataset_id']}")
    assert (response.status_code, response.headers["location"]) == (303, f"/app/datasets/{record['id']}")


@pytest.mark.parametrize(
    "metadata",
    [
        {"warnings": "text", "variants": "text", "variant_of": 7, "part_of": ["x"]},
        {"warnings": [1, None, " "], "variants": [1, {"name": 2}, {"name": "x", "dataset_id": "y"}], "part_of": ""},
        {"language": 5, "licence": True, "source": {"name": 7, "url": 5}, "tags": {"a": "b"}},
        {"language": [1, None], "licence": ["x", 2], "source": 3, "tags": 1.5},
    ],
)
def test_metadata_of_another_shape_is_left_out(
    browser: httpx2.Client, api: httpx2.Client, metadata: dict[str, Any]
) -> None:
    """Anybody can write metadata: what has another shape is not shown, and breaks no page."""
    page = page_of(browser, api, metadata)
    for text in ("Variant of", "Other variants", "Part of", "Warning of the source"):
        assert text not in page


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ({"name": None, "key": "7"}, None),
        ({"name": None, "url": "https://example.org/data"}, '<dt>Source</dt><dd> <a href="https://example.org/data"'),
        ({"name": "Town hall", "url": None}, "<dt>Source</dt><dd>Town hall</dd>"),
    ],
)
def test_a_source_may_have_no_name(
    browser: httpx2.Client, api: httpx2.Client, source: dict[str, Any], shown: str | None
) -> None:
    """Imports leave out the name of the source if nobody states it; the page then shows the link, or nothing."""
    page = page_of(browser, api, {"licence": "MIT", "source": source})
    if shown is None:
        assert "<dt>Source</dt>" not in page
    else:
        assert shown in page
