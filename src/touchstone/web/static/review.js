// The keys of the review page. They work while the proposal has the focus, so they never interfere with typing or
// with the keys of a screen reader; Escape leads back from the note to the proposal. A key that is held down counts once,
// because its repetitions would decide about the next proposals, which nobody has read.

const proposal = document.getElementById("proposal");

proposal.focus({ preventScroll: true });

proposal.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    proposal.focus();
    return;
  }
  if (event.repeat || event.target !== proposal || event.ctrlKey || event.altKey || event.metaKey) return;

  const control = proposal.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key.toLowerCase())}"]`);
  if (!control) return;
  event.preventDefault();
  if (control.matches("textarea")) control.focus();
  else control.click();
});
