"""Evidence on the pages: why a record ranks where it does, claims with their sources, and the review queue."""

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import PASSWORD, Visit
from tests.web.page_checks import check_looks
from touchstone.core.attributes import ETHICAL
from touchstone.web.views.evidence_view import quote_in_context

QUOTE = "Every patient signed a consent form before the first visit."
DESCRIPTION = f"Visits to the wards of one hospital. {QUOTE} Names were replaced by numbers."


@pytest.fixture
def stranger(server: str, email: str) -> Iterator[httpx2.Client]:
    """Return a client of the API that acts as another user, who is called Grace."""
    account = {"email": f"stranger-{email}", "password": PASSWORD, "pseudo": "Grace"}
    with httpx2.Client(base_url=server, timeout=60) as client:
        assert client.post("/api/v1/auth/register", json=account).status_code == 201
        credentials = {"username": account["email"], "password": PASSWORD}
        token = client.post("/api/v1/auth/login", json=credentials).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


@pytest.fixture
def record(api: httpx2.Client, email: str) -> dict[str, Any]:
    """Create a public record of the reader, who declares that it meets all ten criteria."""
    fields = {"name": f"Ward visits {email}", "description": DESCRIPTION, "file_path": "", "file_type": ""}
    answer = api.post("/api/v1/datasets/", json={**fields, **dict.fromkeys(ETHICAL, True), "citations": 9_999_999})
    assert answer.status_code == 201, answer.text
    dataset: dict[str, Any] = answer.json()
    return dataset


