// A run of messages kept in step with the store: in order, grouped by author, divided by day.

import { dayKey, dayName } from "./dates.js";
import { h } from "./dom.js";
import { MessageView } from "./message.js";

const GROUP_SECONDS = 300;

export class MessageList {
  #views = new Map();
  #order = []; // the views' ts, oldest first

  constructor(store, { threads }) {
    Object.assign(this, { store, threads });
    this.node = h("div", { class: "messages" });
  }

  get size() {
    return this.#order.length;
  }

  get first() {
    return this.#order[0] ?? null;
  }

  has(ts) {
    return this.#views.has(ts);
  }

  /** Shows these messages, oldest first, and no others; known ones keep their nodes. */
  show(channel, messages) {
    if (channel !== this.channel) this.#views.clear();
    this.channel = channel;
    const views = messages.map((message) => [message.ts, this.#viewOf(message)]);
    this.#views = new Map(views);
    this.#order = messages.map(({ ts }) => ts);
    this.node.replaceChildren(pageNode(views, { role: "log", "aria-live": "polite", "aria-label": "Newest messages" }));
    this.#order.forEach((_, at) => this.#place(at));
  }

  /** Adds messages, oldest first, above those that are shown. */
  prepend(messages) {
    const views = messages.map((message) => [message.ts, this.#viewOf(message)]);
    for (const [ts, view] of views) this.#views.set(ts, view);
    this.#order.unshift(...messages.map(({ ts }) => ts));
    this.node.prepend(pageNode(views));
    for (let at = 0; at <= messages.length; at += 1) this.#place(at);
  }

  #viewOf(message) {
    const known = this.#views.get(message.ts);
    if (known && known.message !== message) known.update(message);
    return known ?? new MessageView(this.store, this.channel, message, this);
  }

  /** Puts a message where its time says, or shows its new version. */
  put(message) {
    const known = this.#views.get(message.ts);
    if (known) return known.update(message);
    const view = new MessageView(this.store, this.channel, message, this);
    const at = this.#order.findLastIndex((ts) => Number(ts) < Number(message.ts)) + 1;
    const next = this.#views.get(this.#order[at]);
    if (next) next.node.before(view.node);
    else this.node.lastElementChild.append(view.node);
    this.#views.set(message.ts, view);
    this.#order.splice(at, 0, message.ts);
    this.#place(at);
    this.#place(at + 1);
  }

  drop(ts) {
    const at = this.#order.indexOf(ts);
    if (at < 0) return;
    this.#views.get(ts).node.remove();
    this.#views.delete(ts);
    this.#order.splice(at, 1);
    this.#place(at);
  }

  #place(at) {
    const view = this.#views.get(this.#order[at]);
    if (!view) return;
    const { message } = view;
    const before = this.#views.get(this.#order[at - 1])?.message;
    const zone = this.store.zone;
    const day = dayKey(message.ts, zone);
    const sameDay = before !== undefined && dayKey(before.ts, zone) === day;
    view.place({
      compact: sameDay && follows(message, before) && (this.threads || at > 1),
      day: sameDay || !this.threads ? null : dayName(message.ts, zone),
    });
  }
}

// A page is one thing to the browser: out of sight, it is skipped whole. What comes new to the last is read aloud.
function pageNode(views, props) {
  return h(
    "div",
    { class: "page", ...props },
    views.map(([, view]) => view.node),
  );
}

function follows(message, before) {
  const alike = before.user === message.user && before.kind === message.kind && !before.ephemeral && !message.ephemeral;
  return alike && message.ts - before.ts < GROUP_SECONDS;
}
