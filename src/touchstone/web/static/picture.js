// Writes the figures of a new picture into the one that stands, when it has the same shape (web/views/figures.py).

import { say, write } from "./shares.js";

export function fill({ view, announcement, rows: figures }) {
  const results = document.getElementById("results");
  results.removeAttribute("aria-busy");
  results.classList.remove("late");
  write(results, "data-announcement", announcement);
  for (const id of ["away", "pins-full"]) document.getElementById(id).hidden = true;
  results.querySelector("[name=was]").value = figures.map(({ id }) => id).join(".");
  const rows = results.querySelectorAll("[data-id]");
  figures.forEach((row, place) => fillRow(rows[place], row, CELLS[view]));
}

const CELLS = { heat: fillHeat, bars: fillBars, table: fillFacts };

function fillRow(row, { id, rank, name, pinLabel, keepLabel, pinned, change, score, cells }, fillCells) {
  const [box, number, sign] = row.querySelector(".place").children;
  const link = row.querySelector("[id^=name-]");
  const keep = row.querySelector(".keep");
  if (row.dataset.id !== String(id)) {
    row.dataset.id = id;
    box.value = id;
    box.id = `pin-${id}`;
    link.id = `name-${id}`;
    keep.id = `keep-${id}`;
  }
  // A dataset may have been renamed.
  write(box, "aria-label", pinLabel);
  write(keep, "aria-label", keepLabel);
  say(link, name);
  row.classList.toggle("pinned", pinned);
  box.checked = pinned;
  say(number, rank);
  sign.className = change.kind ? `moved ${change.kind}` : "moved";
  sign.role = change.said ? "img" : null;
  sign.ariaLabel = change.said || null;
  say(sign, change.text);
  say(row.querySelector(".score"), score);
  fillCells(row, cells, score);
}

function fillHeat(row, cells) {
  const places = row.querySelectorAll(".cell");
  cells.forEach(([look, unknown, text, title], at) => {
    places[at].className = look;
    places[at].title = title;
    show(places[at], text, unknown && title);
  });
}

function fillBars(row, cells, score) {
  const bars = row.querySelectorAll(".bar rect");
  const figures = row.querySelectorAll(".figure");
  cells.forEach(([x, width, unknown, text], at) => {
    write(bars[at], "x", x);
    write(bars[at], "width", width);
    figures[at].className = unknown ? "figure state unknown" : "figure";
    say(figures[at], text);
  });
  say(row.querySelector(".sum b"), score);
}

function fillFacts(row, [objective, ...facts]) {
  const places = row.querySelectorAll(".fact");
  say(row.querySelector("small"), objective);
  facts.forEach(([text, unknown], at) => {
    places[at].className = unknown ? "fact num hatched" : "fact num";
    places[at].title = unknown;
    show(places[at], text, unknown);
  });
}

// What is unknown is a sign with a name.
function show(cell, text, unknown) {
  if (!unknown) return say(cell, text);
  if (cell.firstElementChild) return;
  const sign = document.createElement("span");
  sign.role = "img";
  sign.ariaLabel = unknown;
  sign.textContent = text;
  cell.replaceChildren(sign);
}

// Where the links of the picture lead, with the weights of its address.
export function readdress(address) {
  const { search, searchParams } = new URL(address, window.location);
  const mine = [...searchParams].filter(isWeight);
  for (const link of document.querySelectorAll("#results a[href]")) {
    const row = link.closest("[data-id]");
    if (link.className === "keep") link.href = `/app/projects/new${search || "?"}${search && "&"}choose=${row.dataset.id}`;
    else if (row) link.href = `/app/datasets/${row.dataset.id}${search}`;
    else link.search = new URLSearchParams([...mine, ...[...new URL(link).searchParams].filter((one) => !isWeight(one))]);
  }
}

function isWeight([name]) {
  return name === "profile" || name.startsWith("w.");
}
