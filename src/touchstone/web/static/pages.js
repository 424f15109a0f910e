// Behaviour of all pages: forms, menus, and the links back to the ranking.

import { rememberRanking, restoreRankingLinks } from "./last_ranking.js";
import { askBeforeLosingInput } from "./unsaved_input.js";

// Ask before a form destroys something, and send every form only once. Only attributes tell about a form, because a
// field may have the name of any property: `form.method` is a field if there is one called `method`.
document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = event.submitter?.dataset.confirm ?? form.getAttribute("data-confirm");
  if (question && !window.confirm(question)) {
    event.preventDefault();
    return;
  }
  if (form.getAttribute("method") === "post") {
    if (form.hasAttribute("data-sent")) event.preventDefault();
    form.setAttribute("data-sent", "");
  }
});

// Refuse a file that is too large before it is uploaded.
document.addEventListener("change", ({ target }) => {
  if (!target.dataset.limit) return;
  const isTooLarge = [...target.files].some((file) => file.size > Number(target.dataset.limit));
  target.setCustomValidity(isTooLarge ? target.dataset.tooBig : "");
  target.reportValidity();
});

// A page that the browser restores from its memory may send its forms again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) form.removeAttribute("data-sent");
});

// Close open menus with Escape, and with a click elsewhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

askBeforeLosingInput();

// Focus the first invalid field of a rejected form, whose description is its message, or else the sentence that says what
// is wrong: without this, keyboards would begin at the top of the page, and screen readers might not mention the problem.
function focusProblem() {
  const invalidFields = [...document.querySelectorAll("main [aria-invalid='true']")];
  const place = invalidFields.find((field) => field.checkVisibility())
    ?? document.querySelector("main .notice.bad[role='alert']:not([hidden])");
  if (!place) return;
  if (!place.matches("input, select, textarea")) place.tabIndex = -1;
  place.focus();
}

// The answer to a form, such as the form with an error, gets the address of its page in the history. Otherwise the
// browser could only go back to it by sending the form again, and would show an error page of its own.
if (document.body.hasAttribute("data-answer")) {
  window.history.replaceState(null, "", document.getElementById("here").value + window.location.hash);
  focusProblem();
}

if (document.getElementById("rank-form")) rememberRanking(window.location.pathname + window.location.search);
else restoreRankingLinks();

// A form that was interrupted by the end of the session returns to its page by itself.
document.querySelector("form[data-send-now]")?.requestSubmit();
