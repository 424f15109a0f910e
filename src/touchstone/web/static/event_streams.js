// The event streams of the running jobs on a page.

const MAX_STREAMS = 2; // a browser opens only few connections to one server
const EVENTS = ["message", "queued", "running", "progress", "cancelling", "succeeded", "failed", "cancelled", "error"];

export class EventStreams {
  #streams = new Map(); // by address
  #handleEvent;

  constructor(handleEvent) {
    this.#handleEvent = handleEvent;
  }

  /** Whether there are streams, and all of them are connected. */
  get areOpen() {
    const streams = [...this.#streams.values()];
    return streams.length > 0 && streams.every((stream) => stream.readyState === EventSource.OPEN);
  }

  /** Open the streams of the first running jobs on the page, and close those of all others. */
  update() {
    const elements = [...document.querySelectorAll("[data-events]")].slice(0, MAX_STREAMS);
    const addresses = elements.map((element) => element.dataset.events);

    for (const [address, stream] of this.#streams) {
      if (addresses.includes(address)) continue;
      stream.close();
      this.#streams.delete(address);
    }
    for (const address of addresses) {
      if (!this.#streams.has(address)) this.#streams.set(address, this.#open(address));
    }
  }

  #open(address) {
    const stream = new EventSource(address);
    for (const event of EVENTS) stream.addEventListener(event, () => this.#handleEvent());
    return stream;
  }
}
