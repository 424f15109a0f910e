// The rank page: follows every change 300 ms after the last one. The server draws; this file only asks and swaps.

const PAUSE = 300;
const LATE = 250; // an answer that takes longer dims the old picture
const form = document.getElementById("rank-form");

let timer = 0;
let running = null;
let filtersChanged = false;

// Where the panels stand above the ranking they wait closed, so that the ranking comes first.
const CLOSED = { filters: "(max-width: 63.99rem)", weights: "(max-width: 40rem)" };
for (const [id, where] of Object.entries(CLOSED)) {
  if (window.matchMedia(where).matches) document.getElementById(id).open = false;
}

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
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
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

function redraw(fresh) {
  const results = document.getElementById("results");
  const focused = results.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.id;
  morph(results, fresh.getElementById("results"));
  if (focused && (!focused.isConnected || focused.id !== id)) {
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
    alike.value = focused.value;
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
function remembered(address) {
  requestAnimationFrame(() => setTimeout(() => history.pushState(null, "", address)));
}

// What a move of one slider changes about the others. What stays the same is not touched: it would be drawn again.
function swapShares(fresh) {
  morph(document.getElementById("shares"), fresh.getElementById("shares"));
  const told = fresh.getElementById("told");
  for (const made of told.children) {
    const mine = document.getElementById(made.id);
    if (mine.textContent !== made.textContent) mine.textContent = made.textContent;
    mine.closest(".slider").classList.toggle("off", made.classList.contains("off"));
    document.getElementById(mine.htmlFor.value).setAttribute("aria-valuetext", made.dataset.said);
  }
  for (const one of document.querySelectorAll("#weights [aria-pressed]")) {
    one.setAttribute("aria-pressed", String(one.value === told.dataset.profile));
  }
}

function parsed(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

// `also` names the panels that the change concerns; sending and drawing them for nothing would take longest.
async function show(asked, { remember = true, also = [] } = {}) {
  clearTimeout(timer);
  // An older answer must never overwrite a newer one.
  running?.abort();
  const mine = (running = new AbortController());
  const results = document.getElementById("results");
  results.setAttribute("aria-busy", "true");
  const dimming = setTimeout(() => results.classList.add("late"), LATE);
  try {
    const parts = also.map((one) => `&also=${one}`).join("");
    const answer = await fetch(`/app/parts/ranking?${asked}${parts}`, { signal: mine.signal, redirect: "manual" });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const fresh = parsed(await answer.text());
    if (mine.signal.aborted) return;
    const before = rows().map((row) => row.dataset.id);
    redraw(fresh);
    if (fresh.getElementById("weights")) swap(fresh, "weights");
    else swapShares(fresh);
    swap(fresh, "filters");
    glide(before);
    filtersChanged = false;
    if (remember) remembered(answer.headers.get("x-address"));
  } catch (problem) {
    // Signed out, or the service is away: the full page says which.
    if (problem.name !== "AbortError") window.location.assign(`/app/?${query()}`);
  } finally {
    clearTimeout(dimming);
  }
}

function narrowed() {
  return filtersChanged ? ["filters"] : [];
}

function changed() {
  show(query({ page: 1 }), { also: narrowed() });
}

function wait(pause = PAUSE) {
  clearTimeout(timer);
  timer = setTimeout(changed, pause);
}

function edited(event) {
  const target = event.target;
  if (target.form !== form) return;
  if (target.type === "range") target.closest(".slider").querySelector("output").textContent = target.value;
  else if (target.name !== "pin") filtersChanged = true;
  wait();
}

document.addEventListener("input", edited);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.submitter;
  if (button?.name === "profile") {
    show(query({ profile: button.value }), { also: ["weights", ...narrowed()] });
  } else {
    filtersChanged = true;
    changed();
  }
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-view], a[data-live]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const asked = new URL(link.href).searchParams;
  form.elements.view.value = asked.get("view") ?? "heat";
  show(asked, { also: link.dataset.view ? [] : ["filters"] });
});

// Back and forward: everything as it was.
window.addEventListener("popstate", () => {
  const asked = new URLSearchParams(window.location.search);
  form.elements.view.value = asked.get("view") ?? "heat";
  show(asked, { remember: false, also: ["weights", "filters"] });
});
