// What follows from the sliders alone is shown while they move, before the server answers: each criterion's share of
// the score, the bar of all shares, and the widths of the heat map's columns. Texts are written as the server does.

import { setAttribute, setText } from "./dom.js";

const form = document.getElementById("rank-form");
const { lang } = document.documentElement;
const wholePercentage = { numberFormat: createNumberFormat(lang, 0), tiny: form.dataset.tinyWholePercentage };
const precisePercentage = { numberFormat: createNumberFormat(lang, 1), tiny: form.dataset.tinyPrecisePercentage };
const sliderPosition = createNumberFormat(lang, 0, 3);
const cssLength = createNumberFormat("en", 3);
const ROUNDING_ERROR = 1e-9;

function createNumberFormat(language, minimumFractionDigits, maximumFractionDigits = minimumFractionDigits) {
  // The server rounds halves to the even digit, too.
  const options = { minimumFractionDigits, maximumFractionDigits, roundingMode: "halfEven", useGrouping: false };
  return new Intl.NumberFormat(language, options);
}

/** Show the shares that follow from the positions of the sliders. */
export function showShares() {
  const sliders = [...document.querySelectorAll("#weights [type=range]")];
  const total = sliders.reduce((sum, slider) => sum + Number(slider.value), 0);
  const shares = new Map();
  const descriptions = [];
  let start = 0;

  for (const slider of sliders) {
    const name = slider.name.slice("w.".length);
    const share = total ? slider.value / total : 0;
    const percentage = formatPercentage(wholePercentage, share);
    const label = slider.labels[0].textContent.trim();

    describeSlider(slider, name, share, percentage);
    moveSegment(name, start, share, `${label} ${formatPercentage(precisePercentage, share)}`);
    if (share) descriptions.push(`${label} ${percentage}`);
    shares.set(name, share);
    start += share;
  }

  const notice = document.querySelector("#shares .notice");
  notice.hidden = total > 0;
  const description = total ? `${form.dataset.sharesLabel} ${descriptions.join(", ")}` : notice.textContent;
  setAttribute(document.querySelector("#shares .stack"), "aria-label", description);
  resizeColumns(shares);
}

function formatPercentage({ numberFormat, tiny }, share) {
  const number = numberFormat.format(100 * share);
  if (share && number === numberFormat.format(0)) return tiny;
  return form.dataset.percentPattern.replace("0", number);
}

function describeSlider(slider, name, share, percentage) {
  setText(document.getElementById(`share-${name}`), percentage);
  slider.closest(".slider").classList.toggle("off", !share);
  const description = form.dataset.shareSentence.replace("{share}", percentage);
  setAttribute(slider, "aria-valuetext", `${sliderPosition.format(slider.value)}, ${description}`);
}

function moveSegment(name, start, share, title) {
  const segment = document.getElementById(`part-${name}`);
  setAttribute(segment, "x", `${cssLength.format(100 * start)}%`);
  setAttribute(segment, "width", `${cssLength.format(100 * share)}%`);
  setText(segment.firstElementChild, title);
}

/** Widen and narrow the columns of the heat map; a criterion without a column gets one with the next ranking. */
function resizeColumns(shares) {
  const heatMap = document.querySelector(".heat");
  if (!heatMap) return;

  const columns = [...heatMap.querySelectorAll("col[data-criterion]")];
  const sum = columns.reduce((partialSum, column) => partialSum + shares.get(column.dataset.criterion), 0);
  // The columns always fill their part of the heat map. A sum that is 1 except for rounding leaves the shares as they are.
  const divisor = sum > 1 - ROUNDING_ERROR ? 1 : sum;

  for (const column of columns) {
    const share = shares.get(column.dataset.criterion);
    // Browsers ignore a width of 0 % and size the column by its content; they respect a width of 0 pixels.
    const width = share ? `${cssLength.format((heatMap.dataset.criteriaWidth * share) / divisor)}%` : "0";
    setAttribute(column, "width", width);
    const label = heatMap.querySelector(`small[data-criterion=${column.dataset.criterion}]`);
    if (label) setText(label, formatPercentage(wholePercentage, share));
  }
}
