// A run of messages kept in step with the store: in order, grouped by author, divided by day.

import { dayKey, dayName } from "./dates.js";
import { h } from "./dom.js";
import { MessageView } from "./message.js";

const GROUP_SECONDS = 300;

export class MessageList {
  #views = new Map();

  constructor(store, { threads }) {
    Object.assign(this, { store, threads });
    this.node = h("div", { class: "messages" });
  }

  get size() {
    return this.#views.size;
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
    this.node.replaceChildren(...views.map(([, view]) => view.node));
    this.#placeAll(messages);
  }

  /** Adds messages, oldest first, above those that are shown. */
  prepend(messages) {
    const next = this.node.firstElementChild;
    const views = messages.map((message) => [message.ts, this.#viewOf(message)]);
    this.#views = new Map([...views, ...this.#views]);
    this.node.prepend(...views.map(([, view]) => view.node));
    this.#placeAll(messages);
    this.#regroup(next);
  }

  #placeAll(messages) {
    messages.forEach((message, at) => this.#placeAfter(this.#views.get(message.ts), messages[at - 1]));
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
    const next = this.#nodeAfter(message.ts);
    this.#views.set(message.ts, view);
    this.node.insertBefore(view.node, next);
    this.#regroup(view.node);
    this.#regroup(next);
  }

  drop(ts) {
    const view = this.#views.get(ts);
    if (!view) return;
    const next = view.node.nextElementSibling;
    view.node.remove();
    this.#views.delete(ts);
    this.#regroup(next);
  }

  /** Draws a message anew, because something it shows beside itself has changed. */
  refresh(ts) {
    const view = this.#views.get(ts);
    view?.update(view.message);
  }

  #nodeAfter(ts) {
    let node = this.node.lastElementChild;
    let next = null;
    while (node && Number(node.dataset.ts) > Number(ts)) [next, node] = [node, node.previousElementSibling];
    return next;
  }

  #regroup(node) {
    if (!node) return;
    const before = this.#views.get(node.previousElementSibling?.dataset.ts);
    this.#placeAfter(this.#views.get(node.dataset.ts), before?.message);
  }

  #placeAfter(view, before) {
    const { message } = view;
    const zone = this.store.zone;
    const sameDay = before && (message.ts - before.ts < 1 || dayKey(before.ts, zone) === dayKey(message.ts, zone));
    const same = sameDay && before.user === message.user && before.kind === message.kind && Boolean(before.ephemeral) === Boolean(message.ephemeral);
    const compact = Boolean(same && !message.ephemeral && message.ts - before.ts < GROUP_SECONDS);
    view.place({ compact, day: sameDay || !this.threads ? null : dayName(message.ts, zone) });
  }
}
