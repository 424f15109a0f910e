"""The page with all values of a filter, where values can be searched and ticked before returning to the ranking."""

import html
import re
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from playwright.sync_api import expect

from tests.web.conftest import Visit
from tests.web.page_checks import check_looks
from touchstone.core.text import fold

STATE = "year_min=1900&w.year=30&w.citations=60&assurance=declared&view=table&pin=1"
RARE_DOMAIN_COUNT = 150


@pytest.fixture
def rare_domains(api: httpx2.Client) -> list[str]:
    """Create domains with one private record each, which are more than a list on the ranking page can show."""
    domains = [f"rareté {number:03}" for number in range(RARE_DOMAIN_COUNT)]
    for start in range(0, RARE_DOMAIN_COUNT, 10):
        record = {"name": f"rare {start}", "description": "", "file_path": "", "file_type": "csv", "year": 2020}
        body = {**record, "visibility": "private", "domain": domains[start : start + 10]}
        assert api.post("/api/v1/datasets/", json=body).status_code == 201
    return domains


def offered_values(page: str) -> list[str]:
    """Return the values that a page offers."""
    return [html.unescape(value) for value in re.findall(r'<input type="checkbox" name="domain" value="([^"]*)"', page)]


@pytest.mark.usefixtures("rare_domains")
def test_every_value_that_the_api_counts_can_be_reached(client: httpx2.Client, api: httpx2.Client) -> None:
    """The pages list all values with their counts, most frequent first, including those that the ranking page omits."""
    facets = api.get("/api/v1/datasets/facets").json()["values"]["domain"]
    page_numbers = range(1, -(-len(facets) // 100) + 1)
    pages = [client.get("/app/values/domain", params={"values_page": page_number}).text for page_number in page_numbers]
    listed_values = [value for page in pages for value in offered_values(page)]
    assert listed_values == [row["value"] for row in facets]
    counts = re.findall(r'<span class="count">([\d,]+)</span>', pages[0])
    assert counts == [f"{row['count']:,}" for row in facets[:100]]
    assert 'href="/app/values/domain"' in client.get("/app/").text


def test_a_chosen_value_hides_no_other(client: httpx2.Client, api: httpx2.Client) -> None:
    """Values that never occur together with the chosen one are listed too, since any of the chosen values suffices."""
    values = [row["value"] for row in api.get("/api/v1/datasets/facets").json()["values"]["domain"]]
    page = client.get("/app/values/domain", params={"domain": values[-1]}).text
    assert offered_values(page)[0] == values[-1]
    assert sorted(offered_values(page)[1:]) == sorted(values[:100][: len(values) - 1])
    # Other filters do narrow the list.
    year = {"year_min": 2015}
    narrowed_values = [
        row["value"] for row in api.get("/api/v1/datasets/facets", params=year).json()["values"]["domain"]
    ]
    assert offered_values(client.get("/app/values/domain", params=year).text) == narrowed_values[:100]


@pytest.mark.parametrize("search", ["rarete 14", "RARETÉ", "14 rar", "no such thing", "<b>&"])
def test_a_search_ignores_case_accents_and_order(client: httpx2.Client, rare_domains: list[str], search: str) -> None:
    """The count and the list include the values with every word of the search; markup in a search is shown as text."""
    page = client.get("/app/values/domain", params={"values_search": search, "domain": "health"}).text
    expected = [domain for domain in rare_domains if all(word in fold(domain) for word in fold(search).split())]
    assert offered_values(page) == ["health", *expected[:100]]
    sentence = f"{len(expected)} {'value contains' if len(expected) == 1 else 'values contain'}"
    assert sentence in page
    assert "<b>&" not in page


@pytest.mark.parametrize("query", ["year_min=soon", "visibility=zzz", "values_page=0", "values_page=9999999", "page=x"])
def test_a_strangers_address_breaks_nothing(client: httpx2.Client, query: str) -> None:
    """Values are offered whatever the address contains."""
    answer = client.get(f"/app/values/domain?{query}")
    assert answer.status_code == 200
    assert offered_values(answer.text)


def test_only_lists_have_such_a_page(client: httpx2.Client) -> None:
    """Numbers and texts have no such page, because they are entered."""
    for name in ("year", "dataset_name", "visibility", "nothing"):
        assert client.get(f"/app/values/{name}").status_code == 404
    for name in ("task", "file_type"):
        assert client.get(f"/app/values/{name}").status_code == 200


@pytest.mark.parametrize(("scripts", "language"), [(True, "fr"), (False, "en")])
def test_searching_and_ticking_with_the_keyboard(
    visit: Visit, rare_domains: list[str], scripts: bool, language: str
) -> None:
    """Ticks survive a search and another page; the ranking is then filtered and keeps the rest of its state."""
    page = visit(f"/app/?{STATE}", scripts=scripts, language=language)
    link = page.locator("#values-domain")
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/app/values/domain?**")
    page.locator("input[name=values_search]").fill("rarete 149")
    page.keyboard.press("Enter")
    page.wait_for_url("**values_search=rarete*149**")
    page.locator(f'input[value="{rare_domains[149]}"]').focus()
    page.keyboard.press("Space")
    page.locator("input[name=values_search]").fill("rarete")
    page.keyboard.press("Enter")
    page.wait_for_url("**values_search=rarete&**")
    expect(page.locator(f'input[value="{rare_domains[149]}"]')).to_be_checked()
    page.locator("button[name=values_page]").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**values_page=2**")
    page.locator(f'input[value="{rare_domains[148]}"]').check()
    page.locator(".tray button").press("Enter")

    page.wait_for_url("**/app/?**")
    expect(page.locator(".found strong")).to_have_text("1")
    parameters = parse_qsl(urlsplit(page.url).query)
    assert sorted(parameters) == sorted(
        [*parse_qsl(STATE), ("domain", rare_domains[148]), ("domain", rare_domains[149])]
    )


def test_a_change_of_a_moment_ago_goes_along(visit: Visit) -> None:
    """The link includes the last change, even before the ranking is updated."""
    page = visit("/app/?domain=health")
    page.locator("#w-year").evaluate(
        "(slider) => { slider.value = 70; slider.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    page.locator("#values-domain").click()
    page.wait_for_url("**/app/values/domain?**w.year=70**")
    expect(page.locator('input[name="domain"][value="health"]')).to_be_checked()


@pytest.mark.usefixtures("rare_domains")
@pytest.mark.parametrize("query", ["", "?domain=health&values_search=rar", "?values_search=zzzz"])
def test_the_page_is_accessible_and_fits(visit: Visit, query: str) -> None:
    """The page is checked in both themes, on a phone, a tablet and a desktop."""
    page = visit(f"/app/values/domain{query}", theme="auto")
    check_looks(page)
