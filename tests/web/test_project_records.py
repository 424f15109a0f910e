"""What a project keeps: every choice, what has become of the chosen dataset, snapshots, and the report."""

import hashlib
import html
import json
import re
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks

REASON = "Its authors answer questions."
_FILLING_SIZES = (100_000, 20_000, 2_000, 100, 1)


@pytest.fixture
def records(api: httpx2.Client, email: str) -> list[dict[str, Any]]:
    """Create two public records of the reader, of which the first ranks higher."""
    datasets = []
    for name, year in (("Newer", 2024), ("Older", 2010)):
        body = {"name": f"{name} {email}", "description": "", "file_path": "", "file_type": "", "year": year}
        answer = api.post("/api/v1/datasets/", json={**body, "citations": 40, "transparency": True})
        assert answer.status_code == 201, answer.text
        datasets.append(answer.json())
    return datasets


@pytest.fixture
def project(api: httpx2.Client, email: str, records: list[dict[str, Any]]) -> str:
    """Create a project whose ranking contains only these two records, and return the path of its page."""
    weights = [{"criterion_name": "year", "weight": 3}, {"criterion_name": "transparency", "weight": 1}]
    body = {"name": "Loans", "criteria": {"dataset_name": email}, "weights": weights}
    return f"/app/projects/{api.post('/api/v1/projects', json=body).json()['id']}"


def choose(page: Page, name: str, reason: str) -> None:
    """Choose a dataset among the recommendations of a project."""
    form = page.locator("form", has=page.get_by_role("button", name="Keep this choice"))
    form.get_by_role("radio", name=name).check()
    form.get_by_label("Why this one?").fill(reason)
    form.get_by_role("button", name="Keep this choice").click()
    expect(page.get_by_role("status")).to_contain_text("The choice has been saved")


@pytest.mark.parametrize("scripts", [True, False])
def test_every_choice_is_kept_with_its_author_reason_and_digest(
    visit: Visit, project: str, records: list[dict[str, Any]], scripts: bool
) -> None:
    """A second choice does not overwrite the first one, and both are in the history and in the timeline."""
    page = visit(project, language="en", theme="auto", scripts=scripts)
    choose(page, records[0]["name"], "The most recent one.")
    choose(page, records[1]["name"], "Better known to us.")

    entries = page.locator(".past-choices > li")
    expect(entries).to_have_count(2)
    expect(entries.nth(0)).to_contain_text("Better known to us.")
    expect(entries.nth(0)).to_contain_text("rank 2 of 2")
    expect(entries.nth(1)).to_contain_text("The most recent one.")
    expect(entries.nth(1)).to_contain_text("by Ada, until")
    for entry in (0, 1):
        entries.nth(entry).locator(".digest summary").click()
        digest = entries.nth(entry).locator(".digest > code").inner_text()
        assert len(bytes.fromhex(digest)) == 32
    expect(page.locator(".timeline")).to_contain_text("The most recent one.")
    check_looks(page, thorough=scripts)


def test_the_project_says_that_its_chosen_dataset_has_changed(
    visit: Visit, api: httpx2.Client, project: str, records: list[dict[str, Any]]
) -> None:
    """The project and the list of projects say so, and what has changed stands side by side."""
    page = visit(project, language="en", theme="auto")
    choose(page, records[0]["name"], "It is transparent.")
    expect(page.locator("#choice-title ~ p .state")).to_have_text("unchanged since it was chosen")

    api.patch(f"/api/v1/datasets/{records[0]['id']}", json={"transparency": False})
    page.goto(project)
    notice = page.locator("#chosen-changed")
    expect(notice).to_contain_text("The record has changed since it was chosen.")
    notice.locator("summary").click()
    expect(notice.locator("tbody tr", has_text="Transparency").first).to_contain_text("yesno")
    check_looks(page)
    page.goto("/app/projects")
    expect(page.locator(".cards .tag")).to_have_text("changed since")


