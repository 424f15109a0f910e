// Draws the charts of a page, one after the other: first those that come into view, then the others when the browser is
// idle, so that they can be printed too.

import { ChartDrawer } from "./chart_drawing.js";

const RESIZE_PAUSE_MS = 200;
const IDLE_PAUSE_MS = 200; // for browsers without requestIdleCallback
const VIEW_MARGIN = "300px";
const WIDTH_TOLERANCE = 8; // pixels by which a chart may differ from its card

class ChartQueue {
  #figures;
  #drawer = new ChartDrawer();
  #drawing = Promise.resolve();
  #resizeTimer = 0;
  #observer = new IntersectionObserver((entries) => this.#drawVisible(entries), { rootMargin: VIEW_MARGIN });

  constructor(figures) {
    this.#figures = figures;
    for (const figure of figures) this.#observer.observe(figure);
  }

  /** Draw the remaining charts whenever the browser is idle. */
  drawWhenIdle() {
    whenIdle(async () => {
      const next = this.#figures.find((figure) => !figure.dataset.begun);
      if (!next) return;
      await this.#enqueue(next);
      this.drawWhenIdle();
    });
  }

  /** Draw all charts now. */
  drawAll() {
    for (const figure of this.#figures) this.#enqueue(figure);
  }

  /** Draw the charts again whose cards have got another width. */
  handleResize() {
    clearTimeout(this.#resizeTimer);
    this.#resizeTimer = setTimeout(async () => {
      for (const figure of this.#figures.filter(hasOtherWidth)) await this.#drawer.draw(figure);
    }, RESIZE_PAUSE_MS);
  }

  #drawVisible(entries) {
    for (const { isIntersecting, target } of entries) if (isIntersecting) this.#enqueue(target);
  }

  /** Draw a chart after those before it: requesting one at a time leaves the service room for other readers. */
  #enqueue(figure) {
    this.#observer.unobserve(figure);
    if (figure.dataset.begun) return null;
    figure.dataset.begun = "yes";
    this.#drawing = this.#drawing.then(() => this.#drawer.draw(figure));
    return this.#drawing;
  }
}

function hasOtherWidth(figure) {
  const width = figure.querySelector(".drawing")?.clientWidth;
  return figure.dataset.width && Math.abs(width - figure.dataset.width) > WIDTH_TOLERANCE;
}

function whenIdle(work) {
  if (window.requestIdleCallback) window.requestIdleCallback(work);
  else setTimeout(work, IDLE_PAUSE_MS);
}

const queue = new ChartQueue([...document.querySelectorAll("figure[data-spec]")]);
window.addEventListener("load", () => queue.drawWhenIdle());
window.addEventListener("resize", () => queue.handleResize());
window.addEventListener("beforeprint", () => queue.drawAll());
