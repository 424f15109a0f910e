// The address of the ranking that is shown: in the browser's history, in links back to the ranking, and in the form
// with the switches of language and theme, which lead back to it.

import { rememberRanking } from "./last_ranking.js";
import { updateLinks } from "./ranking_patch.js";

const returnField = document.getElementById("here");
// Writes the address of the ranking that has just been shown, or null.
let postponedWrite = null;

/** Return the address of the ranking that is shown. */
export function shownAddress() {
  return returnField.value;
}

/** Remember the address of the ranking that is shown. */
export function setShownAddress(address) {
  returnField.value = address;
  rememberRanking(address);
}

/** Add the address to the browser's history, and to the links in the ranking unless the server has written them. */
export function pushAddress(address, { linksAreOutdated }) {
  completeAddress();
  setShownAddress(address);
  postponedWrite = () => {
    if (linksAreOutdated) updateLinks(address);
    history.pushState(null, "", address);
  };
  // This takes the browser longer than drawing a row, so it waits until the ranking has been drawn.
  requestAnimationFrame(() => setTimeout(completeAddress));
}

/** Write the latest address now, if it is still waiting for its ranking to be drawn. */
export function completeAddress() {
  const write = postponedWrite;
  postponedWrite = null;
  write?.();
}

/** Before a switch of language or theme, call a function that returns the address to come back to, or null. */
export function onPreferenceSwitch(currentAddress) {
  returnField.form.addEventListener("submit", () => {
    returnField.value = currentAddress() ?? returnField.value;
  });
}
