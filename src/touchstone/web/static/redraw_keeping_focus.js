// Replaces parts of the page by newer ones, and keeps the focus, the scroll position and what the reader has opened.

import { setAttribute } from "./dom.js";

/** Run a function that changes the results, and keep the focus on the element with the same id. */
export function keepFocus(changeResults) {
  const results = document.getElementById("results");
  const focused = results.contains(document.activeElement) ? document.activeElement : null;
  const id = focused?.id;

  changeResults(results);

  const isLost = focused && (!focused.isConnected || focused.id !== id || focused.closest("[hidden]"));
  if (isLost) focusOrMain(document.getElementById(id));
}

/** Make an element equal to another one by writing only what differs, which is drawn sooner than new elements are. */
export function morph(element, target) {
  if (element.nodeName !== target.nodeName) {
    element.replaceWith(target);
  } else if (element.nodeType !== Node.ELEMENT_NODE) {
    if (element.data !== target.data) element.data = target.data;
  } else {
    morphAttributes(element, target);
    morphChildren(element, target);
  }
}

function morphAttributes(element, target) {
  for (const { name, value } of target.attributes) setAttribute(element, name, value);
  if (element.attributes.length > target.attributes.length) {
    for (const name of element.getAttributeNames()) {
      // What the reader has opened stays open.
      if (name !== "open" && !target.hasAttribute(name)) element.removeAttribute(name);
    }
  }
  if (element.type === "checkbox") element.checked = target.checked;
}

function morphChildren(element, target) {
  if (element.childNodes.length !== target.childNodes.length) {
    element.replaceChildren(...target.childNodes);
    return;
  }
  const targets = [...target.childNodes];
  [...element.childNodes].forEach((child, index) => morph(child, targets[index]));
}

/** Replace a side panel by the one with the same id in a fragment; do nothing if either is missing. */
export function replacePanel(fragment, id) {
  const panel = document.getElementById(id);
  const replacement = fragment.getElementById(id);
  if (!panel || !replacement) return;

  const focused = panel.contains(document.activeElement) ? document.activeElement : null;
  const openStates = [...panel.querySelectorAll("details[id]")].map((details) => [details.id, details.open]);
  if (panel.tagName === "DETAILS") replacement.open = panel.open;
  // Only the side panels scroll by themselves, and reading a scroll position costs a layout.
  const scroller = panel.closest(".filters, .weights");
  const scrollTop = scroller?.scrollTop;

  panel.replaceWith(replacement);

  for (const [detailsId, isOpen] of openStates) {
    const details = document.getElementById(detailsId);
    if (details) details.open = isOpen;
  }
  if (scroller) scroller.scrollTop = scrollTop;
  if (focused) restoreFocus(focused, replacement);
}

/** Focus the element of a new panel that corresponds to one in the old panel, with the same selection. */
function restoreFocus(oldElement, panel) {
  const element = oldElement.id ? document.getElementById(oldElement.id) : findCounterpart(oldElement, panel);
  focusOrMain(element);

  if (element?.setSelectionRange && oldElement.selectionStart !== null && oldElement.selectionStart !== undefined) {
    // A blank after a word that is still being typed is kept.
    if (oldElement.value.trim() === element.value) element.value = oldElement.value;
    element.setSelectionRange(oldElement.selectionStart, oldElement.selectionEnd);
  }
}

function findCounterpart({ name, value, href }, panel) {
  return [...panel.querySelectorAll("input, a, summary")].find(
    (element) => element.name === name && element.value === value && element.href === href,
  );
}

function focusOrMain(element) {
  (element ?? document.getElementById("main")).focus({ preventScroll: true });
}
