// Jobs at work, on their own page and in lists: their state, words, progress and times follow the work. Events of the
// service say when something has happened; the words come from the page itself, in the reader's language. Without
// events the page is asked for at intervals.

import { say, write } from "./shares.js";

const FOLLOWED = 2; // event streams at once: a browser opens few connections to one server
const SOON = 300; // milliseconds that events are gathered
const OFTEN = 2000; // milliseconds between looks at the page without events
const SELDOM = 10_000; // and with them
const PATIENCE = 10_000; // milliseconds after which no answer means that the service is away

const panel = document.getElementById("progress"); // only on the page of one job
const unreachable = document.getElementById("unreachable");
const streams = new Map();
let next = 0;
let asking = false;
let started = performance.now();

// The charts' library waits in the browser's memory by the time that there are charts.
if (panel) fetch(panel.dataset.vega).catch(() => null);

async function refresh() {
  if (asking) return;
  asking = true;
  try {
    const answer = await fetch(window.location.href, { signal: AbortSignal.timeout(PATIENCE) });
    if (answer.status >= 500 || answer.status === 429) throw new Error(answer.statusText);
    unreachable.hidden = true;
    // Signed out, or deleted meanwhile: the whole page says which.
    if (answer.redirected || !answer.ok) return window.location.reload();
    take(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    unreachable.hidden = false;
  } finally {
    asking = false;
    plan();
  }
}

function take(page) {
  if (panel && !page.getElementById("progress")) return window.location.reload();
  for (const part of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(part.id);
    if (fresh) update(part, fresh);
    else if (part.tagName === "PROGRESS") part.remove(); // its job has ended
  }
  started = performance.now();
  follow();
}

// What stands there already is not written again: it would be read aloud again.
function update(part, fresh) {
  for (const { name, value } of fresh.attributes) write(part, name, value);
  if (!("events" in fresh.dataset)) delete part.dataset.events;
  if (part.tagName === "PROGRESS") return;
  if (part.innerHTML !== fresh.innerHTML) part.replaceChildren(...fresh.childNodes);
}

// The clocks run between two looks at the page.
function tick() {
  const passed = (performance.now() - started) / 1000;
  for (const clock of document.querySelectorAll("[data-seconds]")) {
    say(clock, written(Math.floor(Number(clock.dataset.seconds) + passed)));
  }
}

function written(seconds) {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

function follow() {
  const wanted = [...document.querySelectorAll("[data-events]")].map((one) => one.dataset.events).slice(0, FOLLOWED);
  for (const [address, stream] of streams) {
    if (!wanted.includes(address)) {
      stream.close();
      streams.delete(address);
    }
  }
  for (const address of wanted) if (!streams.has(address)) streams.set(address, opened(address));
}

function opened(address) {
  const stream = new EventSource(address);
  for (const name of ["message", "queued", "running", "progress", "cancelling", "succeeded", "failed", "cancelled"]) {
    stream.addEventListener(name, () => plan(SOON));
  }
  stream.addEventListener("error", () => plan(SOON));
  return stream;
}

function plan(wait = waiting()) {
  clearTimeout(next);
  next = document.querySelector("[data-events]") ? setTimeout(refresh, wait) : 0;
}

function waiting() {
  const live = streams.size && [...streams.values()].every((stream) => stream.readyState === EventSource.OPEN);
  return live ? SELDOM : OFTEN;
}

follow();
plan();
setInterval(tick, 1000);
