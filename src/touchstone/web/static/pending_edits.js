// What the reader has changed in the form since the last ranking was requested. A new ranking brings the form as it was
// at the time of its request, so these edits are then made again.

import { fieldKey, isFilter, isGate } from "./rank_form.js";

export class PendingEdits {
  #form;
  #edits = new Map();
  #time = 0;

  constructor(form) {
    this.#form = form;
  }

  get isEmpty() {
    return this.#edits.size === 0;
  }

  /** The time of the latest edit, counted in edits. */
  get time() {
    return this.#time;
  }

  /** Record that the reader has changed a field. */
  add(field) {
    this.#time += 1;
    const { name, value, checked, type } = field;
    const edit = { name, value, checked: type === "checkbox" && checked, time: this.#time };
    this.#edits.set(fieldKey(field), edit);
  }

  /** Forget the edits of a field, by its key or name; of all filters or gates with the key `filters` or `gates`. */
  discard(key) {
    for (const [editKey, { name }] of this.#edits) {
      const group = isGate({ name }) ? "gates" : isFilter({ name }) && "filters";
      if ([editKey, name, group].includes(key)) this.#edits.delete(editKey);
    }
  }

  /** Forget the edits up to a time, because the ranking that has arrived was requested after them. */
  confirm(time) {
    for (const [key, edit] of this.#edits) if (edit.time <= time) this.#edits.delete(key);
  }

  clear() {
    this.#edits.clear();
  }

  /** Return whether any edit passes a test. */
  some(test) {
    return [...this.#edits.values()].some(test);
  }

  /** Make the edits again in a form that a new ranking has replaced. */
  reapply() {
    for (const [key, edit] of this.#edits) {
      const field = [...this.#form.elements].find((element) => fieldKey(element) === key);
      if (field?.type === "checkbox") {
        field.checked = edit.checked;
      } else if (field?.type === "hidden") {
        if (!edit.checked) field.remove();
      } else if (field) {
        field.value = edit.value;
      } else if (edit.checked) {
        this.#appendHiddenField(edit);
      }
    }
  }

  /** Add a field for a tick whose check box is not part of the new ranking. */
  #appendHiddenField({ name, value }) {
    const field = Object.assign(document.createElement("input"), { type: "hidden", name, value });
    field.setAttribute("form", this.#form.id);
    document.getElementById("results").append(field);
  }
}