def propose(client: httpx2.Client, dataset_id: int, attribute: str, value: bool, quote: str = QUOTE) -> str:
    """Propose a claim and return its id."""
    body = {"attribute": attribute, "value": value, "quote": quote, "place": "description", "source": {"name": "Card"}}
    answer = client.post(f"/api/v1/datasets/{dataset_id}/evidence", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


@pytest.mark.parametrize(("language", "width"), [("en", 1280), ("fr", 360)])
def test_the_author_of_a_first_record_learns_why_it_is_at_the_bottom(
    visit: Visit, record: dict[str, Any], language: str, width: int
) -> None:
    """The page of the record, and its row, say that declarations do not count, and lead to both remedies."""
    page = visit(f"/app/datasets/{record['id']}", language=language, width=width, theme="auto")
    notice = page.locator("#lowered")
    expect(notice).to_contain_text("merely declared" if language == "en" else "seulement déclarées")
    explanation = "do not count" if language == "en" else "ne comptent pas"
    expect(page.locator("#ethics-title")).to_contain_text(explanation)
    expect(page.locator("#facts-title")).to_have_count(0)  # nothing is known beyond the attributes
    notice.locator("a.button").first.click()
    expect(page.locator("form.panel textarea[name=quote]")).to_be_visible()

    page.goto(f"/app/?dataset_name={record['name']}")
    row = page.locator(f'[data-id="{record["id"]}"]')
    expect(row.locator(".known")).to_contain_text("10")
    expect(row.locator(".declarer")).to_contain_text("Ada")
    page.locator('.assurance a[data-live="assurance-declared"]').click()
    expect(page).to_have_url(
        f"{page.url.partition('/app/')[0]}/app/?dataset_name={encode_query_value(record['name'])}&assurance=declared"
    )
    expect(row.locator(".score")).not_to_have_text("–")
    check_looks(page)


def encode_query_value(text: str) -> str:
    """Return a text as the canonical address of the rank page contains it."""
    return str(httpx2.QueryParams({"x": text})).removeprefix("x=")


def test_readers_without_a_display_name_recognize_themselves(server: str, email: str) -> None:
    """The page of a record names its author “you” for the author, and anonymously for everybody else."""
    pages: list[str] = []
    with httpx2.Client(base_url=server, headers={"Origin": server, "Accept-Language": "en"}, timeout=60) as client:
        for address in (f"nameless-{email}", f"other-{email}"):
            client.cookies.clear()
            form = {"email": address, "password": PASSWORD}
            assert client.post("/app/register", data=form).status_code == 303
            if not pages:
                record_page = client.post("/app/datasets/new", data={"name": f"Of {email}"}).headers["location"]
            pages.append(client.get(record_page).text)
    assert "Declared by you<" in pages[0]
    assert "Declared by somebody without a display name<" in pages[1]


def test_unsupported_claims_do_not_lead_the_ranking(visit: Visit, record: dict[str, Any]) -> None:
    """A record that declares everything is not among the first, and the page names it and offers the other level."""
    page = visit("/app/?profile=ethical", language="en")
    assert page.locator(f'#results [data-id="{record["id"]}"]').count() == 0
    expect(page.locator("#lowered")).to_contain_text("merely declared", ignore_case=True)
    page.locator("#lowered a").click()
    expect(page.locator(f'#results [data-id="{record["id"]}"]')).to_have_count(1)


def test_a_later_page_names_no_datasets_that_rank_higher(visit: Visit, api: httpx2.Client, email: str) -> None:
    """Without evidence, the order of these datasets is reversed, so those on page 2 have risen to page 1."""
    for number in range(25):
        fields = {"name": f"{number:02} {email}", "description": "", "file_path": "", "file_type": ""}
        assert api.post("/api/v1/datasets/", json={**fields, "citations": 2 + number}).status_code == 201

    ranking = f"/app/?dataset_name={email}&w.citations=100&view=table"
    first_page = visit(ranking, language="en")
    expect(first_page.locator("#lowered")).to_contain_text("Ranked lower, or not at all")
    second_page = visit(f"{ranking}&page=2", language="en")
    expect(second_page.locator("#results")).to_contain_text(f"24 {email}")
    expect(second_page.locator("#lowered")).to_be_hidden()


def test_claims_stand_side_by_side_with_their_sources(
    visit: Visit, record: dict[str, Any], api: httpx2.Client, stranger: httpx2.Client
) -> None:
    """A proposal, its quote, its author and the rule are on the page; withdrawn, the claim stays in the history."""
    propose(stranger, record["id"], "informed_consent", False, "Patients were not asked.")
    page = visit(f"/app/datasets/{record['id']}", language="en", theme="auto")
    details = page.locator("#evidence-informed_consent")
    details.locator("summary").first.click()
    expect(details.locator(".claim")).to_have_count(2)
    expect(details.locator(".claim.proposed")).to_contain_text("Patients were not asked.")
    expect(details.locator(".claim.proposed")).to_contain_text("Grace")
    details.get_by_text("Decision rule").click()
    expect(details).to_contain_text("The people agreed to this collection or release")
    check_looks(page)

    page.on("dialog", lambda dialog: dialog.accept())
    details.locator(".claim.active button").click()
    expect(page.locator(".notice.good")).to_contain_text("withdrawn")
    details.locator("summary").first.click()
    details.get_by_text("1 rejected or withdrawn claim").click()
    expect(details.locator(".claim.withdrawn")).to_be_visible()


def test_a_claim_says_by_which_rule_and_when_it_was_decided(
    api: httpx2.Client, client: httpx2.Client, email: str
) -> None:
    """The page of a record says why the quote shows the value, and when a claim was accepted and withdrawn."""
    headers = {"Content-Type": "text/markdown"}
    params = {"format": "hf_card", "name": email}
    answer = api.post("/api/v1/datasets/import", content=CARD, headers=headers, params=params)
    result = answer.json()["results"][0]
    dataset_id = result["dataset"]["id"]
    evidence_path = f"/api/v1/datasets/{dataset_id}/evidence"
    (proposal,) = [claim for claim in result["proposals"] if claim["attribute"] == "anonymization_applied"]
    assert api.post(f"{evidence_path}/{proposal['id']}/review", json={"decision": "accept"}).status_code == 200
    answer = api.post(f"{evidence_path}/{proposal['id']}/withdraw")

    page = client.get(f"/app/datasets/{dataset_id}", headers={"Accept-Language": "en"}).text
    card = page.partition(f'id="claim-{proposal["id"]}"')[2].partition("</article>")[0]
    assert "Reason: identifiers were removed or replaced" in card
    times = re.findall(r'<li>(Accepted by|Withdrawn on)[^<]* <time datetime="([^"]*)">', card)
    moments = {verb: datetime.fromisoformat(time) for verb, time in times}
    claim = answer.json()
    assert moments["Accepted by"] == datetime.fromisoformat(claim["review"]["at"])
    assert moments["Withdrawn on"] == datetime.fromisoformat(claim["withdrawn_at"])


@pytest.mark.parametrize(
    ("quote", "before"),
    [("4", None), ("label", None), ("The labels were checked by 4 readers.", "Letters of 1914. ")],
)
def test_only_quotes_of_prose_have_a_context(quote: str, before: str | None) -> None:
    """A number or the name of a column that happens to occur in the description is not marked there."""
    context = quote_in_context(quote, ("Letters of 1914. The labels were checked by 4 readers.",))
    assert (context.before if context else None) == before


def test_a_value_and_its_level_are_read_apart(visit: Visit, api: httpx2.Client) -> None:
    """In French, the words for "no" and "measured" without a comma would mean "not measured"."""
    filters: dict[str, Any] = {"trainable": True, "has_missing_values": False, "limit": 2}
    pins = "&".join(f"pin={dataset['id']}" for dataset in api.get("/api/v1/datasets/", params=filters).json())
    page = visit(f"/app/compare?{pins}", language="fr")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="Valeurs manquantes", exact=True))
    assert re.sub(r"\s+", " ", row.get_by_role("cell").first.text_content() or "").strip() == "non, mesuré"