def test_long_names_and_many_events_fit_on_the_pages(
    visit: Visit, api: httpx2.Client, project: str, records: list[dict[str, Any]]
) -> None:
    """The list of projects is no wider than the window, and the timeline shows only the latest events at first."""
    long_name = f"{'A very long name ' * 12}{records[0]['name']}"
    api.patch(f"/api/v1/datasets/{records[0]['id']}", json={"name": long_name})
    for number in range(20):
        api.put(api_path(project), json={"chosen_dataset_id": records[0]["id"], "choice_reason": f"Reason {number}."})
    api.delete(f"/api/v1/datasets/{records[0]['id']}")

    page = visit("/app/projects", language="en", theme="auto")
    expect(page.locator(".cards .state")).to_contain_text(long_name)
    check_looks(page)

    page.goto(project)
    timeline = page.locator("section", has=page.get_by_role("heading", name="Timeline"))
    expect(timeline.get_by_text("Reason 19.")).to_be_visible()
    expect(timeline.get_by_text("Reason 0.")).not_to_be_visible()
    timeline.get_by_text("6 older events").click()
    expect(timeline.get_by_text("Reason 0.")).to_be_visible()


def test_a_deleted_dataset_leaves_its_name_and_digest(
    visit: Visit, api: httpx2.Client, project: str, records: list[dict[str, Any]]
) -> None:
    """The choice stays readable after the record is gone, and another dataset can be chosen."""
    page = visit(project, language="en", theme="auto")
    choose(page, records[0]["name"], "The most recent one.")
    digest = page.locator(".past-choices .digest > code").inner_text()

    assert api.delete(f"/api/v1/datasets/{records[0]['id']}").status_code == 204
    page.goto(project)
    expect(page.locator("#chosen-withdrawn")).to_contain_text(records[0]["name"])
    expect(page.locator(".past-choices > li")).to_contain_text(records[0]["name"])
    assert page.locator(".past-choices .digest > code").inner_text() == digest
    assert page.locator(f"a[href^='/app/datasets/{records[0]['id']}']").count() == 0
    check_looks(page)
    choose(page, records[1]["name"], "The only one left.")


@pytest.mark.parametrize("scripts", [True, False])
def test_a_choice_is_taken_back(visit: Visit, api: httpx2.Client, project: str, scripts: bool) -> None:
    """The project has no choice any more, and its history says since when and why."""
    page = visit(project, language="en", theme="auto", scripts=scripts)
    choose(page, "Newer", "The most recent one.")
    page.get_by_text("Take this choice back").first.click()
    page.get_by_label("Why? (optional)").fill("Its licence forbids it.")
    page.get_by_role("button", name="Take this choice back").click()

    expect(page.get_by_role("status")).to_contain_text("The choice has been taken back.")
    expect(page.get_by_text("Nothing chosen yet")).to_be_visible()
    latest, earlier = page.locator(".past-choices > li").all()
    expect(latest).to_contain_text("Choice taken back")
    expect(latest).to_contain_text("Its licence forbids it.")
    expect(earlier).to_contain_text("The most recent one.")
    check_looks(page, thorough=scripts)
    assert api.get(project.replace("/app", "/api/v1")).json()["chosen_dataset_id"] is None


def test_requirements_are_kept_in_the_project_and_in_its_history(
    visit: Visit, api: httpx2.Client, email: str, records: list[dict[str, Any]]
) -> None:
    """What the rank page requires is saved with the ranking; every dataset offered says whether it meets it."""
    page = visit(
        f"/app/?dataset_name={email}&gate.transparency=declared&gate.year_min=2020&assurance=declared",
        language="en",
        theme="auto",
    )
    page.get_by_role("link", name="Keep in a project", exact=True).click()
    page.get_by_label("Name of the project").fill("Strict")
    page.get_by_role("button", name="Create a project").click()

    (project,) = [project for project in api.get("/api/v1/projects").json() if project["name"] == "Strict"]
    assert project["gates"] == {"transparency": "declared", "year_min": 2020}
    expect(page.locator("#need-title ~ .chips", has_text="Transparency")).to_contain_text("declared")
    newer, older = (page.locator(".bars li", has_text=record["name"]) for record in records)
    expect(newer.locator(".gate.yes")).to_have_count(2)
    expect(older.locator(".gate.no")).to_contain_text("Year ≥ 2020")
    check_looks(page)

    choose(page, records[0]["name"], "It meets everything.")
    expect(page.locator(".past-choices > li")).to_contain_text("Requirements: Transparency declared, Year ≥ 2020.")


