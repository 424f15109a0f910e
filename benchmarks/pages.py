"""From the moment a slider rests to the new picture, beside the API call that the picture needs.

100 000 records, one browser, in one run: the API call is made from the same browser over the same server. Neither the
picture nor the call uses weights that were asked for before, for the service remembers its answers. The pause of 300 ms
after the last move is not counted: it is there on purpose.
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

RECORDS: Final = 100_000
ROUNDS: Final = 30
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
CALL: Final = """async ([token, weight]) => {
  const weights = [["ethical_score", 0.4], ["technical_score", 0.4], ["popularity_score", 0.2], ["year", weight / 100]];
  const body = JSON.stringify({ weights: weights.map(([criterion_name, weight]) => ({ criterion_name, weight })) });
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


def measured(page: Page, token: str, weights: range) -> tuple[list[float], list[float]]:
    """Milliseconds of the pictures and of the calls, taken in turn."""
    pictures, calls = [], []
    for weight in weights:
        pictures.append(page.evaluate(PICTURE, weight))
        page.wait_for_timeout(REST)
        calls.append(page.evaluate(CALL, [token, weight + 0.5]))
    return pictures, calls


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
        measured(page, token, range(5, 10))
        pictures, calls = measured(page, token, range(10, 10 + options.rounds))
        browser.close()
    picture, call = statistics.median(pictures), statistics.median(calls)
    print(f"records          {options.records}")
    print(f"API call         {call:.1f} ms (median of {options.rounds}, in the browser)")
    print(f"new picture      {picture:.1f} ms, {picture / call:.2f} times the call")
    print("pass" if picture <= MOST * call else f"not within {MOST:g} times")


if __name__ == "__main__":
    main()
