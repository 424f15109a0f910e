// The rank page: follows every change 300 ms after the last one. The server draws; this file only asks and swaps.

const PAUSE = 300;
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
  const scrolled = old.parentElement.scrollTop;
  const node = document.importNode(made, true);
  old.replaceWith(node);
  for (const [one, state] of open) {
    const again = document.getElementById(one);
    if (again) again.open = state;
  }
  node.parentElement.scrollTop = scrolled;
  if (focused) refocus(focused, node);
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

// Where each dataset stood, so that it can glide to its new place: motion that shows what changed.
function places() {
  return new Map([...document.querySelectorAll("#results [data-id]")].map((row) => [row.dataset.id, row.offsetTop]));
}

function glide(before) {
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const row of document.querySelectorAll("#results [data-id]")) {
    const from = before.get(row.dataset.id);
    const distance = from === undefined ? 0 : from - row.offsetTop;
    if (distance) {
      row.animate([{ transform: `translateY(${distance}px)` }, { transform: "none" }], { duration: 220, easing: "ease-out" });
    }
  }
}

function swapShares(fresh) {
  swap(fresh, "shares");
  for (const made of fresh.querySelectorAll("#weights .slider")) {
    const slider = document.getElementById(made.querySelector("input").id);
    const mine = slider.closest(".slider");
    mine.className = made.className;
    mine.querySelector("output").textContent = made.querySelector("output").textContent;
    slider.setAttribute("aria-valuetext", made.querySelector("input").getAttribute("aria-valuetext"));
  }
  for (const made of fresh.querySelectorAll("#weights [aria-pressed]")) {
    document.getElementById(made.id)?.setAttribute("aria-pressed", made.getAttribute("aria-pressed"));
  }
}

async function show(asked, { remember = true, weights = false } = {}) {
  clearTimeout(timer);
  // An older answer must never overwrite a newer one.
  running?.abort();
  const mine = (running = new AbortController());
  const results = document.getElementById("results");
  results.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(`/app/parts/ranking?${asked}`, { signal: mine.signal, redirect: "manual" });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (mine.signal.aborted) return;
    const before = places();
    swap(fresh, "results");
    if (weights) swap(fresh, "weights");
    else swapShares(fresh);
    swap(fresh, "filters");
    glide(before);
    if (remember) history.pushState(null, "", answer.headers.get("x-address"));
    filtersChanged = false;
  } catch (problem) {
    // Signed out, or the service is away: the full page says which.
    if (problem.name !== "AbortError") window.location.assign(`/app/?${query()}`);
  }
}

function changed() {
  const extra = filtersChanged ? { page: 1 } : { facets: 0, page: 1 };
  show(query(extra));
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
    show(query({ profile: button.value, ...(filtersChanged ? {} : { facets: 0 }) }), { weights: true });
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
  if (link.dataset.view) asked.set("facets", 0);
  show(asked);
});

// Back and forward: everything as it was.
window.addEventListener("popstate", () => {
  const asked = new URLSearchParams(window.location.search);
  form.elements.view.value = asked.get("view") ?? "heat";
  show(asked, { remember: false, weights: true });
});