def test_the_choice_says_which_requirements_it_meets(
    visit: Visit, api: httpx2.Client, project: str, records: list[dict[str, Any]]
) -> None:
    """The badges stand beside the choice, which may be too far down the ranking for the list below it."""
    gates = {"transparency": "declared", "informed_consent": "documented", "year_min": 2020}
    body = {"gates": gates, "assurance": "declared", "chosen_dataset_id": records[1]["id"], "choice_reason": REASON}
    assert api.put(project.replace("/app", "/api/v1"), json=body).status_code == 200
    page = visit(project, language="en")
    badges = page.locator(".kept .gate")
    texts = [re.sub(r"\s+", " ", text).strip() for text in badges.all_inner_texts()]
    assert texts == ["Informed consent (unknown)", "Transparency (met)", "Year ≥ 2020 (not met)"]


@pytest.mark.parametrize("scripts", [True, False])
def test_a_snapshot_says_what_has_changed_since(
    visit: Visit, api: httpx2.Client, project: str, records: list[dict[str, Any]], scripts: bool
) -> None:
    """At first nothing has changed; then a changed record changes places, and a deleted one is gone."""
    page = visit(project, language="en", theme="auto", scripts=scripts)
    page.get_by_label("Note (optional)").fill("Before the meeting")
    page.get_by_role("button", name="Freeze the ranking").click()
    expect(page.get_by_role("status")).to_contain_text("The ranking is frozen.")
    expect(page.locator("#identical")).to_be_visible()
    expect(page.locator(".replay > li")).to_have_count(2)

    api.patch(f"/api/v1/datasets/{records[0]['id']}", json={"year": 2001})
    page.reload()
    expect(page.locator("#differs")).to_be_visible()
    rows = page.locator(".replay > li")
    expect(rows.nth(0)).to_contain_text("2 → 1")
    expect(rows.nth(0)).to_contain_text("Others have overtaken it or fallen behind.")
    expect(rows.nth(1)).to_contain_text("1 → 2")
    expect(rows.nth(1)).to_contain_text("Its record or its evidence has changed.")
    rows.nth(1).locator("summary").click()
    expect(rows.nth(1).locator(".changes", has_text="Year").last).to_contain_text("2001")
    check_looks(page, thorough=scripts)

    api.patch(f"/api/v1/datasets/{records[0]['id']}", json={"year": records[1]["year"]})
    page.reload()
    expect(rows.locator(".place")).to_contain_text(["1 → 1\u00a0=", "2 → 1\u00a0="])

    api.delete(f"/api/v1/datasets/{records[1]['id']}")
    page.reload()
    expect(page.locator(".replay > li", has_text=records[1]["name"])).to_contain_text("gone")
    page.goto(project)
    expect(page.locator("#snapshots-title ~ .list")).to_contain_text("Before the meeting")


def test_a_snapshot_counts_a_single_dataset_in_the_singular(
    client: httpx2.Client, api: httpx2.Client, project: str, records: list[dict[str, Any]]
) -> None:
    """The sentence about the number of ranked datasets agrees with the number before the change."""
    api.delete(f"/api/v1/datasets/{records[0]['id']}")
    snapshot = api.post(f"{project.replace('/app', '/api/v1')}/snapshots", json={}).json()
    api.delete(f"/api/v1/datasets/{records[1]['id']}")
    page = client.get(f"{project}/snapshots/{snapshot['id']}").text
    assert "The ranking had 1 dataset; it has 0 now." in page


def test_a_snapshot_is_deleted_on_its_page(visit: Visit, api: httpx2.Client, project: str) -> None:
    """After a confirmation, the project no longer lists it."""
    path = project.replace("/app", "/api/v1") + "/snapshots"
    snapshot = api.post(path).json()["id"]
    page = visit(f"{project}/snapshots/{snapshot}", language="en")
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete the snapshot").click()
    expect(page.get_by_role("status")).to_contain_text("The snapshot has been deleted.")
    assert api.get(path).json() == []


def test_a_snapshot_that_was_interrupted_is_shown_again_and_not_taken(
    server: str, session_cookies: dict[str, str], api: httpx2.Client, project: str
) -> None:
    """After signing in again, the form comes back with its note, and only a second click freezes the ranking."""
    form = {"form": "snapshot", "note": "Before the meeting", "returned": "yes"}
    with httpx2.Client(base_url=server, cookies=session_cookies, headers={"Origin": server}, timeout=60) as client:
        answer = client.post(f"{project}/snapshots", data=form)
    assert answer.status_code == 200
    assert 'value="Before the meeting"' in answer.text
    assert api.get(f"{project.replace('/app', '/api/v1')}/snapshots").json() == []


