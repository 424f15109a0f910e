"""What a page cannot keep is asked for again, and nothing that was entered is lost without a question."""

import html
import re
from collections.abc import Iterator

import httpx2
import pytest
from playwright.sync_api import Browser, Dialog, FilePayload, Page, expect

from tests.web.conftest import PASSWORD, Visit
from tests.web.page_checks import check_looks

NEW = "/app/datasets/new"
TABLE = ("small.csv", "a,y\n" + "\n".join(f"{row},{row % 2}" for row in range(60)))
CHOOSE_AGAIN = "Choose the file again."


@pytest.fixture
def record(api: httpx2.Client) -> int:
    """Create a record without a file and return its id."""
    body = {"name": "No file yet", "description": "", "file_path": "", "file_type": ""}
    record_id: int = api.post("/api/v1/datasets/", json=body).json()["id"]
    return record_id


@pytest.fixture
def english_page(browser: Browser, server: str, session_cookies: dict[str, str]) -> Iterator[Page]:
    """Open a page in English whose browser may report refused forms to its console."""
    context = browser.new_context(base_url=server, locale="en-GB")
    context.add_cookies([{"name": n, "value": v, "url": f"{server}/app/"} for n, v in session_cookies.items()])
    yield context.new_page()
    context.close()


def file_description(page: str) -> str:
    """Return the sentences that describe the field for the data file."""
    description_ids = re.findall(r'name="file"[^>]* aria-describedby="([^"]+)"', page)[0].split()
    return " ".join(re.findall(rf'id="{name}">([^<]*)<', page)[0] for name in description_ids)


@pytest.mark.parametrize("has_file", [True, False])
def test_a_rejected_form_says_that_its_file_has_to_be_chosen_again(client: httpx2.Client, has_file: bool) -> None:
    """The sentence describes the file field, but only if a file had been chosen."""
    files = {"file": TABLE} if has_file else {"file": ("", b"")}
    answer = client.post(NEW, data={"name": "Small", "year": "20x"}, files=files)
    assert answer.status_code == 422
    assert (CHOOSE_AGAIN in file_description(answer.text)) == has_file


def test_the_file_of_a_refused_record_takes_up_no_space(client: httpx2.Client, api: httpx2.Client) -> None:
    """The API receives the file before it refuses the record; the file is then deleted again."""
    answer = client.post(NEW, data={"name": "x" * 300}, files={"file": TABLE})
    assert answer.status_code == 422
    assert CHOOSE_AGAIN in file_description(answer.text)
    assert api.get("/api/v1/files").json()["files"] == []


