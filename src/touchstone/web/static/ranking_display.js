// Puts a fetched ranking on the page, and tells screen readers what it shows.

import { setText } from "./dom.js";
import { applyPatch } from "./ranking_patch.js";
import { keepFocus, morph, replacePanel } from "./redraw_keeping_focus.js";
import { animateRows, rankedIds } from "./row_motion.js";
import { showShares } from "./shares.js";

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
