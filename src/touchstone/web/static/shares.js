// What follows from the sliders alone is shown as they move, before any answer: each criterion's share of the score,
// the bar of all shares, and how wide the columns of the heat map are. Everything is written as the server writes it.

const form = document.getElementById("rank-form");
const { lang } = document.documentElement;
const [whole, tenths, length] = [writer(lang, 0), writer(lang, 1), writer("en", 3)];
const position = writer(lang, 0, 3);

// Halves go to the even neighbour.
function writer(language, least, most = least) {
  const digits = { minimumFractionDigits: least, maximumFractionDigits: most };
  return new Intl.NumberFormat(language, { ...digits, roundingMode: "halfEven", useGrouping: false });
}

export function share() {
  const sliders = [...document.querySelectorAll("#weights [type=range]")];
  const total = sliders.reduce((sum, slider) => sum + Number(slider.value), 0);
  const shares = new Map();
  const said = [];
  let start = 0;
  for (const slider of sliders) {
    const name = slider.name.slice("w.".length);
    const share = total ? slider.value / total : 0;
    const percent = percentage(whole, share);
    const label = beside(slider, name, percent, !share);
    const part = document.getElementById(`part-${name}`);
    write(part, "x", `${length.format(100 * start)}%`);
    write(part, "width", `${length.format(100 * share)}%`);
    say(part.firstElementChild, `${label} ${percentage(tenths, share)}`);
    if (share) said.push(`${label} ${percent}`);
    shares.set(name, share);
    start += share;
  }
  const none = document.querySelector("#shares .notice");
  none.hidden = total > 0;
  const sum = total ? `${form.dataset.shares} ${said.join(", ")}` : none.textContent;
  write(document.querySelector("#shares .stack"), "aria-label", sum);
  widen(shares);
}

function percentage(digits, share) {
  return form.dataset.percent.replace("0", digits.format(100 * share));
}

function beside(slider, name, percent, off) {
  say(document.getElementById(`share-${name}`), percent);
  slider.closest(".slider").classList.toggle("off", off);
  write(slider, "aria-valuetext", `${position.format(slider.value)}, ${form.dataset.said.replace("{share}", percent)}`);
  return slider.labels[0].textContent.trim();
}

// The columns that stand share the room; one for a criterion that weighed nothing comes with the answer.
function widen(shares) {
  const heat = document.querySelector(".heat");
  const cols = [...(heat?.querySelectorAll("col[data-of]") ?? [])];
  const sum = cols.reduce((sum, col) => sum + shares.get(col.dataset.of), 0);
  for (const col of cols) {
    const share = shares.get(col.dataset.of);
    // A width of 0 % would be none at all, and so a share like any other's.
    write(col, "width", share ? `${length.format((heat.dataset.breadth * share) / (sum > 1 - 1e-9 ? 1 : sum))}%` : "0");
    const small = heat.querySelector(`small[data-of=${col.dataset.of}]`);
    if (small) say(small, percentage(whole, share));
  }
}

// Writing what stands there already would have it drawn again.
export function write(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

export function say(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}
