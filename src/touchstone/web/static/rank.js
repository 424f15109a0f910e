// The rank page: follows every change 300 ms after the last one. The server draws; this file only asks and swaps.

import { keep as keepRanking } from "./last_ranking.js";
import { fill, readdress } from "./picture.js";
import { say, share, write } from "./shares.js";

const PAUSE = 300;
const LATE = 250; // an answer that takes longer dims the old picture
const form = document.getElementById("rank-form");

const MAX_PINS = 5;
const here = document.getElementById("here"); // where the switches of language and theme lead back to

let timer = 0;
let running = null;
let leading = null; // the question, if it is one that the form does not hold yet: a profile, a link, Back
let queue = Promise.resolve(); // such questions, one after another
let moment = 0; // counts what the reader does
const done = new Map(); // what the reader did, by field, that no picture shows yet

// Where the panels stand above the ranking they wait closed, so that the ranking comes first. Elsewhere the style sheet
// shows their contents until this line runs (rank.css), so that nothing moves when it does.
const OPEN = { filters: "(min-width: 64rem)", weights: "(min-width: 40.01rem)" };
for (const [id, where] of Object.entries(OPEN)) {
  document.getElementById(id).open = window.matchMedia(where).matches;
}
document.documentElement.dataset.ready = "";

function query(extra = {}) {
  const pairs = [...new FormData(form)].filter(([name, value]) => value !== "" && !(name in extra));
  return new URLSearchParams([...pairs, ...Object.entries(extra)]);
}

function swap(fresh, id) {
  const old = document.getElementById(id);
  const made = fresh.getElementById(id);
  if (!old || !made) return;
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const open = [...old.querySelectorAll("details[id]")].map((one) => [one.id, one.open]);
  if (old.tagName === "DETAILS") made.open = old.open;
  // Only the side panels scroll by themselves; asking costs a layout.
  const panel = old.closest(".filters, .weights");
  const scrolled = panel?.scrollTop;
  old.replaceWith(made);
  for (const [one, state] of open) {
    const again = document.getElementById(one);
    if (again) again.open = state;
  }
  if (panel) panel.scrollTop = scrolled;
  if (focused) refocus(focused, made);
}

// Makes `old` what `made` is by writing only what differs: a browser draws that sooner than new elements.
function morph(old, made) {
  if (old.nodeName !== made.nodeName) return old.replaceWith(made);
  if (old.nodeType !== Node.ELEMENT_NODE) return old.data === made.data || (old.data = made.data);
  for (const { name, value } of made.attributes) {
    write(old, name, value);
  }
  if (old.attributes.length > made.attributes.length) {
    // What the reader opened stays open.
    const gone = old.getAttributeNames().filter((name) => name !== "open" && !made.hasAttribute(name));
    for (const name of gone) old.removeAttribute(name);
  }
  if (old.type === "checkbox") old.checked = made.checked;
  if (old.childNodes.length !== made.childNodes.length) return old.replaceChildren(...made.childNodes);
  for (let [mine, theirs] = [old.firstChild, made.firstChild]; mine; ) {
    const next = [mine.nextSibling, theirs.nextSibling];
    morph(mine, theirs);
    [mine, theirs] = next;
  }
}

function redraw(draw) {
  const results = document.getElementById("results");
  const focused = results.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.id;
  draw(results);
  if (focused && (!focused.isConnected || focused.id !== id || focused.closest("[hidden]"))) {
    (document.getElementById(id) ?? document.getElementById("main")).focus({ preventScroll: true });
  }
}

function refocus(focused, node) {
  const alike = focused.id
    ? document.getElementById(focused.id)
    : [...node.querySelectorAll("input, a, summary")].find(
        (one) => (one.name === focused.name && one.value === focused.value && one.href === focused.href),
      );
  (alike ?? document.getElementById("main")).focus({ preventScroll: true });
  if (alike && focused.selectionStart != null && alike.setSelectionRange) {
    // The blank at the end of a word that is being typed is not taken away.
    if (focused.value.trim() === alike.value) alike.value = focused.value;
    alike.setSelectionRange(focused.selectionStart, focused.selectionEnd);
  }
}

// Which dataset stood where, so that each can glide to its new place: motion that shows what changed.
function rows() {
  return [...document.querySelectorAll("#results [data-id]")];
}

