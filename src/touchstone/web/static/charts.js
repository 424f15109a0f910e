// Charts: drawn when they come into view or the browser has time, so that they are there for printing too, by the library that also draws them on the server.

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

async function draw(figure) {
  const drawing = figure.querySelector(".drawing");
  try {
    const [embed, answer] = await Promise.all([load(figure.dataset.vega), fetch(figure.dataset.spec)]);
    // No expression is compiled to code and no style is written into the page: its policy forbids both.
    const plain = { ast: true, defaultStyle: false, actions: false, renderer: "canvas" };
    await embed(drawing, await answer.json(), { ...plain, tooltip: { disableDefaultStyle: true } });
    // A chart that does not fit beside another gets the whole width; where even that would make it tiny, it scrolls.
    const width = drawing.querySelector("canvas").width / window.devicePixelRatio;
    figure.classList.toggle("broad", width > drawing.clientWidth);
    figure.classList.toggle("vast", width > 2 * drawing.clientWidth);
  } catch {
    const image = new Image();
    image.src = figure.dataset.spec.replace(/json$/, "svg");
    image.alt = drawing.getAttribute("aria-label");
    drawing.replaceWith(image);
  }
}

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
  return draw(figure);
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
