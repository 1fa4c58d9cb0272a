// A run of messages kept in step with the store: in order, grouped by author, divided by day, drawn where one looks.

import { dayKey, dayName } from "./dates.js";
import { h } from "./dom.js";
import { MessageView } from "./message.js";
import { Surface } from "./surface.js";

const GROUP_SECONDS = 300;
const PAGE = 50;
const LIKELY_HEIGHT = 60; // of a message that was not drawn yet
const LIVE = { role: "log", "aria-live": "polite", "aria-label": "Newest messages" };
const NEAR = "900px 0px";

// Some messages in a row. Only while it is shown do they have nodes; else it keeps their height.
class Page {
  isShown = false;

  constructor(order) {
    this.order = order;
    this.node = h("div", { class: "page" });
    this.node.style.height = `${order.length * LIKELY_HEIGHT}px`;
  }
}

export class MessageList {
  #pages = []; // oldest first
  #messages = new Map();
  #views = new Map(); // of what is shown
  #surfaces = new Map(); // of what was: what was chosen there is kept
  #sight = null;

  /** `threads` is false in a thread itself. */
  constructor(store, { threads }) {
    Object.assign(this, { store, threads });
    this.node = h("div", { class: "messages" });
  }

  /** From now on only what is near the sight of `scroller` is drawn; `keeping(change)` keeps what one reads in its place. */
  watch(scroller, keeping) {
    const looked = (entries) => keeping(() => entries.forEach((entry) => this.#sighted(entry)));
    this.#sight = new IntersectionObserver(looked, { root: scroller, rootMargin: NEAR });
  }

  get first() {
    return this.#pages[0]?.order[0] ?? null;
  }

  has(ts) {
    return this.#messages.has(ts);
  }

  /** The first node that ends below `top` (of the window): a message, or a page that is not drawn. */
  nodeBelow(top) {
    const reaches = (node) => node.getBoundingClientRect().bottom > top;
    const page = this.#pages.find(({ node }) => reaches(node));
    return [...(page?.node.children ?? [])].find(reaches) ?? page?.node ?? null;
  }

  /** Shows these messages, oldest first, and no others; known ones keep what was chosen in them. */
  show(channel, messages) {
    if (channel !== this.channel) this.#surfaces.clear();
    this.channel = channel;
    this.#sight?.disconnect();
    this.#views.clear();
    this.#messages = new Map(messages.map((message) => [message.ts, message]));
    this.#pages = this.#cut(messages);
    this.node.replaceChildren(...this.#pages.map(({ node }) => node));
    for (const page of this.#sight ? this.#pages.slice(-2) : this.#pages) this.#draw(page);
  }

  /** Brings the message `ts` into sight and marks it for a moment; false where it is not in the list. */
  seek(ts) {
    const page = this.#pages.find(({ order }) => order.includes(ts));
    if (!page) return false;
    if (!page.isShown) this.#draw(page);
    const { node, article } = this.#views.get(ts);
    node.scrollIntoView({ block: "center" });
    article.focus({ preventScroll: true });
    article.classList.add("sought");
    article.addEventListener("animationend", () => article.classList.remove("sought"), { once: true });
    return true;
  }

  /** Adds messages, oldest first, above those that are there. */
  prepend(messages) {
    for (const message of messages) this.#messages.set(message.ts, message);
    const [first] = this.#pages;
    const pages = this.#cut(messages);
    this.#pages.unshift(...pages);
    this.node.prepend(...pages.map(({ node }) => node));
    if (first?.isShown) this.#place(first, 0);
  }

  // Pages of equal size, counted from the newest.
  #cut(messages) {
    const order = messages.map(({ ts }) => ts);
    const pages = [];
    for (let end = order.length; end > 0; end -= PAGE) pages.unshift(new Page(order.slice(Math.max(0, end - PAGE), end)));
    for (const page of pages) this.#sight?.observe(page.node);
    return pages;
  }

  #sighted({ target, isIntersecting }) {
    const page = this.#pages.find(({ node }) => node === target);
    if (!page || page.isShown === isIntersecting) return;
    if (isIntersecting) this.#draw(page);
    else this.#clear(page);
  }

  #draw(page) {
    page.isShown = true;
    page.node.style.height = "";
    page.node.replaceChildren(...page.order.map((ts) => this.#viewOf(ts).node));
    page.order.forEach((_, at) => this.#place(page, at));
    requestAnimationFrame(() => this.#listen());
  }

  // What comes to the last page is read aloud, but not the page itself when one returns to it.
  #listen() {
    for (const { node, isShown } of this.#pages) {
      const isLive = isShown && node === this.node.lastElementChild;
      for (const [name, value] of Object.entries(LIVE)) isLive ? node.setAttribute(name, value) : node.removeAttribute(name);
    }
  }

  // What one is busy with stays, wherever it is.
  #clear(page) {
    if (page.node.contains(document.activeElement)) return;
    page.node.style.height = `${page.node.offsetHeight}px`;
    page.isShown = false;
    this.#listen();
    page.node.replaceChildren();
    for (const ts of page.order) this.#views.delete(ts);
  }

  #viewOf(ts) {
    const message = this.#messages.get(ts);
    const surface = this.#surfaces.get(ts) ?? new Surface(this.store, { channel: this.channel, ts }, message.blocks ?? []);
    const view = new MessageView(this.store, this.channel, message, { threads: this.threads, surface });
    this.#surfaces.set(ts, surface);
    this.#views.set(ts, view);
    return view;
  }

  /** Puts a message where its time says, or shows its new version. */
  put(message) {
    const known = this.#messages.has(message.ts);
    this.#messages.set(message.ts, message);
    if (known) this.#views.get(message.ts)?.update(message);
    else this.#insert(message.ts);
  }

  #insert(ts) {
    const page = this.#pageFor(ts);
    const at = page.order.findLastIndex((one) => Number(one) < Number(ts)) + 1;
    page.order.splice(at, 0, ts);
    if (!page.isShown) return;
    const next = page.order[at + 1];
    page.node.insertBefore(this.#viewOf(ts).node, next ? this.#views.get(next).node : null);
    this.#place(page, at);
    this.#placeNext(page, at);
  }

  #pageFor(ts) {
    const page = this.#pages.findLast(({ order }) => Number(order[0]) < Number(ts)) ?? this.#pages[0];
    const isLast = page === this.#pages.at(-1);
    if (page && !(isLast && page.order.length >= 2 * PAGE)) return page;
    const fresh = new Page([]);
    this.#pages.push(fresh);
    this.node.append(fresh.node);
    this.#draw(fresh);
    this.#sight?.observe(fresh.node);
    return fresh;
  }

  drop(ts) {
    const page = this.#pages.find(({ order }) => order.includes(ts));
    if (!page) return;
    const at = page.order.indexOf(ts);
    page.order.splice(at, 1);
    this.#views.get(ts)?.node.remove();
    for (const kept of [this.#views, this.#messages, this.#surfaces]) kept.delete(ts);
    this.#placeNext(page, at - 1);
    if (page.order.length) return;
    this.#sight?.unobserve(page.node);
    page.node.remove();
    this.#pages.splice(this.#pages.indexOf(page), 1);
  }

  #placeNext(page, at) {
    if (at + 1 < page.order.length) return this.#place(page, at + 1);
    const next = this.#pages[this.#pages.indexOf(page) + 1];
    if (next?.isShown) this.#place(next, 0);
  }

  #before(page, at) {
    const ts = at > 0 ? page.order[at - 1] : this.#pages[this.#pages.indexOf(page) - 1]?.order.at(-1);
    return this.#messages.get(ts);
  }

  #place(page, at) {
    const view = this.#views.get(page.order[at]);
    if (!view) return;
    const { message } = view;
    const before = this.#before(page, at);
    const zone = this.store.zone;
    const day = dayKey(message.ts, zone);
    const sameDay = before !== undefined && dayKey(before.ts, zone) === day;
    view.place({
      compact: sameDay && follows(message, before) && (this.threads || at > 1 || page !== this.#pages[0]),
      day: sameDay || !this.threads ? null : dayName(message.ts, zone),
    });
  }
}

// A message with blocks begins anew: cards that stand close together must not read as one.
function follows(message, before) {
  if (message.blocks?.length || before.blocks?.length) return false;
  const alike = before.user === message.user && before.kind === message.kind && !before.ephemeral && !message.ephemeral;
  return alike && message.ts - before.ts < GROUP_SECONDS;
}
