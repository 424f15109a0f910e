"""Import of documents through the gateway, in one process and with the selection backend behind HTTP."""

from typing import Any

from tests.metadata.examples import CARD, CROISSANT, INFOS, as_bytes
from touchstone.client import AsyncTouchstone, ImportStatus, InProcess


async def test_documents_are_imported_through_the_gateway(service: Any) -> None:
    """A form reaches the backend unchanged, and the typed client reads the report."""
    async with await service.register("import@example.org") as http_client:
        token = http_client.headers["Authorization"].removeprefix("Bearer ")
        form = [("files", ("signs/README.md", CARD.encode())), ("files", ("signs/dataset_infos.json", as_bytes(INFOS)))]
        answer = await http_client.post("/api/v1/datasets/import", files=form)
        assert answer.status_code == 201, answer.text
        assert answer.json()["results"][0]["dataset"]["instances_number"] == 1000

        assert (await http_client.post("/datasets/import", content=as_bytes(CROISSANT))).status_code in (401, 404)
        async with service.client() as guest:
            assert (await guest.post("/api/v1/datasets/import", content=as_bytes(CROISSANT))).status_code == 401

    async with AsyncTouchstone("http://touchstone.test", token, transport=InProcess(service.app)) as client:
        report = await client.import_documents([("signs.json", as_bytes(CROISSANT))], source_name="Signs")
        [result] = report.results
        assert (result.status, result.standard) == (ImportStatus.CREATED, "croissant")
        assert {claim.attribute for claim in result.evidence} >= {"year"}
        second_report = await client.import_documents([("signs.json", as_bytes(CROISSANT))], source_name="Signs")
        assert [result.status for result in second_report.results] == [ImportStatus.UNCHANGED]
