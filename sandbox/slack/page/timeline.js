// The messages of the open channel: newest at the bottom, older pages read while scrolling up.

import { read } from "./api.js";
import { h, icon } from "./dom.js";
import { isTopLevel } from "./history.js";
import { MessageList } from "./messagelist.js";
import { toast } from "./toast.js";
import { welcomeNode } from "./welcome.js";

const PAGE = 100;
const FEW = 300; // as many stay in the document when one returns to the end
const NEAR_END = 60;

export class Timeline {
  #reading = false;

  constructor(store, { onSuggest }) {
    Object.assign(this, { store, onSuggest });
    this.list = new MessageList(store, { threads: true });
    this.older = h("div", { class: "older", "aria-hidden": "true" }, h("span", { class: "spinner" }));
    this.welcome = h("div", { class: "welcome-place" });
    this.fresh = h(
      "button",
      { type: "button", class: "fresh", hidden: true, on: { click: () => this.toEnd() } },
      icon("down", 14),
      "New messages",
    );
    const inside = h("div", { class: "timeline-inside" }, this.older, this.welcome, this.list.node);
    this.scroller = h(
      "div",
      {
        class: "timeline-scroll",
        tabindex: "0",
        role: "region",
        "aria-label": "Messages",
        on: { scroll: () => this.#scrolled() },
      },
      inside,
    );
    this.node = h("div", { class: "timeline" }, this.scroller, this.fresh);
    this.sight = new IntersectionObserver(([entry]) => entry.isIntersecting && this.#readOlder(), {
      root: this.scroller,
      rootMargin: "600px",
    });
    store.on("message", (event) => this.#heard(event));
  }

  get #atEnd() {
    return this.scroller.scrollTop > -NEAR_END; // the scroller counts upwards from its end
  }

  /** Shows a channel from its end; `again` reads it anew. */
  async show(channel, again = false) {
    const history = this.store.history(channel);
    if (history.loaded && !again) return this.#draw(channel);
    if (this.list.channel !== channel) this.#draw(channel, true);
    this.store.beginPage(channel);
    await this.#readPage(channel);
    if (this.store.place.channel === channel) this.#draw(channel);
  }

  toEnd() {
    if (this.list.size > FEW) this.#draw(this.list.channel);
    this.scroller.scrollTop = 0;
    this.fresh.hidden = true;
  }

  #draw(channel, waiting = false) {
    const other = this.list.channel !== channel;
    this.list.show(channel, waiting ? [] : this.store.history(channel).timeline.slice(-PAGE));
    this.node.classList.toggle("waiting", waiting);
    if (other) this.toEnd();
    this.#drawBeginning(waiting);
  }

  #drawBeginning(waiting = false) {
    const more = this.#above().length > 0 || this.store.history(this.list.channel).hasMore;
    this.older.hidden = waiting || !more;
    this.#drawWelcome(waiting || more);
    this.sight.disconnect(); // looking anew: a short page may have left the beginning in sight
    this.sight.observe(this.older);
  }

  #drawWelcome(hidden) {
    const channel = this.store.channel(this.list.channel);
    this.welcome.replaceChildren(...(hidden || !channel ? [] : [welcomeNode(this.store, channel, this.onSuggest)]));
  }

  async #readPage(channel, before) {
    try {
      this.store
        .history(channel)
        .addPage(await read("messages", { user: this.store.me.id, channel, before, limit: PAGE }));
    } catch (error) {
      toast(error.message, "error");
    }
  }

  // The messages that are known but not shown: those before the first that is.
  #above() {
    const all = this.store.history(this.list.channel).timeline;
    const first = Number(this.list.first ?? Infinity);
    return all.slice(0, all.findLastIndex(({ ts }) => Number(ts) < first) + 1);
  }

  // The view stays where it is: what is added above an end-anchored scroller moves nothing below.
  async #readOlder() {
    const channel = this.list.channel;
    if (this.#reading || this.older.hidden) return;
    this.#reading = true;
    const { hasMore, oldest } = this.store.history(channel);
    if (!this.#above().length && hasMore) await this.#readPage(channel, oldest);
    this.#reading = false;
    if (this.list.channel !== channel) return;
    this.list.prepend(this.#above().slice(-PAGE));
    this.#drawBeginning();
  }

  #heard({ channel, message, gone }) {
    if (channel !== this.list.channel || !this.store.history(channel).loaded) return;
    if (gone) return this.list.drop(gone);
    if (!isTopLevel(message)) return; // its root comes changed, with another count
    if (this.list.has(message.ts)) return this.#keepingPlace(() => this.list.put(message));
    const follow = this.#atEnd || message.user === this.store.me.id || message.ephemeral;
    this.#keepingPlace(() => this.list.put(message));
    if (follow) this.toEnd();
    else this.fresh.hidden = false;
  }

  // Away from the end, a message that comes or grows below must not push what is being read.
  #keepingPlace(change) {
    const before = this.scroller.scrollHeight;
    const away = !this.#atEnd;
    change();
    if (away) this.scroller.scrollTop -= this.scroller.scrollHeight - before;
  }

  #scrolled() {
    if (this.#atEnd) this.fresh.hidden = true;
  }
}
