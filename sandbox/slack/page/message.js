// One message: who, when, what it says, and what can be done with it.

import { send } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { clockTime, fullTime } from "./dates.js";
import { avatar, h, icon, iconButton } from "./dom.js";
import { openEditor } from "./editing.js";
import { messageFiles } from "./files.js";
import { mrkdwn, plain } from "./mrkdwn.js";
import { openMenu } from "./popup.js";
import { namesIn, told } from "./surface.js";
import { toast } from "./toast.js";

export class MessageView {
  #nodes = new Map();

  /** `surface`: where its elements' answers are kept. `threads` is false where replies cannot be opened from: in the thread itself. */
  constructor(store, channel, message, { threads, surface }) {
    Object.assign(this, { store, channel, threads, message, surface });
    this.day = h("div", { class: "day", hidden: true });
    this.article = h("article", { class: "message", tabindex: "-1" });
    this.node = h("div", { class: "entry", data: { ts: message.ts } }, this.day, this.article);
    this.update(message);
  }

  /** Shows a newer version; blocks that did not change keep their nodes and what was chosen in them. */
  update(message) {
    this.message = message;
    this.surface.answers.adopt(message.blocks ?? []);
    this.#nodes = renderBlocks(message.blocks ?? [], this.surface, this.#nodes);
    const author = this.#author();
    const time = clockTime(message.ts, this.store.zone);
    const moved = message.subtype ? " moved" : "";
    this.article.className = `message ${message.kind}${moved}${message.ephemeral ? " private" : ""}`;
    this.article.setAttribute("aria-label", `${author.real_name}, ${time}`);
    this.article.replaceChildren(this.#gutter(author, time), this.#body(author, time), ...this.#tools());
  }

  /** Marks it as following another of the same person, and names the day when it is the first of one. */
  place({ compact, day }) {
    this.article.classList.toggle("compact", compact);
    this.day.hidden = !day;
    this.day.replaceChildren(...(day ? [h("span", { text: day })] : []));
  }

  #author() {
    const { message, store } = this;
    if (message.kind === "system") return { real_name: "Slack", initials: "i", color: "#5b6b73" };
    const user = store.users.get(message.user);
    const name = user?.is_bot ? message.username || user.real_name : (user?.real_name ?? message.username);
    return { ...user, real_name: name || "Unknown" };
  }

  #gutter(author, time) {
    return h(
      "div",
      { class: "gutter" },
      avatar(author),
      h("span", { class: "gutter-time", "aria-hidden": "true", text: time.replace(/ [AP]M$/, "") }),
    );
  }

  #body(author, time) {
    const { message } = this;
    const stamp = h("time", {
      title: fullTime(message.ts, this.store.zone),
      datetime: new Date(message.ts * 1000).toISOString(),
      text: time,
    });
    const badge = author.is_bot && h("span", { class: "badge", text: "APP" });
    return h("div", { class: "body" }, [
      message.ephemeral && h("div", { class: "private-mark" }, icon("eye", 14), "Only visible to you"),
      h("div", { class: "byline" }, h("strong", { text: author.real_name }), badge, stamp),
      this.#content(),
      messageFiles(message, this.store),
      this.#threadLink(),
    ]);
  }

  #content() {
    const { message } = this;
    const edited = message.edited && h("span", { class: "edited", text: "(edited)" });
    if (this.#nodes.size) return h("div", { class: "blocks" }, ...this.#nodes.values(), edited);
    return h("div", { class: "text said" }, mrkdwn(message.text ?? "", namesIn(this.store)), edited && [" ", edited]);
  }

  #threadLink() {
    const { reply_count: count, reply_users: users, latest_reply: latest } = this.message;
    if (!this.threads || !count) return null;
    const faces = users.slice(0, 3).map((id) => avatar(this.store.users.get(id), 20));
    const on = { click: () => this.store.emit("thread", this.message.ts) };
    return h(
      "button",
      { type: "button", class: "thread-link", on },
      faces,
      h("b", { text: count === 1 ? "1 reply" : `${count} replies` }),
      h("span", { class: "last-reply", text: `Last reply ${clockTime(latest, this.store.zone)}` }),
    );
  }

  // Slack offers neither threads nor shortcuts on what only one person sees.
  #tools() {
    const { message, store } = this;
    const shared = !message.ephemeral && message.kind === "message";
    const reply =
      shared && this.threads && iconButton("reply", "Reply in thread", () => store.emit("thread", message.thread_ts ?? message.ts));
    const more = iconButton(
      "more",
      "More actions for this message",
      () => openMenu(more, this.#menu(shared), { label: "Message actions" }),
      { "aria-haspopup": "menu", "aria-expanded": "false" },
    );
    return [h("div", { class: "tools" }, reply, more)];
  }

  #menu(shared) {
    const shortcuts = shared ? this.store.shortcuts.filter((shortcut) => shortcut.type === "message") : [];
    const runs = shortcuts.map((shortcut) => ({
      label: shortcut.name,
      description: shortcut.description,
      icon: icon("bolt"),
      run: () => this.#runShortcut(shortcut),
    }));
    const copy = { label: "Copy text", icon: icon("copy"), run: () => this.#copy() };
    const heading = runs.length ? [{ heading: `Shortcuts of ${this.store.bot.real_name}` }] : [];
    return [copy, ...this.#own(shared), ...heading, ...runs];
  }

  // What a person may do with what they said themselves.
  #own(shared) {
    const { message, store, channel } = this;
    if (!shared || message.user !== store.me.id || message.subtype) return [];
    const said = this.article.querySelector(".said");
    const open = () => openEditor(said, message, channel, store, () => this.update(this.message));
    const gone = () => told(send("delete", { user: store.me.id, channel, ts: message.ts }));
    const edit = said && { label: "Edit message", icon: icon("slash"), run: open };
    return [edit, { label: "Delete message", icon: icon("close"), danger: true, run: gone }].filter(Boolean);
  }

  #runShortcut({ callback_id }) {
    return told(send("shortcut", { user: this.store.me.id, callback_id, channel: this.channel, ts: this.message.ts }));
  }

  async #copy() {
    await navigator.clipboard?.writeText(plain({ type: "mrkdwn", text: this.message.text ?? "" }, namesIn(this.store)));
    toast("Copied.");
  }
}