def test_proposals_are_reviewed_with_the_keyboard(
    visit: Visit, record: dict[str, Any], api: httpx2.Client, stranger: httpx2.Client
) -> None:
    """Keys accept and reject; the quote stands in its context; the queue goes on to the next proposal."""
    propose(stranger, record["id"], "informed_consent", True)
    propose(stranger, record["id"], "user_control", False, "There is no way to have data removed.")
    page = visit("/app/review", language="en", theme="auto")
    expect(page.locator("#proposal")).to_be_focused()
    expect(page.locator(".context mark")).to_have_text(QUOTE)
    # A screen reader must not read the source's words as if they were in the language of the page.
    expect(page.locator(".context")).to_have_attribute("lang", "")
    expect(page.locator("#proposal")).to_contain_text("1 of 2")
    # The creator of a record accepts or rejects; only a curator may confirm, too.
    expect(page.locator("#proposal .scripted")).to_contain_text("A accept, R reject, N skip, B back, E write a note.")
    check_looks(page)

    page.keyboard.press("e")
    page.keyboard.type("accepted after reading")
    page.keyboard.press("Escape")
    page.keyboard.down("a")
    expect(page.locator("#proposal")).to_contain_text("1 of 1")
    expect(page.locator("#proposal-title")).to_have_text("User control")
    expect(page.locator("#proposal")).to_be_focused()
    page.keyboard.down("a")  # a repetition, because the key is still held down
    page.keyboard.up("a")
    page.keyboard.press("r")
    expect(page.get_by_role("heading", name="Nothing is waiting")).to_be_visible()

    evidence = api.get(f"/api/v1/datasets/{record['id']}/evidence").json()
    by_attribute = {claim["attribute"]: claim for claim in evidence["claims"] if claim["quote"]}
    assert by_attribute["informed_consent"]["review"]["note"] == "accepted after reading"
    assert by_attribute["user_control"]["status"] == "rejected"


def test_claims_are_made_and_reviewed_without_scripts(
    visit: Visit, record: dict[str, Any], stranger: httpx2.Client
) -> None:
    """The form for a claim and the queue are plain forms; a form without a value says so beside the field."""
    page: Page = visit(f"/app/datasets/{record['id']}/claims/new?attribute=transparency", language="en", scripts=False)
    page.locator("input[name=value][value=false]").check()
    page.get_by_label("Quote").fill("The origin of the data is not known.")
    page.get_by_label("Valid until").fill("2099-01-31")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice.good")).to_contain_text("The claim has been saved.")
    assert "until Jan 31, 2099" in (page.locator("main").text_content() or "")

    propose(stranger, record["id"], "informed_consent", True)
    page.goto("/app/review")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Nothing is waiting")).to_be_visible()


def test_an_acceptance_can_be_taken_back(
    api: httpx2.Client, client: httpx2.Client, record: dict[str, Any], stranger: httpx2.Client
) -> None:
    """The creator of a record may still reject what the same person has accepted, and the page offers nothing else."""
    claim = propose(stranger, record["id"], "informed_consent", False)
    path = f"/api/v1/datasets/{record['id']}/evidence/{claim}/review"
    assert api.post(path, json={"decision": "accept"}).json()["status"] == "active"

    review_page = client.get(f"/app/review/{record['id']}/{claim}").text
    assert re.findall(r'name="decision" value="(\w+)"', review_page) == ["reject"]
    assert f"/app/review/{record['id']}/{claim}" in client.get(f"/app/datasets/{record['id']}").text


