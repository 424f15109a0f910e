"""Claims through the gateway: roles reach the selection backend, whether it is in the same process or another one."""

from tests.serving import Service
from touchstone.database.engine import Database
from touchstone.services.gateway import accounts

RECORD = {"name": "Cohort", "description": "d", "file_path": "none.csv", "file_type": "csv"}
CLAIM = {"attribute": "informed_consent", "value": True, "quote": "All gave written consent."}


async def test_a_claim_is_proposed_accepted_and_confirmed(service: Service) -> None:
    """An administrator appoints a curator, who finds a proposal in the queue and confirms it for everybody."""
    database = Database(service.settings.effective_database_url)
    await accounts.create_user(database, email="root@example.org", password="correct horse battery", is_superuser=True)
    await database.close()
    async with service.client() as guest:
        credentials = {"username": "root@example.org", "password": "correct horse battery"}
        token = (await guest.post("/api/v1/auth/login", data=credentials)).json()["access_token"]
    root = service.client(token)
    creator = await service.register("creator@example.org")
    stranger = await service.register("stranger@example.org")
    curator = await service.register("curator@example.org")

    await creator.patch("/users/me", json={"pseudo": "Grace"})
    record = (await creator.post("/api/v1/datasets/", json=RECORD)).json()
    assert record["declared_by"]["pseudo"] == "Grace"
    evidence_path = f"/api/v1/datasets/{record['id']}/evidence"
    proposal = (await stranger.post(evidence_path, json=CLAIM)).json()
    review_path = f"{evidence_path}/{proposal['id']}/review"
    assert (await curator.post(review_path, json={"decision": "confirm"})).status_code == 403

    curator_id = (await curator.get("/users/me")).json()["id"]
    answer = await root.patch(f"/api/v1/admin/users/{curator_id}", json={"is_curator": True})
    assert answer.json()["is_curator"]
    queue = (await curator.get("/api/v1/evidence/proposals/")).json()
    assert [(item["id"], item["dataset_name"]) for item in queue["proposals"]] == [(proposal["id"], "Cohort")]
    answer = await curator.post(review_path, json={"decision": "confirm"})
    assert (answer.status_code, answer.json()["level"]) == (200, "reviewed")
    answer = await stranger.get("/api/v1/datasets?informed_consent=true&assurance=reviewed")
    assert [item["id"] for item in answer.json()] == [record["id"]]

    hidden_path = f"/api/v1/admin/datasets/{record['id']}/hidden"
    assert (await curator.put(hidden_path, json={"hidden": True})).status_code == 403
    assert (await root.put(hidden_path, json={"hidden": True, "reason": "Spam"})).status_code == 200
    answers = [
        await stranger.post("/api/v1/ml/train", json={"dataset_id": id_, "target": "y"})
        for id_ in (record["id"], record["id"] + 1000)
    ]
    assert answers[0].status_code == answers[1].status_code
    assert answers[0].content == answers[1].content
    assert (await stranger.get(evidence_path)).status_code == 404
    assert (await creator.get(evidence_path)).status_code == 200

    for client in (root, creator, stranger, curator):
        await client.aclose()
