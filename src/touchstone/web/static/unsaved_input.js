// Asks before the reader leaves a page on which something was entered that has not been saved, for example with the
// switches of language and theme, which load the page again.

const changedForms = new Set();
// Whether the server has shown a form again without saving it. Any form of the page may be that one.
let isShownAgain = false;
let sentForm = null;

/** Ask before leaving while input would be lost. The browser words the question. */
export function askBeforeLosingInput() {
  if (document.querySelector("main[data-unsaved]")) {
    isShownAgain = true;
    startAsking();
  }

  document.addEventListener("input", ({ target }) => {
    sentForm = null;
    if (!holdsInput(target.form)) return;
    changedForms.add(target.form);
    startAsking();
  });
  document.addEventListener("submit", (event) => {
    sentForm = event.defaultPrevented ? null : event.target;
  });
  document.addEventListener("click", ({ target }) => {
    if (target.closest("a[data-discard]")) stopAsking();
  });
}

/** Return whether a form holds input to save. Browsers fill in passwords by themselves, so those do not count. */
function holdsInput(form) {
  return Boolean(form?.matches("main form[method=post]") && !form.querySelector("[type=password]"));
}

function startAsking() {
  window.addEventListener("beforeunload", ask);
}

function stopAsking() {
  changedForms.clear();
  isShownAgain = false;
  // Browsers can keep a page without this listener in memory, and show it again at once.
  window.removeEventListener("beforeunload", ask);
}

function ask(event) {
  const losesOtherForms = [...changedForms].some((form) => form !== sentForm);
  const losesShownForm = isShownAgain && !holdsInput(sentForm);
  if (losesOtherForms || losesShownForm) {
    event.preventDefault();
    // If the reader stays, the form can be sent again.
    sentForm?.removeAttribute("data-sent");
  }
  sentForm = null;
}
