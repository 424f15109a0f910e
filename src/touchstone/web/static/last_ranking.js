// The address at which the reader left the ranking in this tab; links back to the ranking lead there. Without scripts a
// cookie holds it, which all tabs share.

const { user } = document.body.dataset;
const STORAGE_KEY = `touchstone.ranking.${user}`;

/** Remember the address of the ranking, and let all links lead there. */
export function rememberRanking(address) {
  if (user) storeAddress(address);
  setRankingLinks(address);
}

/** Let all links lead to the remembered ranking. */
export function restoreRankingLinks() {
  setRankingLinks(user && window.sessionStorage.getItem(STORAGE_KEY));
}

function setRankingLinks(address) {
  if (!address) return;
  for (const link of document.querySelectorAll("a[data-ranking]")) link.href = address;
}

function storeAddress(address) {
  try {
    window.sessionStorage.setItem(STORAGE_KEY, address);
  } catch {
    // A full storage keeps the previous address; the cookie still holds this one.
  }
}
