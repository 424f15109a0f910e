// A job at work: follows its events, moves the bar, and shows the whole page again once it is done.

const panel = document.getElementById("progress");
const bar = document.getElementById("bar");
const LOOK = 1500; // milliseconds between looks at the page

// The charts' library waits in the browser's memory by the time that there are charts.
fetch(panel.dataset.vega).catch(() => null);

function done() {
  window.location.reload();
}

function take(event) {
  let told;
  try {
    told = JSON.parse(event.data);
  } catch {
    return;
  }
  const progress = told.progress ?? told;
  if (typeof progress.percent === "number") bar.value = Math.max(bar.value, progress.percent);
  if (told.done || ["succeeded", "failed", "cancelled"].includes(told.status)) done();
}

const source = new EventSource(panel.dataset.events);
for (const name of ["message", "progress", "state", "status", "queued", "running", "cancelling"]) {
  source.addEventListener(name, take);
}
for (const name of ["succeeded", "failed", "cancelled", "done", "end"]) source.addEventListener(name, done);

// The words come from the server, in the reader's language; a lost event stream is made up for here too.
setInterval(async () => {
  const answer = await fetch(window.location.href).catch(() => null);
  if (!answer?.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("progress");
  if (!fresh) return done();
  document.getElementById("phase").textContent = page.getElementById("phase").textContent;
  bar.value = Math.max(bar.value, page.getElementById("bar").value);
}, LOOK);
