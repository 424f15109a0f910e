// Small changes to the document that write only what differs, because every write makes the browser draw again.

/** Set an attribute, unless it has this value already. */
export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Set the text of an element, unless it has this text already. */
export function setText(element, text) {
  if (element.textContent !== String(text)) element.textContent = text;
}

/** Return HTML as a document fragment. */
export function parseFragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return template.content;
}