def test_the_file_of_a_snapshot_has_the_digest_that_the_page_shows(
    server: str, session_cookies: dict[str, str], api: httpx2.Client, project: str
) -> None:
    """Anybody can check the saved file with a tool of their own."""
    snapshot = api.post(f"{project.replace('/app', '/api/v1')}/snapshots").json()
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        answer = client.get(f"{project}/snapshots/{snapshot['id']}.json")
        page = client.get(f"{project}/snapshots/{snapshot['id']}").text
    assert answer.headers["content-disposition"].startswith("attachment")
    assert hashlib.sha256(answer.content).hexdigest() == snapshot["sha256"]
    assert snapshot["sha256"] in page


def test_the_report_is_shown_and_saved_in_both_languages(
    visit: Visit, project: str, records: list[dict[str, Any]]
) -> None:
    """The preview shows the report in the chosen language, and each format is a file with the same digest."""
    page = visit(project, language="en", theme="auto")
    choose(page, records[0]["name"], "The most recent one.")
    page.get_by_role("link", name="Read the report").click()
    report = page.frame_locator("iframe.report")
    expect(report.locator("html")).to_have_attribute("lang", "en")
    expect(report.locator("body")).to_contain_text("The most recent one.")
    page.get_by_role("link", name="View in French").click()
    expect(report.locator("html")).to_have_attribute("lang", "fr")

    digest = json.loads(page.request.get(f"{project}/report.json").body())["sha256"]
    for language in ("fr", "en"):
        assert digest in page.request.get(f"{project}/report.html?lang={language}").text()
        pdf = page.request.get(f"{project}/report.pdf?lang={language}")
        assert pdf.headers["content-type"] == "application/pdf"
        assert pdf.body().startswith(b"%PDF")
    assert page.request.get(f"{project}/report.doc").status == 404


def test_the_page_of_the_report_says_what_its_json_is_for(client: httpx2.Client, project: str) -> None:
    """The report asks to be filed together with its JSON, which is therefore not only for programs."""
    assert "to verify the report later" in client.get(f"{project}/report").text


def test_the_report_runs_nothing(server: str, session_cookies: dict[str, str], api: httpx2.Client) -> None:
    """Names with markup are shown as text, and the security policy allows neither scripts nor other files."""
    hostile = "<script>document.title='owned'</script>"
    body = {"name": hostile, "chosen_dataset_id": 1, "choice_reason": hostile}
    project_id = api.post("/api/v1/projects", json=body).json()["id"]
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        answer = client.get(f"/app/projects/{project_id}/report.html")
    assert hostile not in answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "sandbox" in policy


@pytest.mark.parametrize("path", ["snapshots/00000000-0000-0000-0000-000000000000", "report", "report.pdf"])
def test_what_foreign_projects_keep_looks_missing(
    server: str, session_cookies: dict[str, str], api: httpx2.Client, email: str, path: str
) -> None:
    """Neither the snapshots nor the report of somebody else's project can be distinguished from missing ones."""
    other_user = {"email": f"other-{email}", "password": "autre phrase bien longue"}
    with httpx2.Client(base_url=server, timeout=60) as client:
        client.post("/api/v1/auth/register", json=other_user)
        form = {"username": other_user["email"], "password": other_user["password"]}
        token = client.post("/api/v1/auth/login", json=form).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        foreign_project_id = client.post("/api/v1/projects", json={"name": "secret"}, headers=headers).json()["id"]
    with httpx2.Client(base_url=server, cookies=session_cookies, timeout=60) as client:
        for project_id in (foreign_project_id, "00000000-0000-0000-0000-000000000000"):
            answer = client.get(f"/app/projects/{project_id}/{path}")
            assert answer.status_code == 404
            assert "Projet non trouvé" in answer.text
            assert "demandez-lui d’en transmettre le rapport" in answer.text


