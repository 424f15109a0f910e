// The form of the rank page: its state as a query, and which of its fields are filters.

const form = document.getElementById("rank-form");

/** Return the state in the form as a query; `changes` replace fields of the same name. */
export function formQuery(changes = {}) {
  const fields = [...new FormData(form)].filter(([name, value]) => value !== "" && !(name in changes));
  return new URLSearchParams([...fields, ...Object.entries(changes)]);
}

/** Return the state in the form as the query of an address, which never holds the previous ranking. */
export function addressQuery() {
  const query = formQuery();
  query.delete("previous_ids");
  return query;
}

/** Return whether a field is a filter or a gate, and so neither a pin nor a weight. */
export function isFilter({ name }) {
  return name !== "pin" && !name.startsWith("w.");
}

/** Return whether a field belongs to a gate. */
export function isGate({ name }) {
  return name === "gate" || name.startsWith("gate.");
}

/** Return the key of a field: its name, with the value if several check boxes have the same name. */
export function fieldKey(field) {
  return field.type === "checkbox" || field.name === "pin" ? `${field.name}=${field.value}` : field.name;
}

/** Return the fields whose value is no longer the one that the server wrote. */
export function changedFields() {
  return [...form.elements].filter(isChanged);
}

function isChanged(field) {
  if (field.type === "checkbox") return field.checked !== field.defaultChecked;
  if (field.tagName === "INPUT") return field.value !== field.defaultValue;
  if (field.tagName !== "SELECT") return false;
  const defaultOption = [...field.options].find((option) => option.defaultSelected) ?? field.options[0];
  return field.value !== defaultOption?.value;
}
