"""From the moment a slider rests to the new picture, beside the API call that the picture needs.

100 000 records, one browser, each of the three pictures: the API call is made from the same browser over the same
server, in turn with the picture. Neither uses weights that were asked for before, for answers are remembered. The pause
of 300 ms after the last move is not counted: it is there on purpose.
"""

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx2
from playwright.sync_api import Page, sync_playwright

from benchmarks.catalogs import fill
from touchstone.web.rank_state import VIEWS

RECORDS: Final = 100_000
ROUNDS: Final = 30
WARM: Final = 5
MOST: Final = 3.0  # times the API call
REST: Final = (
    300  # milliseconds in which the rows of a picture come to rest, so that the call too is made by an idle page
)
PERSON: Final = {"email": "bench@example.org", "password": "une phrase assez longue"}
CHROMIUM: Final = "/usr/bin/chromium"
# The clock starts when the page asks, after its pause, and stops when the frame with the new rows has been drawn: the
# rows change, the next frame is drawn, and the first task after it looks at the clock.
PICTURE: Final = """async (weight) => {
  const ask = window.fetch;
  let began = 0;
  window.fetch = (...given) => { began = performance.now(); return ask(...given); };
  const results = document.getElementById("results");
  const drawn = new Promise((done) => {
    const all = { childList: true, subtree: true, attributes: true, characterData: true };
    new MutationObserver((_, observer) => {
      if (!began || results.ariaBusy) return;
      observer.disconnect();
      requestAnimationFrame(() => scheduler.postTask(() => done(performance.now()), { priority: "user-blocking" }));
    }).observe(results, all);
  });
  const slider = document.getElementById("w-year");
  slider.value = weight;
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  const ended = await drawn;
  window.fetch = ask;
  return ended - began;
}"""
CALL: Final = """async ([token, given]) => {
  const weights = Object.entries(given).map(([criterion_name, weight]) => ({ criterion_name, weight: weight / 100 }));
  const body = JSON.stringify({ weights });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const began = performance.now();
  const path = "/api/v1/datasets/score?limit=20&explain=true&envelope=true";
  await (await fetch(path, { method: "POST", headers, body })).json();
  return performance.now() - began;
}"""


@contextmanager
def served(records: int) -> Iterator[str]:
    """A server over a catalog of this size; its address."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(fill(Path(folder) / "touchstone.db", records))
        environment = os.environ | {"TOUCHSTONE_PORT": "0", "TOUCHSTONE_DATA_DIR": folder}
        command = [sys.executable, "-u", "-m", "touchstone", "serve"]
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout is not None
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
            process.terminate()


def token_of(address: str) -> str:
    """The access token of a new user."""
    with httpx2.Client(base_url=address) as client:
        client.post("/api/v1/auth/register", json=PERSON)
        form = {"username": PERSON["email"], "password": PERSON["password"]}
        token: str = client.post("/api/v1/auth/login", json=form).json()["access_token"]
        return token


def measured(page: Page, token: str, view: str, weights: dict[str, int], years: range) -> tuple[float, float]:
    """Milliseconds of a picture and of a call, taken in turn: medians over the years but the first."""
    page.goto(f"/app/?view={view}&{'&'.join(f'w.{name}={weight}' for name, weight in weights.items())}")
    pictures, calls = [], []
    for year in years:
        pictures.append(page.evaluate(PICTURE, year))
        page.wait_for_timeout(REST)
        calls.append(page.evaluate(CALL, [token, weights | {"year": year + 0.5}]))
    return statistics.median(pictures[WARM:]), statistics.median(calls[WARM:])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=RECORDS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with served(options.records) as address, sync_playwright() as playwright:
        token = token_of(address)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=address)
        page.goto("/app/sign-in")
        page.fill("[name=email]", PERSON["email"])
        page.fill("[name=password]", PERSON["password"])
        page.click("main form button")
        page.wait_for_selector(".heat")
        print(f"{options.records} records, medians of {options.rounds}")
        for turn, view in enumerate(VIEWS):
            weights = {"ethical_score": 40, "technical_score": 40, "popularity_score": 20 + turn}
            picture, call = measured(page, token, view, weights, range(5, 5 + WARM + options.rounds))
            verdict = "pass" if picture <= MOST * call else f"not within {MOST:g} times"
            print(f"{view:6} call {call:4.1f} ms, new picture {picture:4.1f} ms: {picture / call:.2f} times, {verdict}")
        browser.close()


if __name__ == "__main__":
    main()