function glide(before) {
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  // Distances in rows, not in pixels: measuring would lay the page out once more before it is drawn.
  rows().forEach((row, place) => {
    const was = before.indexOf(row.dataset.id);
    if (was >= 0 && was !== place) {
      const from = `translateY(${100 * (was - place)}%)`;
      row.animate([{ transform: from }, { transform: "none" }], { duration: 220, easing: "ease-out" });
    }
  });
}

// The address can wait until the picture is seen: writing it takes the browser longer than drawing a row.
function remembered(address, figures) {
  here.value = address;
  keepRanking(address);
  requestAnimationFrame(() =>
    setTimeout(() => {
      if (figures && here.value === address) readdress(address);
      history.pushState(null, "", address);
    }),
  );
}

function keyOf(field) {
  return field.type === "checkbox" || field.name === "pin" ? `${field.name}=${field.value}` : field.name;
}

function keep(field) {
  moment += 1;
  const { name, value, checked, type } = field;
  done.set(keyOf(field), { name, value, checked: type === "checkbox" && checked, moment });
}

function drop(which) {
  for (const [key, { name }] of done) {
    if (which === key || which === name || (which === "filters" && isFilter({ name }))) done.delete(key);
  }
}

function has(test) {
  return [...done.values()].some(test);
}

// An answer shows the form as it was asked about: what the reader did since is done again.
function redo() {
  for (const [key, { name, value, checked }] of done) {
    const field = [...form.elements].find((one) => keyOf(one) === key);
    if (field?.type === "checkbox") field.checked = checked;
    else if (field?.type === "hidden") checked || field.remove();
    else if (field) field.value = value;
    else if (checked) document.getElementById("results").append(unseen(name, value));
  }
}

// A tick whose box has left the page with the new picture.
function unseen(name, value) {
  const field = Object.assign(document.createElement("input"), { type: "hidden", name, value });
  field.setAttribute("form", form.id);
  return field;
}

// A picture of another shape, as the server drew it.
function replace(fresh) {
  redraw((results) => morph(results, fresh.getElementById("results")));
  swap(fresh, "weights");
  swap(fresh, "filters");
}

// The profile whose weights these are, if there is one.
function press(profile) {
  for (const one of document.querySelectorAll("#weights [aria-pressed]")) {
    one.setAttribute("aria-pressed", String(one.value === profile));
  }
}

// One short sentence for readers who cannot see that the picture has changed.
function announce() {
  say(document.getElementById("announcement"), document.getElementById("results").dataset.announcement);
}

function parsed(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

// `also` names the panels that the change concerns; sending and drawing them for nothing would take longest.
// `seen` is the last moment that the question knows of; one that `leads` is not in the form yet.
async function show(asked, { remember = true, also = [], seen = moment, leads = false } = {}) {
  stop();
  // An older answer must never overwrite a newer one.
  running?.abort();
  const mine = (running = new AbortController());
  leading = leads ? mine : null;
  const results = document.getElementById("results");
  results.setAttribute("aria-busy", "true");
  const dimming = setTimeout(() => results.classList.add("late"), LATE);
  let address = null;
  try {
    const parts = also.map((one) => `&also=${one}`).join("");
    const shape = also.length ? "" : `&shape=${results.dataset.shape}`;
    const question = `/app/parts/ranking?${asked}${parts}${shape}`;
    const answer = await fetch(question, { signal: mine.signal, redirect: "manual" });
    if (!answer.ok) return refused(answer);
    const figures = answer.headers.get("content-type") === "application/json" && (await answer.json());
    const fresh = !figures && parsed(await answer.text());
    if (mine.signal.aborted) return null;
    const before = rows().map((row) => row.dataset.id);
    if (figures) redraw(() => fill(figures));
    else replace(fresh);
    for (const [key, one] of done) if (one.moment <= seen) done.delete(key);
    redo();
    if (fresh) share();
    press(answer.headers.get("x-profile"));
    announce();
    glide(before);
    address = answer.headers.get("x-address");
    if (remember) remembered(address, figures);
  } catch (problem) {
    if (problem.name !== "AbortError") away();
  } finally {
    clearTimeout(dimming);
    if (leading === mine) leading = null;
  }
  // What was done during a question that led is asked about now.
  if (address && done.size && !timer) changed();
  return address;

  function refused(answer) {
    // Signed out, or not allowed: the full page says which. Too busy passes by itself.
    if (answer.status >= 500 || answer.status === 429) away();
    else window.location.assign(`/app/?${asked}`);
    return null;
  }

  // The picture stays, and so does what the reader did.
  function away() {
    results.setAttribute("aria-busy", "false");
    results.classList.remove("late");
    const said = document.getElementById("away");
    said.hidden = false;
    said.querySelector("button").onclick = () => show(asked, { remember, also, seen, leads });
  }
}

function lead(asked, options) {
  return show(asked, { ...options, leads: true });
}

// Each is put to the page as the one before has left it.
function then(question) {
  queue = queue.then(question, question);
}

function isFilter({ name }) {
  return name !== "pin" && !name.startsWith("w.");
}

// What the form holds. A pin changes no order, and so leaves the page where it is.
function ask(extra = {}) {
  const page = has(({ name }) => name !== "pin") ? 1 : document.getElementById("results").dataset.page;
  return show(query({ page, ...extra }), { also: has(isFilter) ? ["filters"] : [] });
}

function changed() {
  timer = 0;
  return leading ? null : ask();
}

function stop() {
  clearTimeout(timer);
  timer = 0;
}

function edited({ target }) {
  if (target.form !== form) return;
  if (target.type === "range") {
    target.step = 1; // a stored weight may lie between two steps; a hand moves from one to the next
    share();
  }
  if (target.name === "pin" && new FormData(form).getAll("pin").length > MAX_PINS) {
    target.checked = false;
    document.getElementById("pins-full").hidden = false;
    return;
  }
  keep(target);
  stop();
  timer = setTimeout(changed, PAUSE);
}

document.addEventListener("input", edited);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name, value } = event.submitter ?? {};
  then(() => (name === "profile" ? weigh(value) : ask()));
});

