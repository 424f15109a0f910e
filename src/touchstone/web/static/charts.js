// Charts: drawn when they come into view or the browser has time, so that they are there for printing too, by the library that also draws them on the server.

let turn = Promise.resolve();
const figures = document.querySelectorAll("figure[data-spec]");
let library = null;

function load(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.type = "module";
    script.src = address;
    script.addEventListener("load", () => resolve(window.vegaEmbed));
    script.addEventListener("error", reject);
    document.head.append(script);
  });
  return library;
}

// Fetched once: a window that is resized draws its charts again without asking again.
const specs = new WeakMap();

async function described(figure) {
  if (!specs.has(figure)) specs.set(figure, await (await fetch(figure.dataset.spec)).json());
  return specs.get(figure);
}

async function draw(figure) {
  const drawing = figure.querySelector(".drawing");
  try {
    const [embed, chart] = await Promise.all([load(figure.dataset.vega), described(figure)]);
    // No expression is compiled to code and no style is written into the page: its policy forbids both.
    const plain = { ast: true, defaultStyle: false, actions: false, renderer: "canvas" };
    const options = { ...plain, tooltip: { disableDefaultStyle: true } };
    const spec = structuredClone(chart);
    const width = drawing.clientWidth;
    await embed(drawing, fitted(spec, width), options);
    const excess = (panels) => (drawn(drawing) - width) / panels;
    // Charts side by side have no width of their own: what is too much or too little goes to their panels.
    if (spec.hconcat && Math.abs(excess(1)) > 4) {
      for (const panel of spec.hconcat) panel.width = Math.max(60, panel.width - excess(spec.hconcat.length));
      await embed(drawing, spec, options);
    }
    figure.dataset.width = width;
  } catch {
    const image = new Image();
    image.src = figure.dataset.spec.replace(/json$/, "svg");
    image.alt = drawing.getAttribute("aria-label");
    drawing.replaceWith(image);
  }
}

function drawn(drawing) {
  return drawing.querySelector("canvas").getBoundingClientRect().width;
}

// The chart as wide as its card; where that is narrow, legends go below and labels leave room for the marks.
function fitted(spec, width) {
  if (spec.hconcat && width < 160 * spec.hconcat.length) {
    spec.vconcat = spec.hconcat;
    delete spec.hconcat;
  }
  for (const panel of spec.vconcat ?? []) panel.width = width - 170;
  if (!spec.hconcat && !spec.vconcat) Object.assign(spec, { width, autosize: { type: "fit-x", contains: "padding" } });
  if (width < 480) spec.config.legend = { ...spec.config.legend, orient: "bottom", columns: 2, direction: "horizontal" };
  shorten(spec, Math.round(width * 0.36));
  return spec;
}

function shorten(part, limit) {
  if (part === null || typeof part !== "object") return;
  if (part.labelLimit > limit) part.labelLimit = limit;
  for (const [key, value] of Object.entries(part)) if (key !== "values") shorten(value, limit);
}

// A card that gets another width gets another drawing.
let resized = 0;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(async () => {
    for (const figure of figures) {
      const width = figure.querySelector(".drawing")?.clientWidth;
      if (figure.dataset.width && Math.abs(width - figure.dataset.width) > 8) await draw(figure);
    }
  }, 200);
});

const watcher = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      once(entry.target);
    }
  },
  { rootMargin: "300px" },
);
for (const figure of figures) watcher.observe(figure);

function once(figure) {
  watcher.unobserve(figure);
  if (figure.dataset.begun) return null;
  figure.dataset.begun = "yes";
  // One request at a time: a page of many charts leaves the service room for others.
  turn = turn.then(() => draw(figure));
  return turn;
}

// One after the other, each when nothing else is to be done.
const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
async function rest() {
  const next = [...figures].find((figure) => !figure.dataset.begun);
  if (!next) return;
  await once(next);
  later(rest);
}
window.addEventListener("load", () => later(rest));
window.addEventListener("beforeprint", () => figures.forEach(once));