def test_a_decision_does_not_undo_one_that_the_reader_has_not_seen(
    api: httpx2.Client, client: httpx2.Client, record: dict[str, Any], stranger: httpx2.Client
) -> None:
    """A page that was opened before somebody else's decision changes nothing, shows it, and leads on in the queue."""
    first_claim = propose(stranger, record["id"], "informed_consent", False)
    propose(stranger, record["id"], "user_control", True)
    queue = client.get("/app/review", headers={"Accept-Language": "en"}).text
    form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', queue)) | {"decision": "reject"}

    review_path = f"/api/v1/datasets/{record['id']}/evidence/{first_claim}/review"
    assert api.post(review_path, json={"decision": "accept"}).status_code == 200
    address = f"/app/review/{record['id']}/{first_claim}/decide"
    answer = client.post(address, data=form)
    assert answer.status_code == 422
    assert "This claim has changed since you opened this page." in answer.text
    assert re.findall(r'rel="next"[^>]* href="([^"]*)"', answer.text) == [
        "/app/review?awaiting=acceptance&amp;position=1"
    ]
    claims = api.get(f"/api/v1/datasets/{record['id']}/evidence").json()["claims"]
    assert [claim["status"] for claim in claims if claim["id"] == first_claim] == ["active"]

    # The page that shows the acceptance can take it back.
    seen = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.text)) | {"decision": "reject"}
    assert client.post(address, data=seen).status_code == 303


@pytest.mark.parametrize("last_day", ["2020-01-31", "tomorrow"])
def test_a_claim_that_has_expired_already_is_refused(
    client: httpx2.Client, record: dict[str, Any], last_day: str
) -> None:
    """The form comes back with what was typed, and says which day is possible."""
    form = {"value": "true", "quote": "We may stop the service.", "until": last_day}
    answer = client.post(f"/app/datasets/{record['id']}/claims/new?attribute=transparency", data=form)
    assert answer.status_code == 422
    assert "Choose a day to come, or none." in answer.text
    assert "We may stop the service." in answer.text


def test_only_administrators_see_the_accounts(visit: Visit) -> None:
    """Everybody else is refused, and has no link to them."""
    page = visit("/app/account")
    assert page.request.get("/app/users").status == 403


def test_a_dataset_is_saved_in_every_standard(visit: Visit, record: dict[str, Any]) -> None:
    """The menu of the page leads to one file for each format, and an unknown format is not found."""
    page = visit(f"/app/datasets/{record['id']}", language="en")
    page.locator("#export summary").click()
    links = page.locator("#export a")
    assert links.count() == 5
    for address in links.evaluate_all("links => links.map((link) => link.href)"):
        answer = page.request.get(address)
        assert answer.status == 200
        assert record["name"] in answer.text()
        assert "attachment" in answer.headers["content-disposition"]
    assert page.request.get(f"/app/datasets/{record['id']}/export/xls").status == 404


CARD = """---
pretty_name: Street Signs
license: cc-by-4.0
---
### Dataset Summary
Pictures of street signs in two cities, taken on foot in 2021.

### Personal and Sensitive Information
Faces and number plates in the pictures were blurred.
"""


@pytest.mark.parametrize("scripts", [True, False])
def test_documents_are_shown_before_they_are_imported(
    visit: Visit, api: httpx2.Client, email: str, tmp_path: Path, scripts: bool
) -> None:
    """The preview lists claims and proposals with quotes and saves nothing; the second step imports the same files.

    Both the preview and the result are accessible and fit at every width.
    """
    card = tmp_path / "README.md"
    card.write_text(CARD)
    identifier = email.partition("@")[0]
    page = visit("/app/datasets/import", language="en", theme="auto", scripts=scripts)
    page.get_by_label("Documents").set_input_files(card)
    page.get_by_label("Identifier of the dataset").fill(identifier)
    page.get_by_label("Visible only to me").check()
    page.get_by_role("button", name="Show what would be imported").click()
    expect(page.locator("article")).to_contain_text("new record")
    expect(page.locator("article")).to_contain_text("Hugging Face dataset card")
    expect(page.locator("article")).to_contain_text("Faces and number plates in the pictures were blurred.")
    assert api.get("/api/v1/datasets/", params={"visibility": "private"}).json() == []
    check_looks(page, thorough=scripts)

    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="What has been imported")).to_be_visible()
    check_looks(page, thorough=scripts)
    (imported_dataset,) = api.get("/api/v1/datasets/", params={"visibility": "private"}).json()
    expect(page.locator("article a").first).to_have_attribute("href", f"/app/datasets/{imported_dataset['id']}")

    # Importing a newer document without the mark does not publish the record.
    card.write_text(CARD.replace("blurred", "carefully blurred"))
    page.goto(page.url.partition("/app/")[0] + "/app/datasets/import")
    page.get_by_label("Documents").set_input_files(card)
    page.get_by_label("Identifier of the dataset").fill(identifier)
    page.get_by_role("button", name="Show what would be imported").click()
    expect(page.locator("article")).to_contain_text("carefully blurred")
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("heading", name="What has been imported")).to_be_visible()
    assert [dataset["id"] for dataset in api.get("/api/v1/datasets/", params={"visibility": "private"}).json()] == [
        imported_dataset["id"]
    ]
