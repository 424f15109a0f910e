// What follows from the sliders alone is shown as they move, before any answer: each criterion's share of the score,
// the bar of all shares, and how wide the columns of the heat map are. Everything is written as the server writes it.

const form = document.getElementById("rank-form");
const number = (language, digits) =>
  new Intl.NumberFormat(language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    roundingMode: "halfEven",
    useGrouping: false,
  });
const { lang } = document.documentElement;
const [whole, tenths, length] = [number(lang, 0), number(lang, 1), number("en", 3)];

export function share() {
  const weights = document.getElementById("weights");
  const sliders = [...weights.querySelectorAll("[type=range]")];
  const total = sliders.reduce((sum, slider) => sum + Number(slider.value), 0);
  const heat = document.querySelector(".heat");
  const said = [];
  let start = 0;
  for (const slider of sliders) {
    const name = slider.name.slice("w.".length);
    const part = total ? slider.value / total : 0;
    const percent = form.dataset.percent.replace("0", whole.format(100 * part));
    const label = beside(slider, percent, !part);
    stretch(document.getElementById(`part-${name}`), start, part, label);
    if (heat) column(heat, name, part, percent);
    if (part) said.push(`${label} ${percent}`);
    start += part;
  }
  write(document.querySelector("#shares .stack"), "aria-label", `${form.dataset.shares} ${said.join(", ")}`);
  document.querySelector("#shares .notice").hidden = total > 0;
}

function beside(slider, percent, off) {
  const [label] = slider.labels;
  say(document.getElementById(`share-${slider.name.slice("w.".length)}`), percent);
  slider.closest(".slider").classList.toggle("off", off);
  write(slider, "aria-valuetext", `${Number(slider.value)}, ${form.dataset.said.replace("{share}", percent)}`);
  return label.textContent.trim();
}

function stretch(part, start, share, label) {
  write(part, "x", `${length.format(100 * start)}%`);
  write(part, "width", `${length.format(100 * share)}%`);
  say(part.firstElementChild, `${label} ${form.dataset.percent.replace("0", tenths.format(100 * share))}`);
}

function column(heat, name, share, percent) {
  const col = heat.querySelector(`col[data-of=${name}]`);
  if (!col) return;
  write(col, "width", `${length.format(heat.dataset.breadth * share)}%`);
  const small = heat.querySelector(`small[data-of=${name}]`);
  if (small) say(small, percent);
}

// Writing what stands there already would have it drawn again.
export function write(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

export function say(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}
