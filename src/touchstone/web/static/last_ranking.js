// Where the reader left the ranking, in this tab: links back to it lead there. Without scripts a cookie says it, which
// all tabs share.

const { user } = document.body.dataset;
const KEY = `touchstone.ranking.${user}`;

export function keep(address) {
  if (user) write(address);
  lead(address);
}

export function lead(address = user && window.sessionStorage.getItem(KEY)) {
  if (!address) return;
  for (const link of document.querySelectorAll("a[data-ranking]")) link.href = address;
}

function write(address) {
  try {
    window.sessionStorage.setItem(KEY, address);
  } catch {
    // A full storage keeps the address before; the cookie still has this one.
  }
}
