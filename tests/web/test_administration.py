"""What administrators do on the pages: appoint curators, lock accounts, reset passwords, and hide records."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import httpx2
import pytest
from playwright.sync_api import Browser, expect

from tests.cli.running import PASSWORD, run
from tests.cli.served import served
from tests.web.page_checks import check_looks
from touchstone.client import Touchstone
from touchstone.client.models import Visibility

ADMINISTRATOR, CREATOR, READER = "root@example.org", "ada@example.org", "grace@example.org"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("administration")
    with served(folder) as address:
        for email, options in ((ADMINISTRATOR, ["--admin"]), (CREATOR, []), (READER, [])):
            assert run("user", "create", email, "--password", PASSWORD, *options).exit_code == 0
        yield address


@pytest.fixture
def sign_in(address: str) -> Iterator[Callable[[str], httpx2.Client]]:
    """Return a function that signs a user in, and returns a client that acts as a browser without scripts."""
    with ExitStack() as stack:

        def open_browser(email: str) -> httpx2.Client:
            headers = {"Origin": address, "Accept-Language": "en"}
            browser = stack.enter_context(httpx2.Client(base_url=address, headers=headers, timeout=60))
            answer = browser.post("/app/sign-in", data={"email": email, "password": PASSWORD})
            assert answer.status_code == 303, answer.text
            return browser

        yield open_browser


def test_a_curator_is_appointed_and_dismissed(sign_in: Callable[[str], httpx2.Client]) -> None:
    """The page of the accounts changes the role of a user, who then finds the queues in the navigation."""
    administrator, reader = sign_in(ADMINISTRATOR), sign_in(READER)
    assert reader.get("/app/users").status_code == 403
    accounts = administrator.get("/app/users").text
    assert READER in accounts

    html_after_email = accounts.partition(READER)[2]
    form_address = html_after_email.partition('action="')[2].partition('"')[0]
    for is_curator in ("yes", "no"):
        answer = administrator.post(form_address, data={"is_curator": is_curator, "page": "1"})
        assert answer.status_code == 303
        assert ('href="/app/review"' in reader.get("/app/projects").text) == (is_curator == "yes")
        queue_status = reader.get("/app/review?awaiting=confirmation").status_code
        assert queue_status == (200 if is_curator == "yes" else 403)


def form_address(accounts: str, email: str, action: str) -> str:
    """Return the address of the form that changes an account, from the HTML of the page of the accounts."""
    row = accounts.partition(f">{email}</th>")[2].partition("</tr>")[0]
    return str(re.findall(rf'action="([^"]+/{action})"', row)[0])


def test_an_account_is_locked_and_unlocked(sign_in: Callable[[str], httpx2.Client]) -> None:
    """A locked account loses its session at once and cannot sign in, until it is unlocked."""
    administrator, reader = sign_in(ADMINISTRATOR), sign_in(READER)
    address_of_form = form_address(administrator.get("/app/users").text, READER, "active")

    assert administrator.post(address_of_form, data={"is_active": "no"}).status_code == 303
    assert reader.get("/app/projects").headers["location"].startswith("/app/sign-in")
    credentials = {"email": READER, "password": PASSWORD}
    assert reader.post("/app/sign-in", data=credentials).status_code == 401
    assert ">Unlock<" in administrator.get("/app/users").text

    assert administrator.post(address_of_form, data={"is_active": "yes"}).status_code == 303
    assert reader.post("/app/sign-in", data=credentials).status_code == 303


def test_accounts_are_found_by_a_part_of_the_address(sign_in: Callable[[str], httpx2.Client]) -> None:
    """A change of an account that was found returns to what was searched."""
    administrator = sign_in(ADMINISTRATOR)
    part = READER[:-3].upper()
    found = administrator.get("/app/users", params={"q": part}).text
    assert f">{READER}</th>" in found
    assert f">{CREATOR}</th>" not in found
    assert "1 address contains" in found

    form = {"is_curator": "no", "page": "1", "q": part}
    answer = administrator.post(form_address(found, READER, "curator"), data=form)
    assert answer.headers["location"].startswith(f"/app/users?{urlencode({'q': part})}&page=1")
    nobody = administrator.get("/app/users?q=%25").text
    assert "0 addresses contain" in nobody
    assert "</th>" not in nobody


def test_an_administrator_hands_out_a_token_for_a_new_password(sign_in: Callable[[str], httpx2.Client]) -> None:
    """The page shows the token with a link to the page on which its holder chooses a new password."""
    administrator, creator = sign_in(ADMINISTRATOR), sign_in(CREATOR)
    address_of_form = form_address(administrator.get("/app/users").text, CREATOR, "reset")
    answer = administrator.post(address_of_form, data={"email": CREATOR, "page": "1"})
    assert f"Give this token to {CREATOR}" in answer.text
    (reset_page,) = re.findall(r'href="(/app/reset-password\?token=[^"]+)"', answer.text)
    (token,) = re.findall(r'name="token" value="([^"]+)"', creator.get(reset_page).text)
    assert f">{token}</code>" in answer.text

    # Other tests sign in with the first password.
    credentials = {"token": token, "password": PASSWORD}
    assert creator.post("/app/reset-password", data=credentials).headers["location"].endswith("?done=reset")
    assert creator.post("/app/reset-password", data=credentials).status_code == 422
    creator.cookies.clear()
    assert 'href="/app/reset-password"' in creator.get("/app/sign-in").text


def test_a_hidden_record_is_found_by_its_author_alone(sign_in: Callable[[str], httpx2.Client]) -> None:
    """The page of the record says why it is hidden; everybody else finds nothing, until it is shown again."""
    administrator, creator, reader = (sign_in(email) for email in (ADMINISTRATOR, CREATOR, READER))
    record_path = creator.post("/app/datasets/new", data={"name": "Buy now"}).headers["location"].partition("?")[0]
    assert reader.get(record_path).status_code == 200
    assert "Hide the record" not in reader.get(record_path).text

    answer = administrator.post(f"{record_path}/hide", data={"hidden": "yes", "reason": "An advertisement."})
    hidden_records_page = administrator.get(answer.headers["location"])
    assert (hidden_records_page.status_code, "The record is hidden." in hidden_records_page.text) == (200, True)
    assert all(text in hidden_records_page.text for text in ("Buy now", "An advertisement.", "Show again"))
    assert reader.get("/app/hidden").status_code == 403
    assert reader.get(record_path).status_code == 404
    assert "An advertisement." in creator.get(record_path).text
    assert reader.post(f"{record_path}/hide", data={"hidden": "no"}).status_code in (403, 404)

    assert f'action="{record_path}/hide"' in hidden_records_page.text
    answer = administrator.post(f"{record_path}/hide", data={"hidden": "no"})
    assert "visible again" in administrator.get(answer.headers["location"]).text
    assert reader.get(record_path).status_code == 200
    assert "No record is hidden." in administrator.get("/app/hidden").text


@pytest.mark.parametrize(("visibility", "status_for_readers"), [("public", 200), ("private", 404)])
def test_editing_a_hidden_record_leaves_open_who_sees_it_later(
    address: str, sign_in: Callable[[str], httpx2.Client], visibility: Visibility, status_for_readers: int
) -> None:
    """Its form does not ask who sees it, and saving keeps what its author has chosen."""
    administrator, creator, reader = (sign_in(email) for email in (ADMINISTRATOR, CREATOR, READER))
    record_path = creator.post("/app/datasets/new", data={"name": "Draft"}).headers["location"].partition("?")[0]
    assert 'name="visibility"' in creator.get(f"{record_path}/edit").text
    administrator.post(f"{record_path}/hide", data={"hidden": "yes"})

    with Touchstone(address) as api:
        api.login(CREATOR, PASSWORD)
        api.update_dataset(int(record_path.rpartition("/")[2]), visibility=visibility)
    form_page = creator.get(f"{record_path}/edit").text
    assert 'name="visibility"' not in form_page
    assert "An administrator has hidden this record." in form_page
    assert creator.post(f"{record_path}/edit", data={"name": "Final"}).status_code == 303

    administrator.post(f"{record_path}/hide", data={"hidden": "no"})
    assert "Final" in creator.get(record_path).text
    assert reader.get(record_path).status_code == status_for_readers


def test_only_those_who_may_change_a_record_are_offered_to(sign_in: Callable[[str], httpx2.Client]) -> None:
    """The creator and administrators find the links to edit and delete a record; other readers do not."""
    administrator, creator, reader = (sign_in(email) for email in (ADMINISTRATOR, CREATOR, READER))
    record_path = creator.post("/app/datasets/new", data={"name": "Mine"}).headers["location"].partition("?")[0]
    for browser, may_change in ((creator, True), (administrator, True), (reader, False)):
        page = browser.get(record_path).text
        assert (f'href="{record_path}/edit"' in page) == may_change
        assert (f'action="{record_path}/delete"' in page) == may_change
        assert (browser.get(f"{record_path}/edit").status_code == 200) == may_change

    # Only records of the same user may name an upload.
    assert 'type="file"' in creator.get(f"{record_path}/edit").text
    assert 'type="file"' not in administrator.get(f"{record_path}/edit").text


def test_the_page_of_the_accounts_is_accessible(address: str, browser: Browser) -> None:
    """The checker finds no violation on the page that only administrators see, and nothing overflows."""
    page = browser.new_page(base_url=address, locale="fr-FR")
    page.goto("/app/sign-in")
    page.locator("[name=email]").fill(ADMINISTRATOR)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main form button").first.click()
    page.wait_for_url("**/app/")

    page.goto("/app/users")
    expect(page.locator("tbody")).to_contain_text(CREATOR)
    check_looks(page)
    page.get_by_role("button", name=f"Créer un jeton : {CREATOR}").click()
    expect(page.get_by_role("status")).to_contain_text(CREATOR)
    check_looks(page)
    page.set_viewport_size({"width": 390, "height": 844})
    heights = page.locator("tbody tr").evaluate_all("rows => rows.map((row) => row.offsetHeight)")
    assert max(heights) < 80, "the buttons of an account stand side by side"
    page.goto("/app/hidden")
    check_looks(page)
    page.close()