def test_a_project_that_was_changed_meanwhile_is_not_overwritten(
    server: str, session_cookies: dict[str, str], api: httpx2.Client, project: str
) -> None:
    """The form remembers the version that it shows, and keeps what was entered if a newer one exists."""
    cookies = session_cookies | {"touchstone_language": "en"}
    with httpx2.Client(base_url=server, cookies=cookies, headers={"Origin": server}, timeout=60) as client:
        first_tab, second_tab = (
            {
                "name": "Loans",
                "form": "change",
                "etag": html.unescape(re.findall(r'name="etag" value="([^"]+)"', page)[0]),
            }
            for page in (client.get(project).text, client.get(project).text)
        )
        answer = client.post(f"{project}/change", data={**first_tab, "description": "Alpha"})
        assert answer.status_code == 303

        answer = client.post(f"{project}/change", data={**second_tab, "description": "Beta"})
        assert answer.status_code == 412
        assert "The resource has changed since you read it" in answer.text
        assert "Start again from the current project" in answer.text
        assert re.search(
            r"<details class=\"panel\" open><summary><h2>Manage</h2>.*>Beta</textarea>", answer.text, re.DOTALL
        )
        assert api.get(project.replace("/app", "/api/v1")).json()["description"] == "Alpha"

        # Sending the same form again does not overwrite the newer description either.
        etag = etag_of(answer.text, "change")
        assert client.post(f"{project}/change", data={**second_tab, "etag": etag}).status_code == 412


def test_a_project_is_created_before_its_first_choice(
    server: str, session_cookies: dict[str, str], api: httpx2.Client, records: list[dict[str, Any]]
) -> None:
    """A project may be created together with a choice, at the same time; the newest event stands first."""
    body = {"name": "Loans", "chosen_dataset_id": records[0]["id"], "choice_reason": "The only one."}
    created = api.post("/api/v1/projects", json=body).json()
    assert api.get(f"/api/v1/projects/{created['id']}/choices").json()[0]["at"] == created["created_at"]

    cookies = session_cookies | {"touchstone_language": "en"}
    with httpx2.Client(base_url=server, cookies=cookies, timeout=60) as client:
        page = client.get(f"/app/projects/{created['id']}").text
    timeline = page.partition('<ol class="timeline">')[2].partition("</ol>")[0]
    assert timeline.index("Chosen:") < timeline.index("Project created")


def api_path(page: str) -> str:
    """Return the path in the API of the project that a page shows."""
    return page.replace("/app", "/api/v1")


def etag_of(page: str, form_name: str) -> str:
    """Return the version of the project that a form of its page holds."""
    [etag] = re.findall(rf'name="form" value="{form_name}"><input type="hidden" name="etag" value="([^"]+)"', page)
    return html.unescape(etag)


def fill_quota(api: httpx2.Client) -> None:
    """Create projects until their owner has no room for another byte."""
    for size in _FILLING_SIZES:
        body = {
            "name": "Filler",
            "description": "\N{GRINNING FACE}" * size,
            "choice_reason": "\N{GRINNING FACE}" * size,
        }
        while api.post("/api/v1/projects", json=body).status_code == 201:
            pass


@pytest.mark.parametrize("form_name", ["reason", "take-back"])
@pytest.mark.parametrize("is_taken_back", [False, True])
def test_a_newer_choice_is_neither_replaced_nor_taken_back(
    client: httpx2.Client,
    api: httpx2.Client,
    project: str,
    records: list[dict[str, Any]],
    form_name: str,
    is_taken_back: bool,
) -> None:
    """Forms about a choice that the project no longer has are refused, and keep the text for the reader."""
    first, second = (record["id"] for record in records)
    api.put(api_path(project), json={"chosen_dataset_id": first, "choice_reason": "The first one."})
    page = client.get(project).text
    newer_choice = {"chosen_dataset_id": None if is_taken_back else second, "choice_reason": "On second thoughts."}
    api.put(api_path(project), json=newer_choice)

    form = {"form": form_name, "etag": etag_of(page, form_name), "reason": REASON}
    answer = client.post(f"{project}/{form_name}", data=form)

    assert answer.status_code == 412
    assert "The resource has changed since you read it" in answer.text
    assert "What you entered is still in its form" in answer.text
    assert f">{REASON}</textarea>" in answer.text
    stored = api.get(api_path(project)).json()
    assert {name: stored[name] for name in newer_choice} == newer_choice

    if not is_taken_back:
        form["etag"] = etag_of(client.get(project).text, form_name)
        assert client.post(f"{project}/{form_name}", data=form).status_code == 303
        stored = api.get(api_path(project)).json()
        chosen_id = second if form_name == "reason" else None
        assert (stored["chosen_dataset_id"], stored["choice_reason"]) == (chosen_id, REASON)


