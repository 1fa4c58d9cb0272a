// The messages of the open channel: newest at the bottom, older pages read while scrolling up.

import { read } from "./api.js";
import { h, icon } from "./dom.js";
import { isReply } from "./history.js";
import { MessageList } from "./messagelist.js";
import { toast } from "./toast.js";
import { welcomeNode } from "./welcome.js";

const PAGE = 100;
const MOST = 500; // that one request brings
const NEAR_END = 60;

export class Timeline {
  #reading = false;
  #isMember = null; // of the bot, as the welcome says

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
        on: { scroll: () => this.#scrolled(), keydown: (event) => this.#key(event) },
      },
      inside,
    );
    this.node = h("div", { class: "timeline" }, this.scroller, this.fresh);
    this.list.watch(this.scroller, (change) => this.#keepingPlace(change));
    this.sight = new IntersectionObserver(([entry]) => entry.isIntersecting && this.#readOlder(), {
      root: this.scroller,
      rootMargin: "600px",
    });
    store.on("message", (event) => this.#heard(event));
    store.on("channels", () => this.#drawMembership());
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
    this.scroller.scrollTop = 0;
    this.fresh.hidden = true;
  }

  /** Reads all that there is and goes to the oldest. */
  async toBeginning() {
    const channel = this.list.channel;
    const history = this.store.history(channel);
    while (history.hasMore && (await this.#readPage(channel, history.oldest, MOST)));
    if (this.list.channel !== channel) return;
    this.#addOlder();
    this.scroller.scrollTop = -this.scroller.scrollHeight;
  }

  /** Brings the message `ts` into sight; false where the channel does not hold it. */
  async seek(ts) {
    const channel = this.list.channel;
    const history = this.store.history(channel);
    while (history.hasMore && Number(history.oldest) > Number(ts) && (await this.#readPage(channel, history.oldest, MOST)));
    if (this.list.channel !== channel) return false;
    this.#addOlder();
    return this.list.seek(ts);
  }

  #draw(channel, waiting = false) {
    const other = this.list.channel !== channel;
    this.list.show(channel, waiting ? [] : this.#known(channel));
    this.node.classList.toggle("waiting", waiting);
    if (other) [this.scroller.scrollTop, this.fresh.hidden] = [0, true];
    this.#drawBeginning(waiting);
  }

  #drawBeginning(waiting = false) {
    const more = this.store.history(this.list.channel).hasMore;
    this.older.hidden = waiting || !more;
    this.#drawWelcome(waiting || more);
    this.sight.disconnect(); // looking anew: a short page may have left the beginning in sight
    this.sight.observe(this.older);
  }

  // Once the bot is in the channel, or out of it, there are other things to say and to try.
  #drawMembership() {
    const isMember = this.store.channel(this.list.channel)?.bot_is_member;
    if (!this.welcome.childElementCount || isMember === this.#isMember) return;
    const pressed = document.activeElement === document.body && this.welcome.querySelector("[aria-busy]");
    const focused = pressed || this.welcome.contains(document.activeElement);
    this.#drawWelcome(false);
    if (focused) this.welcome.querySelector("button")?.focus();
  }

  #drawWelcome(hidden) {
    const channel = this.store.channel(this.list.channel);
    this.#isMember = channel?.bot_is_member;
    this.welcome.replaceChildren(...(hidden || !channel ? [] : [welcomeNode(this.store, channel, this.onSuggest)]));
  }

  // Whether it went well.
  async #readPage(channel, before, limit = PAGE) {
    try {
      const page = await read("messages", { user: this.store.me.id, channel, before, limit });
      this.store.history(channel).addPage(page);
      return true;
    } catch (error) {
      toast(error.message, "error");
      return false;
    }
  }

  // What was read without a gap: a thread may have brought replies from before that, which were sent to the channel too.
  #known(channel) {
    const { timeline, hasMore, oldest } = this.store.history(channel);
    return hasMore ? timeline.filter(({ ts }) => Number(ts) >= Number(oldest)) : timeline;
  }

  async #readOlder() {
    const channel = this.list.channel;
    if (this.#reading || this.older.hidden) return;
    this.#reading = true;
    const { oldest } = this.store.history(channel);
    await this.#readPage(channel, oldest);
    this.#reading = false;
    if (this.list.channel === channel) this.#addOlder();
  }

  // The view stays where it is: what is added above an end-anchored scroller moves nothing below.
  #addOlder() {
    const first = Number(this.list.first ?? Infinity);
    this.list.prepend(this.#known(this.list.channel).filter(({ ts }) => Number(ts) < first));
    this.#drawBeginning();
  }

  #heard({ channel, message, gone }) {
    if (channel !== this.list.channel || !this.store.history(channel).loaded) return;
    if (gone) return this.#keepingPlace(() => this.list.drop(gone));
    if (isReply(message)) return; // its root comes changed, with another count
    if (this.list.has(message.ts)) return this.#keepingPlace(() => this.list.put(message));
    const follow = this.#atEnd || message.user === this.store.me.id || message.ephemeral;
    this.#keepingPlace(() => this.list.put(message));
    if (follow) this.toEnd();
    else this.fresh.hidden = false;
  }

  // Away from the end, what comes, goes or grows must not move what is being read.
  #keepingPlace(change) {
    if (this.#atEnd) return change();
    const node = this.list.nodeBelow(this.scroller.getBoundingClientRect().top);
    const before = node?.getBoundingClientRect().top;
    change();
    if (node?.isConnected) this.scroller.scrollTop += node.getBoundingClientRect().top - before;
  }

  #scrolled() {
    if (this.#atEnd) this.fresh.hidden = true;
  }

  #key(event) {
    if (event.target !== this.scroller || !(event.key in KEYS)) return;
    event.preventDefault();
    KEYS[event.key](this);
  }
}

const KEYS = { Home: (timeline) => timeline.toBeginning(), End: (timeline) => timeline.toEnd() };
