// Follows running jobs on their own pages and in lists: state, texts, progress and times. Events of the service say
// when something has changed. The texts come from the page itself, which is requested again, because it is written in
// the reader's language. Without events the page is requested at intervals.

import { setAttribute, setText } from "./dom.js";
import { EventStreams } from "./event_streams.js";

const EVENT_PAUSE_MS = 300; // events that follow one another this soon cause one request
const POLL_MS = 2000; // between requests of the page without events
const POLL_WITH_EVENTS_MS = 10_000;
const TIMEOUT_MS = 10_000; // no answer for this long means that the service is unavailable
const CLOCK_MS = 1000;
const TOO_MANY_REQUESTS = 429;

class JobFollower {
  #streams = new EventStreams(() => this.#schedule(EVENT_PAUSE_MS));
  #panel = document.getElementById("progress"); // only on the page of a job
  #unreachable = document.getElementById("unreachable");
  #timer = 0;
  #isRequesting = false;
  #updatedAt = performance.now();

  start() {
    this.#streams.update();
    this.#schedule();
    setInterval(() => this.#showClocks(), CLOCK_MS);
    // The library of the charts is in the browser's cache by the time that there are charts.
    if (this.#panel) fetch(this.#panel.dataset.vega).catch(() => null);
  }

  #schedule(pause = this.#streams.areOpen ? POLL_WITH_EVENTS_MS : POLL_MS) {
    clearTimeout(this.#timer);
    const hasRunningJobs = document.querySelector("[data-events]");
    this.#timer = hasRunningJobs ? setTimeout(() => this.#refresh(), pause) : 0;
  }

  /** Request the page and show what has changed. */
  async #refresh() {
    if (this.#isRequesting) return;
    this.#isRequesting = true;
    try {
      const response = await fetch(window.location.href, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.status >= 500 || response.status === TOO_MANY_REQUESTS) throw new Error(response.statusText);
      this.#unreachable.hidden = true;
      // The session has ended or the job was deleted: the whole page says which.
      if (response.redirected || !response.ok) window.location.reload();
      else this.#show(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      this.#unreachable.hidden = false;
    } finally {
      this.#isRequesting = false;
      this.#schedule();
    }
  }

  #show(page) {
    if (this.#panel && !page.getElementById("progress")) {
      window.location.reload(); // the job has ended, and its page looks different
      return;
    }
    document.title = page.title; // the title of a job says its state, which is visible on the tab, too
    for (const element of document.querySelectorAll("[data-live]")) {
      const replacement = page.getElementById(element.id);
      if (replacement) updateElement(element, replacement);
      else if (element.tagName === "PROGRESS") element.remove(); // a job of the list has ended
    }
    this.#updatedAt = performance.now();
    this.#streams.update();
  }

  /** Let the clocks run between two requests. */
  #showClocks() {
    const passed = (performance.now() - this.#updatedAt) / 1000;
    for (const clock of document.querySelectorAll("[data-seconds]")) {
      setText(clock, formatClock(Math.floor(Number(clock.dataset.seconds) + passed)));
    }
  }
}

/** Update a part of the page. Unchanged content is not written again, because screen readers would repeat it. */
function updateElement(element, replacement) {
  for (const { name, value } of replacement.attributes) setAttribute(element, name, value);
  if (!("events" in replacement.dataset)) delete element.dataset.events;
  if (element.tagName === "PROGRESS") return;
  if (element.innerHTML !== replacement.innerHTML) element.replaceChildren(...replacement.childNodes);
}

/** Return seconds as `m:ss`, or `h:mm:ss` from one hour on. */
function formatClock(seconds) {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const remainingSeconds = twoDigits(seconds % 60);
  return hours ? `${hours}:${twoDigits(minutes)}:${remainingSeconds}` : `${minutes}:${remainingSeconds}`;
}

function twoDigits(number) {
  return String(number).padStart(2, "0");
}

new JobFollower().start();