def test_a_choice_from_another_tab_is_not_replaced_unseen(
    client: httpx2.Client, api: httpx2.Client, project: str, records: list[dict[str, Any]]
) -> None:
    """Two tabs show the project without a choice; the second one to choose is told, and keeps what was entered."""
    [etag] = re.findall(
        r'name="project" value="[^"]+"><input type="hidden" name="etag" value="([^"]+)"', client.get(project).text
    )
    form = {"project": project.rpartition("/")[2], "etag": html.unescape(etag)}
    first_tab, second_tab = (
        form | {"dataset": str(record["id"]), "reason": f"Because of {record['name']}."} for record in records
    )

    assert client.post("/app/projects/choose", data=first_tab).status_code == 303
    for _ in range(2):
        answer = client.post("/app/projects/choose", data=second_tab)
        assert answer.status_code == 412
        assert "The resource has changed since you read it" in answer.text
        assert f">{second_tab['reason']}</textarea>" in answer.text
    assert api.get(api_path(project)).json()["choice_reason"] == first_tab["reason"]


@pytest.mark.parametrize("has_offers", [True, False])
def test_nothing_is_lost_when_there_is_no_room(
    client: httpx2.Client,
    api: httpx2.Client,
    project: str,
    records: list[dict[str, Any]],
    has_offers: bool,
) -> None:
    """Forms that are refused because the quota is used up are shown again with what was entered."""
    if not has_offers:
        api.put(api_path(project), json={"criteria": {"year_min": 2300}})
    api.put(api_path(project), json={"chosen_dataset_id": records[0]["id"], "choice_reason": "r"})
    fill_quota(api)
    project_id = project.rpartition("/")[2]
    text = "A text of its own. " * 100

    for address, form in (
        ("/app/projects/choose", {"project": project_id, "dataset": records[1]["id"], "reason": text}),
        (f"{project}/reason", {"form": "reason", "reason": text}),
        (f"{project}/take-back", {"form": "take-back", "reason": text}),
        (f"{project}/change", {"form": "change", "name": "Loans", "description": text}),
        (f"{project}/snapshots", {"form": "snapshot", "note": text}),
        ("/app/projects/new", {"name": "Another", "description": text}),
    ):
        answer = client.post(address, data=form)
        assert answer.status_code == 413, address
        assert 'role="alert"' in answer.text
        assert text.strip() in answer.text, address


def test_a_long_text_in_a_list_ends_with_an_ellipsis(client: httpx2.Client, api: httpx2.Client) -> None:
    """A text that is cut off after a full stop does not seem to end with four of them."""
    api.post("/api/v1/projects", json={"name": "Long", "description": "word " * 60})
    assert "word word…<" in client.get("/app/projects").text


def test_lists_that_are_called_complete_are(
    client: httpx2.Client,
    api: httpx2.Client,
    project: str,
    records: list[dict[str, Any]],
) -> None:
    """The page of a project has every choice, and projects have pages, and are all offered for selection."""
    for number in range(103):
        api.put(api_path(project), json={"choice_reason": f"Reason {number}."})
        api.post("/api/v1/projects", json={"name": f"Project {number:03}"})

    page = client.get(project).text
    assert "Reason 0.<" in page
    assert re.search(r"Every choice <span class=\"count\">\(103\)", page)

    names = set()
    for number in (1, 2, 3):
        names |= set(re.findall(r">(Project \d{3})</a>", client.get(f"/app/projects?page={number}").text))
    assert len(names) == 103
    beyond_last_page = client.get("/app/projects?page=9999", follow_redirects=False)
    assert re.fullmatch(r"/app/projects\?page=\d{1,2}", beyond_last_page.headers["location"])
    for address in ("/app/projects/new", f"/app/datasets/{records[0]['id']}"):
        assert len(re.findall(r">Project \d{3}</option>", client.get(address).text)) == 103
