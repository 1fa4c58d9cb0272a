// The line above the messages: where one is, as whom, and the tabs of the app.

import { avatar, h, icon, iconButton } from "./dom.js";

export class Header {
  /** `onMenu()` opens the sidebar on small screens, `onTab(tab)` changes between Home and Messages, `onInspector()` the inspector, `onBreak()` the faults, `onSlackbot()` Slackbot. */
  constructor(store, { onMenu, onTab, onInspector, onBreak, onSlackbot }) {
    Object.assign(this, { store, onTab });
    this.menu = iconButton("menu", "Open sidebar", onMenu, {
      class: "icon-button menu-button",
      "aria-controls": "sidebar",
    });
    this.title = h("div", { class: "pane-title" });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Parts of the app" });
    this.lost = h("span", { class: "reconnecting", role: "status" });
    this.me = h("span", { class: "acting" });
    this.inspect = h(
      "button",
      {
        type: "button",
        class: "button quiet",
        "aria-pressed": "false",
        title: "Every request between Slack and the bot",
        on: { click: onInspector },
      },
      icon("pulse"),
      h("span", { class: "shy", text: "Inspector" }),
    );
    this.troubles = h("span", { class: "trouble-count", hidden: true });
    this.breaks = h(
      "button",
      {
        type: "button",
        class: "button quiet",
        "aria-pressed": "false",
        title: "Put something out of order and see what the app makes of it",
        on: { click: onBreak },
      },
      icon("bolt"),
      h("span", { class: "shy", text: "Break it" }),
      this.troubles,
    );
    this.slackbot = h(
      "button",
      {
        type: "button",
        class: "button quiet",
        "aria-pressed": "false",
        title: "Call the app’s tools as Slackbot would",
        hidden: true,
        on: { click: onSlackbot },
      },
      icon("reply"),
      h("span", { class: "shy", text: "Slackbot" }),
    );
    this.node = h(
      "div",
      null,
      h("header", { class: "pane-head" }, this.menu, this.title, this.lost, this.me, this.slackbot, this.breaks, this.inspect),
      this.tabs,
    );
    for (const topic of ["workspace", "channels", "place"]) store.on(topic, () => this.#draw());
    store.on("troubles", () => this.#count());
  }

  // However one got here: what is out of order is not to be forgotten.
  #count() {
    const { broken } = this.store;
    const words = `${broken.length} out of order`;
    this.breaks.classList.toggle("alarmed", broken.length > 0);
    this.troubles.hidden = !broken.length;
    this.troubles.replaceChildren(
      ...(broken.length
        ? [icon("warning", 13), String(broken.length), h("span", { class: "hidden-words", text: words })]
        : []),
    );
  }

  /** Says that the stream of news is broken, or, with false, that it is back. */
  reconnecting(lost) {
    this.lost.replaceChildren(...(lost ? [h("span", { class: "spinner" }), "Reconnecting…"] : []));
  }

  #draw() {
    const { here, me } = this.store;
    if (!here) return;
    this.title.replaceChildren(...(here.kind === "im" ? this.#botTitle() : this.#channelTitle(here)));
    this.me.replaceChildren(h("span", { class: "shy" }, "Acting as ", h("b", { text: me.real_name })), avatar(me, 26));
    this.slackbot.hidden = !this.store.slackbot;
    this.tabs.hidden = here.kind !== "im";
    this.tabs.replaceChildren(this.#tab("home", "Home"), this.#tab("messages", "Messages"));
  }

  #botTitle() {
    return [
      h(
        "h1",
        null,
        avatar(this.store.bot, 24),
        h("span", { text: this.store.bot.real_name }),
        h("span", { class: "badge", text: "APP" }),
      ),
    ];
  }

  #channelTitle(channel) {
    const bot = this.store.bot.real_name;
    const marks = [
      channel.is_ext_shared && mark("link", "Shared with outside", "People of another company are in this channel"),
      !channel.bot_is_member && mark("warning", `${bot} not added`, `${bot} is not a member of this channel`),
    ];
    return [
      h("h1", null, icon(channel.is_private ? "lock" : "hash", 20), h("span", { text: channel.name }), marks),
      h("small", { class: "topic", text: channel.topic, title: channel.topic }),
    ];
  }

  #tab(tab, name) {
    const on = { click: () => this.onTab(tab) };
    return h("button", {
      type: "button",
      role: "tab",
      class: "tab",
      "aria-selected": String(this.store.place.tab === tab),
      text: name,
      on,
    });
  }
}

function mark(picture, words, title) {
  return h("span", { class: "mark", title }, icon(picture, 13), words);
}
