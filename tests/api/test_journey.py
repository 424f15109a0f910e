"""The main use of the product, through the public API, on every database and topology."""

from tests.serving import Service

RECORD = {"name": "Cohorte été", "description": "d", "file_path": "none.csv", "file_type": "csv"}


async def test_from_a_need_to_a_kept_choice(service: Service) -> None:
    """Register, describe a dataset, rank with one's own weights, store the choice in a project, and read it again."""
    user = await service.register("ada@example.org")
    body = {**RECORD, "domain": ["health"], "year": 2020, "informed_consent": True, "anonymization_applied": True}
    dataset_answer = await user.post("/api/v1/datasets/", json=body)
    assert dataset_answer.status_code == 201, dataset_answer.text
    await user.post("/api/v1/datasets/", json={**RECORD, "name": "Autre", "domain": ["health"]})
    weights = [{"criterion_name": "ethical_score", "weight": 0.6}, {"criterion_name": "year", "weight": 0.4}]
    ranking = await user.post("/api/v1/datasets/score", json={"filters": {"domain": ["HEALTH"]}, "weights": weights})
    assert [row["dataset_name"] for row in ranking.json()] == ["Cohorte été", "Autre"]
    assert ranking.json()[0]["score"] == (0.6 * 0.2 + 0.4 * (20 / 24)) / 1.0
    project_answer = await user.post(
        "/projects",
        json={
            "name": "Étude",
            "criteria": {"domain": ["health"]},
            "weights": weights,
            "chosen_dataset_id": dataset_answer.json()["id"],
            "choice_reason": "consent is documented",
        },
    )
    assert project_answer.status_code == 201, project_answer.text
    recommendations = await user.get(f"/api/v1/projects/{project_answer.json()['id']}/recommendations")
    assert recommendations.json()["total_count"] == 2
    assert recommendations.json()["datasets"][0]["id"] == dataset_answer.json()["id"]


async def test_a_private_record_is_seen_by_its_owner_alone(service: Service) -> None:
    """For other users, a private record is in no list, count, facet, search or score, and its id is unknown."""
    owner, stranger = await service.register("o@example.org"), await service.register("p@example.org")
    body = {**RECORD, "visibility": "private", "domain": ["rare"]}
    dataset = (await owner.post("/api/v1/datasets/", json=body)).json()
    for user, count in ((owner, 1), (stranger, 0)):
        page = (await user.get("/api/v1/datasets/?page=1")).json()
        assert (page["total_count"], len(page["datasets"])) == (count, count)
        assert len((await user.post("/api/v1/datasets/score", json={})).json()) == count
        assert len((await user.post("/api/v1/datasets/search", json={"name_contains": "ete"})).json()) == count
        assert ("rare" in (await user.get("/api/v1/datasets/facets")).text) is bool(count)
        assert (await user.get(f"/api/v1/datasets/{dataset['id']}")).status_code == (200 if count else 404)
        assert (await user.get(f"/api/v1/datasets/{dataset['dataset_id']}")).status_code == (200 if count else 404)
        assert (await user.patch(f"/api/v1/datasets/{dataset['id']}", json={"year": 2000})).status_code == (
            200 if count else 404
        )


async def test_the_fixed_sentences_are_exact(service: Service) -> None:
    """The texts that the interface fixes are in French, whatever language is requested."""
    english = {"Accept-Language": "en"}
    async with service.client(**english) as guest:
        refusal = await guest.get("/api/v1/datasets/")
        assert (refusal.status_code, refusal.json()["detail"]) == (401, "Non autorisé")
        assert refusal.headers["WWW-Authenticate"] == "Bearer"
        assert (await guest.get("/api/v1/nowhere")).status_code == 401
    user = await service.register("ada@example.org")
    answer = await user.get("/projects/11111111-2222-4333-8444-555555555555", headers=english)
    assert (answer.status_code, answer.json()["detail"]) == (404, "Projet non trouvé")
    assert (await user.get("/api/v1/datasets/999999")).json()["detail"] == "Jeu de données non trouvé"
    assert (await user.get("/api/v1/datasets/999999", headers=english)).json()["detail"] == "Dataset not found"
    assert (await user.get("/api/v1/nowhere")).status_code == 404


async def test_both_slash_forms_are_one_route(service: Service) -> None:
    """There is no redirect, which would make a client lose its token or its body."""
    user = await service.register("ada@example.org")
    for path in ("/api/v1/datasets", "/projects", "/api/v1/projects", "/users/me", "/api/v1/users/me"):
        assert [(await user.get(path + end)).status_code for end in ("", "/")] == [200, 200], path
    for path in ("/api/v1/datasets/score", "/api/v1/datasets/search"):
        assert [(await user.post(path + end, json={})).status_code for end in ("", "/")] == [200, 200], path
    assert [(await user.post("/api/v1/datasets" + end, json=RECORD)).status_code for end in ("", "/")] == [201, 201]


async def test_identity_headers_of_a_client_change_nothing(service: Service) -> None:
    """Whatever identity headers a client sends, it acts as the user of its token."""
    owner, stranger = await service.register("o@example.org"), await service.register("p@example.org")
    owner_id = (await owner.get("/users/me")).json()["id"]
    await owner.post("/projects", json={"name": "secret"})
    for name in ("X-User-ID", "x-user-id", "X_User_ID", "X.User.ID", "X-User-Id "[:-1]):
        assert (await stranger.get("/projects", headers={name: owner_id})).json() == [], name
    assert (await stranger.get("/projects", headers={"Connection": "X-User-ID", "X-User-ID": owner_id})).json() == []
