// Draws one chart with Vega-Lite, the library that also draws it on the server.

const NARROW_WIDTH = 480; // narrower charts have their legends below
const VERY_NARROW_WIDTH = 400; // and in these, each entry of a legend has a line of its own
const MIN_PANEL_WIDTH = 90; // with less room, the numbers of an axis overlap
const PANEL_LABELS_WIDTH = 170; // of panels below one another
const STACKING_WIDTH = 160; // panels with less room than this each are stacked
const TITLE_CHARACTER_WIDTH = 8.5; // on average
const LABEL_SHARE = 0.36; // of the width, at most
const WIDTH_TOLERANCE = 4;
const MAX_CORRECTIONS = 5;

// No expression is compiled to code and no style is added to the page, because its security policy forbids both.
const EMBED_OPTIONS = {
  ast: true,
  defaultStyle: false,
  actions: false,
  renderer: "canvas",
  tooltip: { disableDefaultStyle: true },
};

export class ChartDrawer {
  #library = null;
  #specs = new WeakMap(); // by figure: a resized window draws its charts again without requesting them

  /** Draw the chart of a figure as wide as its card, or show the server's drawing if that fails. */
  async draw(figure) {
    const drawing = figure.querySelector(".drawing");
    try {
      const [embed, spec] = await Promise.all([this.#loadLibrary(figure.dataset.vega), this.#loadSpec(figure)]);
      const width = drawing.clientWidth;
      await embedSpec(embed, drawing, fitSpec(structuredClone(spec), width), width);
      figure.dataset.width = width;
    } catch {
      showServerDrawing(figure, drawing);
    }
  }

  #loadLibrary(address) {
    this.#library ??= loadScript(address);
    return this.#library;
  }

  async #loadSpec(figure) {
    if (!this.#specs.has(figure)) {
      const response = await fetch(figure.dataset.spec);
      this.#specs.set(figure, await response.json());
    }
    return this.#specs.get(figure);
  }
}

/** Draw a specification, and again with other panels as long as it is too wide or too narrow. */
async function embedSpec(embed, drawing, spec, width) {
  await embed(drawing, spec, EMBED_OPTIONS);

  // Other panels have other numbers on their axes, so that one correction may not be enough.
  for (let correction = 0; correction < MAX_CORRECTIONS; correction += 1) {
    const excess = canvasWidth(drawing) - width;
    const hasPanels = spec.hconcat || spec.vconcat;
    if (!hasPanels || Math.abs(excess) <= WIDTH_TOLERANCE) return;

    // The labels of long names leave too little room for panels side by side.
    const isTooWideAgain = correction > 0 && excess > 0;
    if (spec.hconcat && isTooWideAgain) stackPanels(spec, width);
    else correctPanels(spec, excess);
    await embed(drawing, spec, EMBED_OPTIONS);
  }
}

/** Distribute an excess of width among panels side by side; each of those below one another takes all of it. */
function correctPanels(spec, excess) {
  const panels = spec.hconcat ?? spec.vconcat;
  const excessOfPanel = spec.hconcat ? excess / panels.length : excess;
  for (const panel of panels) panel.width = Math.max(MIN_PANEL_WIDTH, panel.width - excessOfPanel);
}

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.type = "module";
    script.src = address;
    script.addEventListener("load", () => resolve(window.vegaEmbed));
    script.addEventListener("error", reject);
    document.head.append(script);
  });
}

function canvasWidth(drawing) {
  return drawing.querySelector("canvas").getBoundingClientRect().width;
}

/** Change a specification so that it fits a width; in a narrow card legends go below and labels leave room. */
function fitSpec(spec, width) {
  if (spec.hconcat && width < STACKING_WIDTH * spec.hconcat.length) {
    stackPanels(spec, width);
  } else if (!spec.hconcat) {
    spec.width = width;
    spec.autosize = { type: "fit-x", contains: "padding" };
  }
  if (width < NARROW_WIDTH) {
    const columns = width < VERY_NARROW_WIDTH ? 1 : 2;
    spec.config.legend = { ...spec.config.legend, orient: "bottom", columns, direction: "horizontal" };
  }
  limitLabels(spec, Math.round(width * LABEL_SHARE));
  spec.title = { text: wrapText(spec.title, width / TITLE_CHARACTER_WIDTH), limit: width - 2 * spec.padding };
  return spec;
}

/** Put panels that are side by side below one another. */
function stackPanels(spec, width) {
  spec.vconcat = spec.hconcat;
  delete spec.hconcat;
  for (const panel of spec.vconcat) panel.width = width - PANEL_LABELS_WIDTH;
}

/** Shorten the labels everywhere in a specification; its data are left alone. */
function limitLabels(part, limit) {
  if (part === null || typeof part !== "object") return;
  if (part.labelLimit > limit) part.labelLimit = limit;
  for (const [key, value] of Object.entries(part)) {
    if (key !== "values") limitLabels(value, limit);
  }
}

/** Divide a text into lines of at most so many characters, unless a single word is longer. */
function wrapText(text, maxLength) {
  const lines = [];
  for (const word of text.split(" ")) {
    const line = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && line.length <= maxLength) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}

function showServerDrawing(figure, drawing) {
  const image = new Image();
  image.src = figure.dataset.spec.replace(/json$/, "svg");
  image.alt = drawing.getAttribute("aria-label");
  drawing.replaceWith(image);
}
