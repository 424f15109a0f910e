// Lets each dataset glide to its new place, so that readers see what has changed.

const DURATION_MS = 220;

/** Return the ids of the datasets in the ranking that is shown, in their order. */
export function rankedIds() {
  return findRows().map((row) => row.dataset.id);
}

/** Let the rows glide from their previous places, given the ids in their previous order. */
export function animateRows(previousIds) {
  if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return;

  findRows().forEach((row, place) => {
    const previousPlace = previousIds.indexOf(row.dataset.id);
    if (previousPlace < 0 || previousPlace === place) return;
    // The distance is in rows, not in pixels: measuring would cost a layout before the ranking is drawn.
    const start = `translateY(${100 * (previousPlace - place)}%)`;
    row.animate([{ transform: start }, { transform: "none" }], { duration: DURATION_MS, easing: "ease-out" });
  });
}

function findRows() {
  return [...document.querySelectorAll("#results [data-id]")];
}
