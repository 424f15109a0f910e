// Writes the figures of a new ranking into the one that is shown, if it has the same shape (web/views/live_figures.py).

import { setAttribute, setText } from "./dom.js";

const FILL_CELLS = { heat: fillHeatMap, bars: fillBars, table: fillTable };

/** Write the figures of a new ranking into the one that is shown. */
export function fillRanking({ view, announcement, rows }) {
  const results = document.getElementById("results");
  results.removeAttribute("aria-busy");
  results.classList.remove("late");
  setAttribute(results, "data-announcement", announcement);
  for (const id of ["away", "pins-full"]) document.getElementById(id).hidden = true;
  results.querySelector("[name=was]").value = rows.map(({ id }) => id).join(".");

  const elements = results.querySelectorAll("[data-id]");
  rows.forEach((row, index) => {
    fillRow(elements[index], row);
    FILL_CELLS[view](elements[index], row);
  });
}

function fillRow(element, { id, rank, name, pinLabel, keepLabel, pinned, change, score }) {
  const [pin, number, sign] = element.querySelector(".place").children;
  const link = element.querySelector("[id^=name-]");
  const keep = element.querySelector(".keep");
  if (element.dataset.id !== String(id)) {
    element.dataset.id = id;
    pin.value = id;
    pin.id = `pin-${id}`;
    link.id = `name-${id}`;
    keep.id = `keep-${id}`;
  }

  // Even the same dataset may have a new name.
  setAttribute(pin, "aria-label", pinLabel);
  setAttribute(keep, "aria-label", keepLabel);
  setText(link, name);

  element.classList.toggle("pinned", pinned);
  pin.checked = pinned;
  setText(number, rank);
  setText(element.querySelector(".score"), score);

  sign.className = change.kind ? `moved ${change.kind}` : "moved";
  sign.role = change.said ? "img" : null;
  sign.ariaLabel = change.said || null;
  setText(sign, change.text);
}

function fillHeatMap(element, { cells }) {
  const elements = element.querySelectorAll(".cell");
  cells.forEach(([classes, isUnknown, text, title], index) => {
    elements[index].className = classes;
    elements[index].title = title;
    fillCell(elements[index], text, isUnknown && title);
  });
}

function fillBars(element, { cells, score }) {
  const segments = element.querySelectorAll(".bar rect");
  const figures = element.querySelectorAll(".figure");
  cells.forEach(([x, width, isUnknown, text], index) => {
    setAttribute(segments[index], "x", x);
    setAttribute(segments[index], "width", width);
    figures[index].className = isUnknown ? "figure state unknown" : "figure";
    setText(figures[index], text);
  });
  setText(element.querySelector(".sum b"), score);
}

function fillTable(element, { cells: [objective, ...facts] }) {
  const elements = element.querySelectorAll(".fact");
  setText(element.querySelector("small"), objective);
  facts.forEach(([text, unknownLabel], index) => {
    elements[index].className = unknownLabel ? "fact num hatched" : "fact num";
    elements[index].title = unknownLabel;
    fillCell(elements[index], text, unknownLabel);
  });
}

/** Write a cell; an unknown value is a sign with a label for screen readers. */
function fillCell(cell, text, unknownLabel) {
  if (!unknownLabel) {
    setText(cell, text);
    return;
  }
  if (cell.firstElementChild) return;

  const sign = document.createElement("span");
  sign.role = "img";
  sign.ariaLabel = unknownLabel;
  sign.textContent = text;
  cell.replaceChildren(sign);
}

/** Let the links of the ranking lead to pages with the weights of the ranking's address. */
export function updateLinks(address) {
  const { search, searchParams } = new URL(address, window.location);
  const weights = [...searchParams].filter(isWeight);

  for (const link of document.querySelectorAll("#results a[href]")) {
    const row = link.closest("[data-id]");
    if (link.className === "keep") {
      link.href = `/app/projects/new${search ? `${search}&` : "?"}choose=${row.dataset.id}`;
    } else if (row) {
      link.href = `/app/datasets/${row.dataset.id}${search}`;
    } else {
      const others = [...new URL(link).searchParams].filter((pair) => !isWeight(pair));
      link.search = new URLSearchParams([...weights, ...others]);
    }
  }
}

function isWeight([name]) {
  return name === "profile" || name.startsWith("w.");
}