def test_the_file_of_a_record_can_be_added_and_replaced(visit: Visit, api: httpx2.Client, record: int) -> None:
    """A later file is measured like that of a new record, and saving without one keeps it."""
    page = visit(f"/app/datasets/{record}/edit", language="en", theme="auto")
    check_looks(page)
    for rows in (60, 20):
        content = "\n".join(TABLE[1].splitlines()[: rows + 1])
        file = FilePayload(name="small.csv", mimeType="text/csv", buffer=content.encode())
        page.get_by_label("File").set_input_files(file)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_have_text("The record has been saved.")
        measured = api.get(f"/api/v1/datasets/{record}").json()["metadata"]["measured"]
        assert (measured["rows"], measured["columns"]) == (rows, 2)
        page.goto(f"/app/datasets/{record}/edit")

    path = api.get(f"/api/v1/datasets/{record}").json()["file_path"]
    page.get_by_label("Objective").fill("To be small.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("The record has been saved.")
    saved_record = api.get(f"/api/v1/datasets/{record}").json()
    assert (saved_record["file_path"], saved_record["objective"]) == (path, "To be small.")


def test_an_outdated_edit_keeps_no_upload(client: httpx2.Client, api: httpx2.Client, record: int) -> None:
    """If the record has changed since, its file stays as it was, and the new one is asked for again."""
    form = {"name": "No file yet", "etag": '"999"'}
    answer = client.post(f"/app/datasets/{record}/edit", data=form, files={"file": TABLE})
    assert answer.status_code == 412
    assert CHOOSE_AGAIN in file_description(answer.text)
    assert api.get("/api/v1/files").json()["files"] == []
    assert not api.get(f"/api/v1/datasets/{record}").json()["file_path"]


def test_the_changes_of_a_deleted_record_can_be_added_as_a_new_one(
    client: httpx2.Client, api: httpx2.Client, record: int
) -> None:
    """If the record was deleted in another tab, its form comes back with what was entered, and adds a record."""
    page = client.get(f"/app/datasets/{record}/edit").text
    etag = html.unescape(re.findall(r'name="etag" value="([^"]*)"', page)[0])
    api.delete(f"/api/v1/datasets/{record}")

    form = {"name": "No file yet", "etag": etag, "objective": "To be kept.", "transparency": "true"}
    answer = client.post(f"/app/datasets/{record}/edit", data=form, files={"file": TABLE})
    assert answer.status_code == 404
    assert "The record no longer exists" in answer.text
    assert 'value="To be kept."' in answer.text
    assert f'action="{NEW}"' in answer.text
    assert f'name="next" id="here" value="{NEW}"' in answer.text
    assert CHOOSE_AGAIN in file_description(answer.text)
    assert api.get("/api/v1/files").json()["files"] == []

    address = client.post(NEW, data=form).headers["location"]
    new_record = api.get(f"/api/v1/datasets/{address.split('/')[-1].partition('?')[0]}").json()
    assert (new_record["objective"], new_record["transparency"]) == ("To be kept.", True)


@pytest.mark.parametrize("path", [NEW, "/app/datasets/import", "/app/account/profile"])
def test_a_returned_form_asks_for_a_file_only_if_it_had_one(
    client: httpx2.Client, server: str, email: str, path: str
) -> None:
    """After the session has ended, the sentence stands at the field that had a file, and on no other form."""
    files = {"file": TABLE, "files": ("card.md", "# Card")} if path != "/app/account/profile" else None
    with httpx2.Client(base_url=server, headers={"Origin": server, "Accept-Language": "en"}, timeout=60) as expired:
        entrance = expired.post(path, data={"name": "Small", "pseudo": "Ada"}, files=files).text
        unsent = html.unescape(re.findall(r'name="unsent" value="([^"]*)"', entrance)[0])
        form = {"email": email, "password": PASSWORD, "unsent": unsent}
        returned = expired.post("/app/sign-in", data=form).text
        fields = re.findall(r'<textarea name="([^"]+)" hidden>\n([^<]*)</textarea>', returned)
        page = expired.post(path, data={**dict(fields), "returned": "yes"}).text

    assert "You are signed in again." in page
    assert re.search(r"Choose the (file|documents) again\.", page) is not None or path == "/app/account/profile"
    assert ("again." in page.replace("You are signed in again.", "")) == (path != "/app/account/profile")


def answer_dialogs(page: Page, *, leave: bool) -> list[str]:
    """Answer every question of the page from now on, and return the list to which their types are added."""
    dialogs: list[str] = []

    def answer(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        if leave:
            dialog.accept()
        else:
            dialog.dismiss()

    page.on("dialog", answer)
    return dialogs


def test_switching_the_language_asks_before_it_empties_a_form(visit: Visit) -> None:
    """A reader who stays keeps everything, and can leave later; an untouched form is left without a question."""
    page = visit(NEW, language="en")
    dialogs = answer_dialogs(page, leave=False)
    page.get_by_role("button", name="Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.get_by_role("button", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    assert dialogs == []

    page.wait_for_load_state()  # The script that notices input has run by then.
    page.get_by_label("Name").fill("Half a form")
    for switch in ("language", "theme"):
        with page.expect_event("dialog"):
            page.locator(f"button[name={switch}]").click()
    assert dialogs == ["beforeunload", "beforeunload"]
    expect(page.get_by_label("Name")).to_have_value("Half a form")
    expect(page.locator("html")).to_have_attribute("lang", "en")

    page.get_by_role("button", name="Add data").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Half a form")
    assert len(dialogs) == 2


def test_the_reader_can_leave_a_form_after_all(visit: Visit) -> None:
    """Whoever confirms the question gets the page in the other language, with an empty form."""
    page = visit(NEW, language="en")
    dialogs = answer_dialogs(page, leave=True)
    page.get_by_label("Name").fill("Half a form")
    page.get_by_role("button", name="Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    assert dialogs == ["beforeunload"]
    expect(page.locator("[name=name]")).to_have_value("")


def test_another_form_of_the_page_is_not_lost_by_sending_one(visit: Visit, api: httpx2.Client) -> None:
    """On a page with several forms, sending one of them would empty the others."""
    project_id = api.post("/api/v1/projects", json={"name": "A need"}).json()["id"]
    page = visit(f"/app/projects/{project_id}", language="en")
    dialogs = answer_dialogs(page, leave=False)
    page.get_by_text("Manage").click()
    page.get_by_label("The need").fill("What it is for.")
    page.locator("[name=note]").fill("Before the audit")
    with page.expect_event("dialog"):
        page.get_by_role("button", name="Freeze the ranking").click()
    expect(page.get_by_label("The need")).to_have_value("What it is for.")
    assert dialogs == ["beforeunload"]


def test_a_rejected_form_still_counts_as_unsaved(english_page: Page) -> None:
    """The page that shows it again asks before leaving, although nothing has been changed since."""
    page = english_page
    dialogs = answer_dialogs(page, leave=False)
    page.goto(NEW)
    page.get_by_label("Name").fill("Small")
    page.get_by_label("Year").fill("20x")
    page.get_by_role("button", name="Add data").click()
    expect(page.locator("[name=year][aria-invalid=true]")).to_be_visible()
    assert dialogs == []

    with page.expect_event("dialog"):
        page.get_by_role("button", name="Français").click()
    page.get_by_label("Year").fill("2020")
    page.get_by_role("button", name="Add data").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Small")
    assert dialogs == ["beforeunload"]


def test_the_way_back_leads_through_forms_that_were_refused(english_page: Page, server: str) -> None:
    """The browser goes back to the page of a form, and not to an error page of its own that asks to send it again."""
    page = english_page
    page.goto("/app/projects/new")
    page.locator("main [name=name]").fill(" ")
    page.get_by_role("button", name="Create a project").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    page.locator("main [name=name]").fill("Corrected")
    page.get_by_role("button", name="Create a project").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Corrected")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Keep in a project")

    # The address of this form only accepts forms, so the page has another one.
    page.goto("/app/account")
    page.locator("[name=current_password]").fill("not this one")
    page.locator("[name=new_password]").fill("a new and rather long phrase")
    page.get_by_role("button", name="Change the password").click()
    expect(page.get_by_role("alert").first).to_be_visible()
    expect(page).to_have_url(f"{server}/app/account")
    page.goto("/app/projects")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account")
