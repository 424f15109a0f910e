// Every page: forms that ask before they destroy, that are sent once, and that know how large a file may be.

import { keep, lead } from "./last_ranking.js";

document.addEventListener("submit", (event) => {
  const form = event.target;
  const question = (event.submitter ?? form).dataset.confirm ?? form.dataset.confirm;
  if (question && !window.confirm(question)) {
    event.preventDefault();
    return;
  }
  if (form.method === "post" && form.dataset.sent) event.preventDefault();
  if (form.method === "post") form.dataset.sent = "yes";
});

// A file that will be refused is not sent first.
document.addEventListener("change", ({ target }) => {
  if (!target.dataset.limit) return;
  const isTooBig = [...target.files].some((file) => file.size > Number(target.dataset.limit));
  target.setCustomValidity(isTooBig ? target.dataset.tooBig : "");
  target.reportValidity();
});

// A page that comes back from the browser's memory may be used again.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The navigation leads back to the ranking as it was left.
if (document.getElementById("rank-form")) keep(window.location.pathname + window.location.search);
else lead();

// Menus close like menus.
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

// What was written before the session ended comes back without another step.
document.querySelector("form[data-send-now]")?.requestSubmit();
