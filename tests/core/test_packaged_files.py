"""Files that are installed with the package, served from memory."""

from pathlib import Path

import httpx2
import pytest

from touchstone.core.settings import Settings
from touchstone.http.middleware import EdgeMiddleware
from touchstone.http.packaged_files import PackagedFiles


@pytest.fixture
def client(tmp_path: Path) -> httpx2.AsyncClient:
    """Return a client of an application that serves a folder with one script, beside a file that it does not serve."""
    folder = tmp_path / "static"
    (folder / "scripts").mkdir(parents=True)
    (folder / "scripts" / "menu.js").write_text("open()")
    (tmp_path / "secret.txt").write_text("secret")

    app = EdgeMiddleware(PackagedFiles(folder), Settings())
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


async def test_a_file_comes_with_its_type_and_an_entity_tag(client: httpx2.AsyncClient) -> None:
    """A client that has the file already receives 304 instead."""
    response = await client.get("/scripts/menu.js")
    assert (response.status_code, response.text) == (200, "open()")
    assert response.headers["content-type"].startswith("text/javascript")

    repeated_response = await client.get("/scripts/menu.js", headers={"If-None-Match": response.headers["etag"]})
    assert (repeated_response.status_code, repeated_response.content) == (304, b"")


@pytest.mark.parametrize("path", ["/none.js", "/scripts", "/", "/%2e%2e/secret.txt"])
async def test_nothing_but_the_files_of_the_folder_is_served(client: httpx2.AsyncClient, path: str) -> None:
    """Folders, missing files and files outside the folder are not found."""
    assert (await client.get(path)).status_code == 404


async def test_files_can_only_be_read(client: httpx2.AsyncClient) -> None:
    """Other methods than GET and HEAD are refused."""
    response = await client.post("/scripts/menu.js")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")
