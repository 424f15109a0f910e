// Completes the words of the search field with names, domains and tasks of the catalog.

const PAUSE_MS = 150; // after the last key, before suggestions are requested
const MIN_LENGTH = 2;

let timer = 0;
let request = null;

/** Request suggestions for what the reader types into the search field. */
export function followSearchField() {
  document.addEventListener("input", ({ target, inputType }) => {
    // A suggestion that the reader has chosen is no typing, and needs no further suggestions.
    if (target.id !== "f-q" || !inputType) return;
    clearTimeout(timer);
    timer = setTimeout(() => suggest(target.value.trim()), PAUSE_MS);
  });
}

async function suggest(text) {
  request?.abort();
  if (text.length < MIN_LENGTH) return;

  request = new AbortController();
  try {
    const response = await fetch(`/app/suggestions?${new URLSearchParams({ q: text })}`, { signal: request.signal });
    if (response.ok) showSuggestions(await response.json());
  } catch (error) {
    // Without suggestions the search still works.
    if (error.name !== "AbortError") showSuggestions([]);
  }
}

function showSuggestions(suggestions) {
  const options = suggestions.map(({ text, label }) => {
    const option = document.createElement("option");
    option.value = text;
    option.label = label;
    return option;
  });
  document.getElementById("suggestions")?.replaceChildren(...options);
}
