// Requests a ranking from the server, and reads the response: a whole ranking as HTML, or a patch for the shown one.

import { parseFragment } from "./dom.js";

/**
 * Request a ranking.
 *
 * `panels` names the side panels that change too. Without panels the server responds with a small patch if the layout
 * of the ranking stays the same.
 */
export function fetchRanking(query, panels, signal) {
  const parameters = new URLSearchParams(query);
  for (const panel of panels) parameters.append("panel", panel);
  if (!panels.length) parameters.append("layout", document.getElementById("results").dataset.layout);

  return fetch(`/app/parts/ranking?${parameters}`, { signal, redirect: "manual" });
}

/** Return the content of a response: the patch or the HTML, the address of the ranking, and its profile. */
export async function readRanking(response) {
  const { headers } = response;
  const isPatch = headers.get("content-type") === "application/json";
  return {
    patch: isPatch ? await response.json() : null,
    fragment: isPatch ? null : parseFragment(await response.text()),
    address: headers.get("x-address"),
    profile: headers.get("x-profile"),
  };
}
