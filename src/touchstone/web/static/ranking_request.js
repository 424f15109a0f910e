// Requests a ranking from the server, and shows the answer.

import { parseFragment, setText } from "./dom.js";
import { fillRanking } from "./picture.js";
import { keepFocus, morph, replacePanel } from "./redraw.js";
import { animateRows, rankedIds } from "./row_motion.js";
import { showShares } from "./shares.js";

/**
 * Request a ranking.
 *
 * `panels` names the side panels that change too; sending and drawing them for nothing would take most of the time.
 * Without panels the server answers with figures alone if the ranking keeps its shape.
 */
export function fetchRanking(query, panels, signal) {
  const { shape } = document.getElementById("results").dataset;
  const panelParameters = panels.map((panel) => `&also=${panel}`).join("");
  const shapeParameter = panels.length ? "" : `&shape=${shape}`;
  return fetch(`/app/parts/ranking?${query}${panelParameters}${shapeParameter}`, { signal, redirect: "manual" });
}

/** Return the content of an answer: the figures or the HTML, the address of the ranking, and its profile. */
export async function readRanking(response) {
  const { headers } = response;
  const isFigures = headers.get("content-type") === "application/json";
  return {
    figures: isFigures ? await response.json() : null,
    fragment: isFigures ? null : parseFragment(await response.text()),
    address: headers.get("x-address"),
    profile: headers.get("x-profile"),
  };
}

/** Show an answer; `restoreEdits` runs as soon as the form is the one of the answer. */
export function showRanking({ figures, fragment, profile }, restoreEdits) {
  const previousIds = rankedIds();
  if (figures) keepFocus(() => fillRanking(figures));
  else replaceResults(fragment);

  restoreEdits();
  if (fragment) showShares();
  markProfile(profile);
  announceResults();
  animateRows(previousIds);
}

function replaceResults(fragment) {
  keepFocus((results) => morph(results, fragment.getElementById("results")));
  replacePanel(fragment, "weights");
  replacePanel(fragment, "filters");
}

function markProfile(profile) {
  for (const button of document.querySelectorAll("#weights [aria-pressed]")) {
    button.setAttribute("aria-pressed", String(button.value === profile));
  }
}

/** Tell screen readers in one short sentence what the ranking has become. */
function announceResults() {
  setText(document.getElementById("announcement"), document.getElementById("results").dataset.announcement);
}

/** Keep the ranking that is shown and say that the service does not answer, with a button that tries again. */
export function showUnavailable(retry) {
  const results = document.getElementById("results");
  results.setAttribute("aria-busy", "false");
  results.classList.remove("late");

  const notice = document.getElementById("away");
  notice.hidden = false;
  notice.querySelector("button").onclick = retry;
}
