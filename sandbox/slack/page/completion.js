// What the composer offers while one types: commands after "/", people after "@", channels after "#", emoji after ":".

import { avatar, channelIcon, freshId, h, icon } from "./dom.js";
import { emojiLike } from "./emoji.js";
import { openBeside } from "./popup.js";

const MOST = 8;

// Each source looks at the text before the caret; `word` is what it would replace.
const SOURCES = [
  { pattern: /^(\/\S*)$/, find: commands },
  { pattern: /(?:^|[\s:(])(@[\w.-]*)$/, find: people },
  { pattern: /(?:^|\s)(#[\w-]*)$/, find: channels },
  { pattern: /(?:^|\s)(:[a-z0-9_+-]{2,})$/, find: emoji },
];

function commands(store, word) {
  return store.commandsHere
    .filter(({ command }) => command.startsWith(word.toLowerCase()))
    .map(({ command, description, usage_hint: hint }) => ({
      label: command,
      hint,
      description,
      picture: icon("slash", 16),
      text: command,
    }));
}

function people(store, word) {
  const part = word.slice(1).toLowerCase();
  const fits = ({ name, real_name: full }) => name.startsWith(part) || (full ?? "").toLowerCase().includes(part);
  return store.present
    .filter(fits)
    .map((user) => ({
      label: user.real_name,
      hint: `@${user.name}`,
      description: user.title,
      picture: avatar(user, 22),
      text: `@${user.name}`,
    }));
}

function channels(store, word) {
  const part = word.slice(1).toLowerCase();
  const fits = ({ kind, name }) => kind === "channel" && name.includes(part);
  return store.channels
    .filter(fits)
    .map((channel) => ({
      label: channel.name,
      description: channel.topic,
      picture: channelIcon(channel),
      text: `#${channel.name}`,
    }));
}

function emoji(store, word) {
  return emojiLike(word.slice(1)).map(([name, character]) => ({
    label: `:${name}:`,
    picture: h("span", { text: character }),
    text: character,
  }));
}

export class Completion {
  #offers = [];
  #active = 0;
  #word = "";
  #popup = null;

  constructor(store, input, { withCommands }) {
    Object.assign(this, { store, input });
    this.sources = withCommands ? SOURCES : SOURCES.slice(1);
    this.node = h("div", {
      id: freshId("offers"),
      class: "offers",
      popover: "manual",
      role: "listbox",
      "aria-label": "Suggestions",
    });
    this.node.addEventListener("mousedown", (event) => event.preventDefault());
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", this.node.id);
  }

  get isOpen() {
    return this.#popup !== null;
  }

  /** Looks at what stands before the caret and offers what fits, or nothing. */
  look() {
    const before = this.input.value.slice(0, this.input.selectionStart);
    const source = this.sources.find(({ pattern }) => pattern.test(before));
    this.#word = source ? source.pattern.exec(before)[1] : "";
    this.#offers = source ? source.find(this.store, this.#word).slice(0, MOST) : [];
    this.#active = 0;
    if (this.#offers.length) this.#show();
    else this.close();
  }

  close() {
    this.#popup?.close();
    this.#popup = null;
    this.node.replaceChildren();
    this.input.removeAttribute("aria-activedescendant");
  }

  /** Takes a key if it is for the list; returns whether it was. Enter on a name typed in full is left to send it. */
  key(event) {
    if (!this.isOpen) return false;
    const whole = this.#offers.some(({ text }) => text === this.#word.toLowerCase());
    if (event.key === "ArrowDown" || event.key === "ArrowUp") this.#move(event.key === "ArrowDown" ? 1 : -1);
    else if (event.key === "Tab" || (event.key === "Enter" && !whole)) this.#take(this.#offers[this.#active]);
    else if (event.key === "Escape") this.close();
    else return false;
    return true;
  }

  #show() {
    this.node.replaceChildren(...this.#offers.map((offer, at) => this.#row(offer, at)));
    this.#popup?.close();
    this.#popup = openBeside(this.node, this.input.closest(".composer-box"), { width: "anchor" });
    this.#mark();
  }

  #row(offer, at) {
    const words = h(
      "span",
      { class: "menu-words" },
      h(
        "span",
        null,
        h("b", { text: offer.label }),
        offer.hint && h("span", { class: "usage", text: ` ${offer.hint}` }),
      ),
      offer.description && h("small", { text: offer.description }),
    );
    return h(
      "div",
      { id: `${this.node.id}-${at}`, class: "option", role: "option", on: { click: () => this.#take(offer) } },
      offer.picture,
      words,
    );
  }

  #move(by) {
    this.#active = (this.#active + by + this.#offers.length) % this.#offers.length;
    this.#mark();
  }

  #mark() {
    for (const [at, row] of [...this.node.children].entries()) {
      row.classList.toggle("active", at === this.#active);
      row.setAttribute("aria-selected", String(at === this.#active));
      if (at === this.#active) this.input.setAttribute("aria-activedescendant", row.id);
    }
  }

  #take({ text }) {
    const end = this.input.selectionStart;
    this.input.setRangeText(`${text} `, end - this.#word.length, end, "end");
    this.close();
    this.input.dispatchEvent(new Event("input"));
    this.input.focus();
  }
}
