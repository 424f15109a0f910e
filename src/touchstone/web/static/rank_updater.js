// Decides when a new ranking is requested, and which answers are shown.

import { PendingEdits } from "./pending_edits.js";
import { pushAddress } from "./rank_address.js";
import { formQuery, isFilter } from "./rank_form.js";
import { showRanking, showUnavailable } from "./ranking_display.js";
import { fetchRanking, readRanking } from "./ranking_request.js";

const TOO_MANY_REQUESTS = 429;
const PAUSE_MS = 300; // after the last edit, before a ranking is requested
const DIM_AFTER_MS = 250; // an answer that takes longer dims the ranking that is shown

export class RankUpdater {
  #edits;
  #timer = 0;
  #request = null;
  // The request, if its state is not in the form yet: it comes from a profile's button, a link, or Back.
  #requestAheadOfForm = null;
  #tasks = Promise.resolve();

  constructor(form) {
    this.#edits = new PendingEdits(form);
  }

  /** The edits that no ranking shows yet. */
  get edits() {
    return this.#edits;
  }

  /** Whether the ranking that is shown is about to change. */
  get isUpdating() {
    return !this.#edits.isEmpty || this.#requestAheadOfForm !== null;
  }

  /** Record an edit, and request its ranking after a pause. */
  edit(field) {
    this.#edits.add(field);
    this.#stopTimer();
    this.#timer = setTimeout(() => this.#updateUnlessAhead(), PAUSE_MS);
  }

  /** Run a task after the earlier ones, so that each starts from the page that the one before has left. */
  enqueue(task) {
    this.#tasks = this.#tasks.then(task, task);
  }

  /** Show an earlier ranking from the browser's history, without waiting for any task. */
  restore(query) {
    this.#edits.clear();
    this.#tasks = this.loadAheadOfForm(query, { addsToHistory: false, panels: ["weights", "filters"] });
  }

  /** Request the ranking of the form. Return its address, or null if it could not be shown. */
  loadForm() {
    // A pin changes no rank, so it leaves the page where it is; everything else leads back to the first page.
    const staysOnPage = !this.#edits.some(({ name }) => name !== "pin");
    const page = staysOnPage ? document.getElementById("results").dataset.page : 1;
    return this.#load(formQuery({ page }), { panels: this.#edits.some(isFilter) ? ["filters"] : [] });
  }

  /** Request a ranking whose state is not in the form yet. Return its address, or null if it could not be shown. */
  loadAheadOfForm(query, options) {
    return this.#load(query, { ...options, isAheadOfForm: true });
  }

  #updateUnlessAhead() {
    this.#timer = 0;
    return this.#requestAheadOfForm ? null : this.loadForm();
  }

  #stopTimer() {
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  /**
   * Request a ranking and show it.
   *
   * `editTime` is the time of the last edit that the query contains.
   */
  async #load(query, { addsToHistory = true, panels = [], editTime = this.#edits.time, isAheadOfForm = false } = {}) {
    this.#stopTimer();
    const request = this.#replaceRequest(isAheadOfForm);
    const retry = () => this.#load(query, { addsToHistory, panels, editTime, isAheadOfForm });

    const results = document.getElementById("results");
    results.setAttribute("aria-busy", "true");
    const dimming = setTimeout(() => results.classList.add("late"), DIM_AFTER_MS);

    let address = null;
    try {
      const response = await fetchRanking(query, panels, request.signal);
      if (!response.ok) return handleRefusal(response, query, retry);
      const ranking = await readRanking(response);
      if (request.signal.aborted) return null;

      showRanking(ranking, () => {
        this.#edits.confirm(editTime);
        this.#edits.reapply();
      });
      address = ranking.address;
      if (addsToHistory) pushAddress(address, { linksAreOutdated: ranking.patch !== null });
    } catch (error) {
      if (error.name !== "AbortError") showUnavailable(retry);
    } finally {
      clearTimeout(dimming);
      if (this.#requestAheadOfForm === request) this.#requestAheadOfForm = null;
    }

    // Edits that were made during a request ahead of the form had to wait for its answer.
    if (address && !this.#edits.isEmpty && !this.#timer) this.#updateUnlessAhead();
    return address;
  }

  /** Abort the current request, so that its answer never overwrites a newer one, and return the new request. */
  #replaceRequest(isAheadOfForm) {
    this.#request?.abort();
    this.#request = new AbortController();
    this.#requestAheadOfForm = isAheadOfForm ? this.#request : null;
    return this.#request;
  }
}

/** Offer to try again if the service is busy. Any other refusal, such as the end of the session, has its own page. */
function handleRefusal(response, query, retry) {
  if (response.status >= 500 || response.status === TOO_MANY_REQUESTS) showUnavailable(retry);
  else window.location.assign(`/app/?${query}`);
  return null;
}
