"""The pages use the language of the browser until the account, or the reader in this browser, has chosen one."""

from collections.abc import Mapping
from datetime import datetime, timedelta, timezone

import httpx2
import pytest

from tests.web.conftest import PASSWORD
from touchstone.web.localizer import Localizer

LANGUAGE = "touchstone_language"


def browser(server: str, language: str, cookies: Mapping[str, str] | None = None) -> httpx2.Client:
    """Return a browser that prefers a language."""
    headers = {"Origin": server, "Accept-Language": f"{language},{language[:2]};q=0.9,de;q=0.5"}
    return httpx2.Client(base_url=server, headers=headers, cookies=dict(cookies or {}), timeout=60)


def page_language(client: httpx2.Client, path: str = "/app/account") -> str:
    """Return the language of a page."""
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.text.partition('<html lang="')[2][:2]


def account_language(server: str, email: str, language: str) -> str:
    """Return the language that the API reports to a client that prefers `language`."""
    with browser(server, language) as client:
        tokens = client.post("/api/v1/auth/login", json={"username": email, "password": PASSWORD}).json()
        answer = client.get("/api/v1/users/me", headers={"Authorization": f"Bearer {tokens['access_token']}"})
    return str(answer.json()["locale"])


def test_a_registered_english_speaker_reads_english(server: str, email: str) -> None:
    """The pages are in English from the sign-in page on, and follow when the browser changes its language."""
    with browser(server, "en-GB") as client:
        assert page_language(client, "/app/register") == "en"
        assert client.post("/app/register", data={"email": email, "password": PASSWORD}).status_code == 303
        assert page_language(client, "/app/") == page_language(client) == "en"
        assert LANGUAGE not in client.cookies
        with browser(server, "fr-FR", client.cookies) as french_client:
            assert page_language(french_client) == "fr"
    assert (account_language(server, email, "en-US"), account_language(server, email, "fr")) == ("en", "fr")


def test_an_account_made_elsewhere_follows_the_browser(server: str, email: str) -> None:
    """An account that a program created without a language is in English in an English browser."""
    with httpx2.Client(base_url=server, headers={"Origin": server}, timeout=60) as program:
        answer = program.post("/api/v1/auth/register", json={"email": email, "password": PASSWORD})
        assert answer.json()["locale"] == "fr"
    with browser(server, "en-GB") as client:
        assert client.post("/app/sign-in", data={"email": email, "password": PASSWORD}).status_code == 303
        assert page_language(client) == page_language(client, "/app/") == "en"


def test_the_account_s_choice_wins_over_the_browser_s(server: str, email: str) -> None:
    """A user who has chosen French in the profile sees French in every browser, at once and later."""
    with browser(server, "en-GB") as client:
        client.post("/app/register", data={"email": email, "password": PASSWORD})
        assert client.post("/app/account/profile", data={"locale": "fr"}).status_code == 303
        assert page_language(client) == "fr"
    assert account_language(server, email, "en") == "fr"
    with browser(server, "en-GB") as english_client:
        english_client.post("/app/sign-in", data={"email": email, "password": PASSWORD})
        assert page_language(english_client) == "fr"
    with browser(server, "fr-FR") as french_client:
        french_client.post("/app/sign-in", data={"email": email, "password": PASSWORD})
        cookies = {name: value for name, value in french_client.cookies.items() if name != LANGUAGE}
    with browser(server, "en-GB", cookies) as returning_client:
        assert page_language(returning_client) == "fr"


def test_a_choice_made_before_registering_is_the_account_s(server: str, email: str) -> None:
    """A language chosen with the button on the sign-in page becomes the language of the new account."""
    with browser(server, "fr-FR") as client:
        client.post("/app/preferences", data={"language": "en", "next": "/app/register"})
        assert page_language(client, "/app/register") == "en"
        client.post("/app/register", data={"email": email, "password": PASSWORD})
        assert page_language(client) == "en"
    assert account_language(server, email, "fr") == "en"


def test_the_button_chooses_for_the_account(server: str, email: str) -> None:
    """A language that is chosen while signed in is stored in the profile."""
    with browser(server, "fr-FR") as client:
        client.post("/app/register", data={"email": email, "password": PASSWORD})
        client.post("/app/preferences", data={"language": "en", "next": "/app/"})
        assert page_language(client) == "en"
    assert account_language(server, email, "fr") == "en"


@pytest.mark.parametrize(
    ("locale", "shown"), [("fr", "1 mars 2027, 08:30:05\u00a0UTC"), ("en", "Mar 1, 2027, 8:30:05\u202fAM\u00a0UTC")]
)
def test_times_say_in_which_time_zone_they_are(locale: str, shown: str) -> None:
    """Times are shown in UTC and say so, whatever the time zone of the timestamp."""
    timestamp = datetime(2027, 3, 1, 9, 30, 5, tzinfo=timezone(timedelta(hours=1)))
    assert Localizer(locale).date(timestamp) == shown


@pytest.mark.parametrize(
    ("share", "digits", "french", "english"),
    [
        (0.0004, 1, "<\u00a00,1\u00a0%", "<0.1%"),
        (0.0006, 1, "0,1\u00a0%", "0.1%"),
        (0.004, 0, "<\u00a01\u00a0%", "<1%"),
        (1e-300, 0, "<\u00a01\u00a0%", "<1%"),
        (0.006, 0, "1\u00a0%", "1%"),
        (0.0, 1, "0,0\u00a0%", "0.0%"),
        (0.0, 0, "0\u00a0%", "0%"),
    ],
)
def test_a_small_share_is_not_shown_as_none(share: float, digits: int, french: str, english: str) -> None:
    """A share that would be rounded to zero is shown as less than the smallest percentage, and only zero as zero."""
    percentages = [Localizer(locale).percent(share, digits).replace("\u202f", "\u00a0") for locale in ("fr", "en")]
    assert percentages == [french, english]


def test_links_and_headings_say_what_is_added(server: str, session_cookies: dict[str, str]) -> None:
    """Only the navigation shortens the title of the page for new data."""
    with browser(server, "fr-FR", session_cookies) as client:
        assert "<h1>Ajouter des données</h1>" in client.get("/app/datasets/new").text
        assert ">Ajouter des données</a>" in client.get("/app/?dataset_name=zzzzzz").text


@pytest.mark.parametrize(
    ("value", "digits", "french", "english"),
    [
        (2007.0, 3, "2007", "2007"),
        (2008.029, 2, "2008,03", "2008.03"),
        (-3.25, 3, "−3,25", "−3.25"),
        (18424.5678, 2, "18 424,57", "18,424.57"),
        (9999.9999, 3, "10 000", "10,000"),
        (-0.0001, 3, "0", "0"),
        (None, 3, "–", "–"),
    ],
)
def test_years_in_columns_have_no_separators(value: float | None, digits: int, french: str, english: str) -> None:
    """A number of four digits may be a year; longer ones are grouped."""
    number = Localizer("fr").cell_number(value, digits)
    assert (number.replace("\u202f", " "), Localizer("en").cell_number(value, digits)) == (french, english)
