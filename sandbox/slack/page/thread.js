// The side panel with one message and its replies.

import { read } from "./api.js";
import { Composer } from "./composer.js";
import { h, iconButton } from "./dom.js";
import { MessageList } from "./messagelist.js";
import { toast } from "./toast.js";

export class Thread {
  constructor(store) {
    this.store = store;
    this.list = new MessageList(store, { threads: false });
    this.composer = new Composer(store, { thread: true });
    this.where = h("small");
    const head = h(
      "header",
      { class: "pane-head" },
      h("div", { class: "pane-title" }, h("h2", { text: "Thread" }), this.where),
      iconButton("close", "Close thread", () => store.emit("thread", null)),
    );
    this.scroller = h(
      "div",
      { class: "thread-scroll", tabindex: "0", role: "region", "aria-label": "Replies" },
      this.list.node,
    );
    this.node = h(
      "aside",
      { class: "pane side", "aria-label": "Thread", hidden: true, on: { keydown: (event) => this.#key(event) } },
      head,
      this.scroller,
      this.composer.node,
    );
    store.on("message", (event) => this.#heard(event));
  }

  /** Opens the thread under the message `ts` of the open channel, or, with null, closes the panel. */
  async show(ts) {
    this.node.hidden = ts === null;
    this.ts = ts;
    if (ts === null) return this.list.show(null, []);
    const channel = this.store.place.channel;
    const place = this.store.channel(channel);
    this.where.textContent = place?.kind === "im" ? place.name : `#${place?.name ?? ""}`;
    this.root = this.store.history(channel).get(ts);
    this.#draw();
    this.composer.focus();
    try {
      const page = await read("messages", { user: this.store.me.id, channel, thread_ts: ts, limit: 200 });
      this.store.history(channel).addReplies(page.messages);
      if (this.ts === ts) this.root ??= page.messages.find((message) => message.ts === ts);
    } catch (error) {
      toast(error.message, "error");
    }
    if (this.ts === ts) this.#draw();
  }

  /** Brings the reply `ts` into sight; false where the thread does not hold it. */
  seek(ts) {
    return this.list.seek(ts);
  }

  #draw() {
    const channel = this.store.place.channel;
    const history = this.store.history(channel);
    const replies = history.replies(this.ts);
    this.list.show(channel, this.root ? [this.root, ...replies] : replies);
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  #heard({ channel, message, gone }) {
    if (this.node.hidden || channel !== this.store.place.channel) return;
    if (gone === this.ts) this.store.emit("thread", null);
    else if (gone) this.list.drop(gone);
    else if (message.ts === this.ts || message.thread_ts === this.ts) this.#put(message);
  }

  #put(message) {
    this.list.put(message);
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  #key(event) {
    if (event.key === "Escape") this.store.emit("thread", null);
  }
}
