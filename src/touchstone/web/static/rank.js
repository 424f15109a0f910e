// The rank page: follows what the reader does. The server draws every ranking; the scripts only request and show it.

import { rememberRanking } from "./last_ranking.js";
import { completeAddress, onPreferenceSwitch, setShownAddress, shownAddress } from "./rank_address.js";
import { addressQuery, changedFields, formQuery, isFilter } from "./rank_form.js";
import { RankUpdater } from "./rank_updater.js";
import { showShares } from "./shares.js";
import { followSearchField } from "./suggestions.js";

const MAX_PINS = 5;
// The panels are open on screens that have room for them. Until this script runs, the style sheet shows their contents
// there (rank.css), so that nothing moves when the script opens them.
const OPEN_PANELS = { filters: "(min-width: 64rem)", weights: "(min-width: 40.01rem)" };

const form = document.getElementById("rank-form");
const updater = new RankUpdater(form);

for (const [id, mediaQuery] of Object.entries(OPEN_PANELS)) {
  document.getElementById(id).open = window.matchMedia(mediaQuery).matches;
}
document.documentElement.dataset.ready = "";

function handleInput({ target }) {
  if (target.form !== form) return;

  if (target.type === "range") {
    target.step = 1; // a stored weight may lie between two steps; the reader moves from one step to the next
    showShares();
  }
  if (target.name === "pin" && new FormData(form).getAll("pin").length > MAX_PINS) {
    target.checked = false;
    document.getElementById("pins-full").hidden = false;
    return;
  }
  updater.edit(target);
}

function handleSubmit(event) {
  event.preventDefault();
  const { name, value } = event.submitter ?? {};
  updater.enqueue(() => (name === "profile" ? applyProfile(value) : updater.loadForm()));
}

function handleClick(event) {
  const link = event.target.closest("a[href]");
  if (!link) return;

  completeAddress(); // a link that is clicked at once has to lead to the ranking that is shown
  const hasEdits = !updater.edits.isEmpty;
  if (hasEdits) rememberRanking(`/app/?${addressQuery()}`);
  if (link.closest("#filters")) {
    // The filters are not drawn again when the weights change, so their links are completed here.
    link.search = hasEdits ? addressQuery() : new URL(shownAddress(), window.location).search;
  }
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;

  const { view, live } = link.dataset;
  const target = new URL(link.href);
  if (view) updater.enqueue(() => showView(view));
  else if (live) updater.enqueue(() => removeEntry(live));
  else if (updater.isUpdating && link.closest("#results, #filters")) updater.enqueue(() => followLink(target));
  else return;
  event.preventDefault();
}

function applyProfile(profile) {
  const panels = updater.edits.some(isFilter) ? ["weights", "filters"] : ["weights"];
  return updater.loadAheadOfForm(formQuery({ profile }), { panels });
}

/** Show the ranking in another view. */
function showView(view) {
  form.elements.view.value = view;
  return updater.edits.isEmpty
    ? updater.loadAheadOfForm(findLink("view", view).searchParams)
    : updater.loadForm();
}

/** Follow a link that removes a filter or the pins, and keep what else the reader has changed meanwhile. */
function removeEntry(key) {
  const link = findLink("live", key);
  updater.edits.discard(key);
  return link && updater.loadAheadOfForm(link.searchParams, { panels: ["filters"], editTime: -1 });
}

/** Return the current address of a link, which a new ranking may have replaced since it was clicked. */
function findLink(kind, value) {
  const link = [...document.querySelectorAll(`a[data-${kind}]`)].find((element) => element.dataset[kind] === value);
  return link && new URL(link.href);
}

/** Load the ranking of the latest edits, then follow a link with the address of that ranking instead of its own. */
async function followLink({ pathname, searchParams }) {
  const address = await updater.loadForm();
  if (!address) return;

  const target = new URL(pathname + new URL(address, window.location).search, window.location);
  if (searchParams.has("choose")) target.searchParams.set("choose", searchParams.get("choose"));
  window.location.assign(target);
}

/** Show an earlier ranking after Back or Forward. */
function handleHistory() {
  const address = window.location.pathname + window.location.search;
  if (address === shownAddress()) return; // a link within the page

  setShownAddress(address);
  const query = new URLSearchParams(window.location.search);
  form.elements.view.value = query.get("view") ?? "heat";
  updater.restore(query);
}

document.addEventListener("input", handleInput);
document.addEventListener("click", handleClick);
form.addEventListener("submit", handleSubmit);
window.addEventListener("popstate", handleHistory);
followSearchField();
onPreferenceSwitch(() => (updater.edits.isEmpty ? null : `/app/?${formQuery()}`));

// What the reader did before these scripts had loaded.
for (const field of changedFields()) handleInput({ target: field });