function weigh(profile) {
  return lead(query({ profile }), { also: has(isFilter) ? ["weights", "filters"] : ["weights"] });
}

// A switch of language or theme comes back to what the form holds.
here.form.addEventListener("submit", () => {
  if (done.size) here.value = `/app/?${query()}`;
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  if (!link) return;
  if (done.size) keepRanking(`/app/?${left()}`);
  // The filters are not drawn again when weights change, and so their links are completed here.
  if (link.closest("#filters")) link.search = done.size ? left() : new URL(here.value, window.location).search;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const { view, live } = link.dataset;
  const leaves = (done.size || leading) && link.closest("#results, #filters");
  if (!view && !live && !leaves) return;
  event.preventDefault();
  const target = new URL(link.href);
  then(() => (view ? turn(view) : live ? take(live) : follow(target)));
});

// The state that the form holds, as an address has it: without the picture before.
function left() {
  const asked = query();
  asked.delete("was");
  return asked;
}

// Another view of what the form holds.
function turn(view) {
  form.elements.view.value = view;
  return done.size ? ask() : lead(shownLink("view", view).searchParams);
}

// A link that takes something away; what else was done meanwhile is kept.
function take(which) {
  const link = shownLink("live", which);
  drop(which);
  return link && lead(link.searchParams, { also: ["filters"], seen: -1 });
}

// The answer that was waited for may have drawn the link anew.
function shownLink(kind, value) {
  const found = [...document.querySelectorAll(`a[data-${kind}]`)].find((one) => one.dataset[kind] === value);
  return found && new URL(found.href);
}

// To another page, with what was done a moment ago; the record that it is about is named by the link alone.
async function follow({ pathname, searchParams }) {
  const address = await ask();
  if (!address) return;
  const target = new URL(pathname + new URL(address, window.location).search, window.location);
  if (searchParams.has("choose")) target.searchParams.set("choose", searchParams.get("choose"));
  window.location.assign(target);
}

// Back and forward: everything as it was.
window.addEventListener("popstate", () => {
  const address = window.location.pathname + window.location.search;
  if (address === here.value) return; // to a place within the page
  done.clear();
  here.value = address;
  keepRanking(address);
  const asked = new URLSearchParams(window.location.search);
  form.elements.view.value = asked.get("view") ?? "heat";
  queue = lead(asked, { remember: false, also: ["weights", "filters"] });
});

// What the reader did before this file ran: the fields that no longer hold what the server wrote into them.
function isChanged(field) {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.tagName !== "SELECT") return field.tagName === "INPUT" && field.value !== field.defaultValue;
  const written = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
  return field.value !== written?.value;
}

for (const field of form.elements) {
  if (isChanged(field)) edited({ target: field });
}
