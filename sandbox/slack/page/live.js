// The stream of news from the server, opened again whenever it breaks.

const LONGEST_WAIT = 8000;
const REST_AFTER = 60_000; // a browser allows few connections to one server, and each open tab holds one

/**
 * Listens for a person's news until `close()`.
 * `onEvent` gets each event; `onBack` is called after a gap, when events may have been missed; `onState` gets "live" or "lost".
 */
export class Live {
  #source = null;
  #tries = 0;
  #timer = 0;
  #resting = false;
  #gap = false;
  #ready = () => {};

  constructor(user, { onEvent, onBack, onState }) {
    this.user = user;
    this.tell = { onEvent, onBack, onState };
    /** Kept once the stream is open, or cannot be: what is read after that misses nothing. */
    this.ready = new Promise((keep) => (this.#ready = keep));
    document.addEventListener("visibilitychange", this.#rest);
    this.#open();
  }

  close() {
    document.removeEventListener("visibilitychange", this.#rest);
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  #open() {
    const source = new EventSource(`/_local/live?user=${encodeURIComponent(this.user)}`);
    this.#source = source;
    source.onopen = () => this.#opened();
    source.onmessage = (message) => this.tell.onEvent(JSON.parse(message.data));
    source.onerror = () => this.#lost(source);
  }

  #opened() {
    this.#tries = 0;
    this.#ready();
    this.tell.onState("live");
    if (this.#gap) this.tell.onBack();
    this.#gap = false;
  }

  #lost(source) {
    if (source !== this.#source) return;
    source.close();
    this.#ready();
    this.#gap = true;
    this.tell.onState("lost");
    this.#tries += 1;
    this.#timer = setTimeout(() => this.#open(), Math.min(LONGEST_WAIT, 300 * 2 ** this.#tries));
  }

  #rest = () => {
    clearTimeout(this.#timer);
    if (document.hidden) this.#timer = setTimeout(() => this.#sleep(), REST_AFTER);
    else if (this.#resting || this.#source?.readyState !== EventSource.OPEN) this.#wake();
  };

  #sleep() {
    this.#resting = true;
    this.#gap = true;
    this.#source?.close();
  }

  #wake() {
    this.#resting = false;
    this.#source?.close();
    this.#open();
  }
}
