// Requests a ranking from the server, and shows the response: a whole ranking as HTML, or a patch for the shown one.

import { parseFragment, setText } from "./dom.js";
import { applyPatch } from "./ranking_patch.js";
import { keepFocus, morph, replacePanel } from "./redraw_keeping_focus.js";
import { animateRows, rankedIds } from "./row_motion.js";
import { showShares } from "./shares.js";

/**
 * Request a ranking.
 *
 * `panels` names the side panels that change too. Without panels the server responds with a small patch if the layout
 * of the ranking stays the same.
 */
export function fetchRanking(query, panels, signal) {
  const parameters = new URLSearchParams(query);
  for (const panel of panels) parameters.append("panel", panel);
  if (!panels.length) parameters.append("layout", document.getElementById("results").dataset.layout);

  return fetch(`/app/parts/ranking?${parameters}`, { signal, redirect: "manual" });
}

/** Return the content of a response: the patch or the HTML, the address of the ranking, and its profile. */
export async function readRanking(response) {
  const { headers } = response;
  const isPatch = headers.get("content-type") === "application/json";
  return {
    patch: isPatch ? await response.json() : null,
    fragment: isPatch ? null : parseFragment(await response.text()),
    address: headers.get("x-address"),
    profile: headers.get("x-profile"),
  };
}

/** Show a ranking. As soon as the form has the ranking's state, `restoreEdits` makes the reader's newer edits again. */
export function showRanking({ patch, fragment, profile }, restoreEdits) {
  const previousIds = rankedIds();
  if (patch) keepFocus(() => applyPatch(patch));
  else replaceResults(fragment);

  restoreEdits();
  if (fragment) showShares();
  markProfile(profile);
  announceResults();
  animateRows(previousIds);
}

function replaceResults(fragment) {
  keepFocus((results) => morph(results, fragment.getElementById("results")));
  showSearchWords(fragment);
  replacePanel(fragment, "weights");
  replacePanel(fragment, "gates");
  replacePanel(fragment, "filters");
}

/** Write the words of the ranking into the search field, which stays in place so that its suggestions stay open. */
function showSearchWords(fragment) {
  const field = document.getElementById("f-q");
  const replacement = fragment.getElementById("f-q");
  // A blank after a word that is still being typed is kept.
  if (replacement && field.value.trim() !== replacement.value) field.value = replacement.value;
}

function markProfile(profile) {
  for (const button of document.querySelectorAll("#weights [aria-pressed]")) {
    button.setAttribute("aria-pressed", String(button.value === profile));
  }
}

/** Tell screen readers in one short sentence what the new ranking shows. */
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
