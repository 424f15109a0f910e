"""The links of a list are relative, so they lead on through the gateway, in both topologies."""

import pytest

from tests.serving import Service

PATHS = ("/api/v1/datasets/?limit=2&sort_by=year", "/api/v1/datasets/?page=1&page_size=2&sort_by=year")


@pytest.mark.parametrize("path", PATHS)
async def test_the_links_of_a_list_lead_through_the_gateway(service: Service, path: str) -> None:
    """Whoever follows the next links reads every record once."""
    user = await service.register("links@example.org")
    fields = {"description": "", "file_path": "", "file_type": ""}
    bodies = [{"name": f"n{number}", "year": 2000 + number, **fields} for number in range(5)]
    ids = {(await user.post("/api/v1/datasets/", json=body)).json()["id"] for body in bodies}

    listed_ids: list[int] = []
    while True:
        answer = await user.get(path)
        body = answer.json()
        listed_ids += [record["id"] for record in (body if isinstance(body, list) else body["datasets"])]
        if "next" not in answer.links:
            break
        path = "/api/v1/datasets/" + answer.links["next"]["url"]

    assert len(listed_ids) == len(set(listed_ids))
    assert ids <= set(listed_ids)
    await user.aclose()
