// Updates the ranking that is shown from a patch: the contents of its rows as JSON (web/views/ranking_patch.py).

import { setAttribute, setText } from "./dom.js";

const PATCH_CELLS = { heat: patchHeatMapRow, bars: patchBar, table: patchTableRow };

/** Turn the ranking that is shown into the one of the patch, which must have as many rows and columns. */
export function applyPatch({ view, announcement, lowered, notes, robustness, rows }) {
  const results = document.getElementById("results");
  results.removeAttribute("aria-busy");
  results.classList.remove("late");
  setAttribute(results, "data-announcement", announcement);
  for (const noticeId of ["away", "pins-full"]) document.getElementById(noticeId).hidden = true;
  document.getElementById("lowered").hidden = !lowered;
  setText(document.getElementById("lowered-text"), lowered);
  setText(document.getElementById("robustness-summary"), robustness);
  showNotes(notes);
  results.querySelector("[name=previous_ids]").value = rows.map(({ id }) => id).join(".");

  const rowElements = results.querySelectorAll("[data-id]");
  rows.forEach((row, index) => {
    patchRow(rowElements[index], row);
    PATCH_CELLS[view](rowElements[index], row);
  });
}

/** Write the notes above the ranking, or hide their list if there are none. */
function showNotes(notes) {
  const list = document.getElementById("notes");
  list.hidden = !notes.length;
  const items = notes.map((note) => Object.assign(document.createElement("li"), { textContent: note }));
  list.replaceChildren(...items);
}

/** Update what a row has in every view: its dataset, place, change of rank and score. */
function patchRow(rowElement, { id, name, pinLabel, keepLabel, pinned, change, ...texts }) {
  const [pinBox, placeElement, tieElement, changeElement] = rowElement.querySelector(".place").children;
  const limitElement = rowElement.querySelector(".limit");
  const nameLink = rowElement.querySelector("[id^=name-]");
  const keepLink = rowElement.querySelector(".keep");

  if (rowElement.dataset.id !== String(id)) {
    rowElement.dataset.id = id;
    pinBox.value = id;
    pinBox.id = `pin-${id}`;
    nameLink.id = `name-${id}`;
    keepLink.id = `keep-${id}`;
  }

  // Even the same dataset may have a new name.
  setAttribute(pinBox, "aria-label", pinLabel);
  setAttribute(keepLink, "aria-label", keepLabel);
  setText(nameLink, name);

  rowElement.classList.toggle("pinned", pinned);
  pinBox.checked = pinned;
  setText(placeElement, texts.place);
  placeElement.title = texts.reason;
  setText(tieElement, texts.tie);
  setText(rowElement.querySelector(".score"), texts.score);
  setText(limitElement, texts.limit);
  limitElement.title = texts.limitTitle;
  setText(rowElement.querySelector(".known"), texts.evidence);
  setText(rowElement.querySelector(".declarer"), texts.declarer);

  if (texts.robustness) {
    const robustnessElement = rowElement.querySelector(".robustness");
    robustnessElement.className = `robustness state ${texts.robustness.state}`;
    robustnessElement.title = texts.robustness.sentence;
    setText(robustnessElement, texts.robustness.text);
  }

  const gateElements = rowElement.querySelectorAll(".gate");
  texts.gates.forEach(([state, outcome], index) => {
    gateElements[index].className = `gate state ${state}`;
    setText(gateElements[index].lastElementChild, `(${outcome})`);
  });

  changeElement.className = change.kind ? `moved ${change.kind}` : "moved";
  changeElement.role = change.label ? "img" : null;
  changeElement.ariaLabel = change.label || null;
  setText(changeElement, change.text);
}

function patchHeatMapRow(rowElement, { cells }) {
  const cellElements = rowElement.querySelectorAll(".cell");
  cells.forEach(([cssClasses, isUnknown, text, title], index) => {
    const cellElement = cellElements[index];
    cellElement.className = cssClasses;
    cellElement.title = title;
    patchCell(cellElement, text, isUnknown && title);
  });
}

function patchBar(rowElement, { cells: [[openX, openWidth], ...cells], score }) {
  const [openSegment, ...segments] = rowElement.querySelectorAll(".bar rect");
  setAttribute(openSegment, "x", openX);
  setAttribute(openSegment, "width", openWidth);

  const pointsElements = rowElement.querySelectorAll(".figure");
  cells.forEach(([x, width, isUnknown, pointsText], index) => {
    setAttribute(segments[index], "x", x);
    setAttribute(segments[index], "width", width);
    pointsElements[index].className = isUnknown ? "figure state unknown" : "figure";
    setText(pointsElements[index], pointsText);
  });
  setText(rowElement.querySelector(".sum b"), score);
}

function patchTableRow(rowElement, { cells: [objective, ...facts] }) {
  const factElements = rowElement.querySelectorAll(".fact");
  setText(rowElement.querySelector(".objective"), objective);
  facts.forEach(([text, limit, unknownLabel], index) => patchFact(factElements[index], text, limit, unknownLabel));
}

/** Write a number of the table: its text with the highest possible value after it, or the sign of an unknown value. */
function patchFact(factElement, text, limit, unknownLabel) {
  factElement.className = unknownLabel ? "fact num hatched" : "fact num";
  factElement.title = unknownLabel;
  if (unknownLabel) {
    patchCell(factElement, text, unknownLabel);
    return;
  }

  const limitElement = document.createElement("small");
  limitElement.className = "limit";
  limitElement.textContent = limit;
  factElement.replaceChildren(text, limitElement);
}

/** Write the text of a cell. An unknown value is a sign with a label for screen readers. */
function patchCell(cellElement, text, unknownLabel) {
  if (!unknownLabel) {
    setText(cellElement, text);
    return;
  }
  if (cellElement.querySelector("[role=img]")) return; // the cell shows the sign already

  const sign = document.createElement("span");
  sign.role = "img";
  sign.ariaLabel = unknownLabel;
  sign.textContent = text;
  cellElement.replaceChildren(sign);
}

/** Let the links of the ranking lead to pages with the weights in the ranking's address. */
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
      const otherParameters = [...new URL(link).searchParams].filter((parameter) => !isWeight(parameter));
      link.search = new URLSearchParams([...weights, ...otherParameters]);
    }
  }
}

function isWeight([name]) {
  return name === "profile" || name.startsWith("w.");
}
