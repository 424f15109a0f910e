"""The time from the last move of a slider to the updated picture, compared with its API call.

A browser shows each of the three pictures of 100,000 records. It also makes the API call, alternately with the picture
and to the same server. All requests have different weights, because answers are cached. The deliberate pause of 300 ms
after the last move does not count.
"""

import argparse
import statistics
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.product_server import PASSWORD, User, register_user, running_product
from touchstone.web.rank_state import VIEWS

RECORDS: Final = 100_000
ROUNDS: Final = 30
WARM_UP_ROUNDS: Final = 5
MAX_RATIO: Final = 3.0  # a picture may take this many times as long as the API call
# After this time, the rows of a picture have stopped moving, and the page that makes the call is idle.
REST_MILLISECONDS: Final = 300
CHROMIUM: Final = "/usr/bin/chromium"
# The clock starts when the page sends its request, after the pause. It stops in the first task after the frame with the
# new rows has been drawn.
MEASURE_PICTURE: Final = """async (weight) => {
  const originalFetch = window.fetch;
  let began = 0;
  window.fetch = (...fetchArguments) => { began = performance.now(); return originalFetch(...fetchArguments); };
  const results = document.getElementById("results");
  const drawn = new Promise((resolve) => {
    const allChanges = { childList: true, subtree: true, attributes: true, characterData: true };
    new MutationObserver((_, observer) => {
      if (!began || results.ariaBusy) return;
      observer.disconnect();
      requestAnimationFrame(() => scheduler.postTask(() => resolve(performance.now()), { priority: "user-blocking" }));
    }).observe(results, allChanges);
  });
  const slider = document.getElementById("w-year");
  slider.value = weight;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const ended = await drawn;
  window.fetch = originalFetch;
  return ended - began;
}"""
MEASURE_CALL: Final = """async ([token, percentages]) => {
  const weights = Object.entries(percentages).map(
    ([criterion_name, percentage]) => ({ criterion_name, weight: percentage / 100 }));
  const body = JSON.stringify({ weights });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const began = performance.now();
  const path = "/api/v1/datasets/score?limit=20&explain=true&envelope=true";
  await (await fetch(path, { method: "POST", headers, body })).json();
  return performance.now() - began;
}"""


def measure_view(page: Page, user: User, weights: dict[str, int], view: str, rounds: int) -> tuple[float, float]:
    """Return the median times of an updated picture and of its API call in milliseconds.

    Pictures and calls alternate. Each has another weight for the year, so that none comes from a cache.
    """
    query = "&".join(f"w.{criterion}={weight}" for criterion, weight in weights.items())
    page.goto(f"/app/?view={view}&{query}")

    picture_times = []
    call_times = []
    first_year_weight = 5
    for year_weight in range(first_year_weight, first_year_weight + WARM_UP_ROUNDS + rounds):
        picture_times.append(page.evaluate(MEASURE_PICTURE, year_weight))
        page.wait_for_timeout(REST_MILLISECONDS)
        call_times.append(page.evaluate(MEASURE_CALL, [user.token, {**weights, "year": year_weight + 0.5}]))

    return statistics.median(picture_times[WARM_UP_ROUNDS:]), statistics.median(call_times[WARM_UP_ROUNDS:])


def open_signed_in_page(browser: Browser, address: str, user: User) -> Page:
    """Sign in, and return a page of the product with a picture."""
    page = browser.new_page(base_url=address)
    page.goto("/app/sign-in")
    page.fill("[name=email]", user.email)
    page.fill("[name=password]", PASSWORD)
    page.click("main form button")
    page.wait_for_selector(".heat")
    return page


def main() -> None:
    """Measure each of the three pictures, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()

    with running_product(options.records) as product, sync_playwright() as playwright:
        user = register_user(product.address)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = open_signed_in_page(browser, product.address, user)

        print(f"{options.records} records, medians of {options.rounds}")
        for index, view in enumerate(VIEWS):
            # The weights differ between the views as well.
            weights = {"ethical_score": 40, "technical_score": 40, "popularity_score": 20 + index}
            picture_time, call_time = measure_view(page, user, weights, view, options.rounds)

            verdict = "pass" if picture_time <= MAX_RATIO * call_time else f"not within {MAX_RATIO:g} times"
            ratio = picture_time / call_time
            print(
                f"{view:6} call {call_time:4.1f} ms, new picture {picture_time:4.1f} ms: {ratio:.2f} times, {verdict}"
            )
        browser.close()


if __name__ == "__main__":
    main()
