// The left side: the workspace, where one can go, and who one is.

import { send } from "./api.js";
import { ask } from "./confirm.js";
import { avatar, channelIcon, h, icon, iconButton } from "./dom.js";
import { told } from "./surface.js";
import { current, nextTheme } from "./theme.js";

const THEMES = {
  auto: ["auto", "Colours: as the system"],
  light: ["sun", "Colours: light"],
  dark: ["moon", "Colours: dark"],
};

export class Sidebar {
  /** `onGo({channel, tab})` opens a place, `onPerson(id)` acts as somebody else, `onSwitcher()` opens the quick switcher. */
  constructor(store, { onGo, onPerson, onSwitcher }) {
    Object.assign(this, { store, onGo, onPerson, onSwitcher });
    this.node = h("aside", { class: "sidebar", id: "sidebar", "aria-label": "Workspace" });
    for (const topic of ["workspace", "channels", "place"]) store.on(topic, () => this.draw());
  }

  draw() {
    if (!this.store.me) return;
    const focused = document.activeElement?.closest(".sidebar [data-key]")?.dataset.key;
    this.node.replaceChildren(
      this.#head(),
      h("nav", { class: "places", "aria-label": "Channels" }, this.#places()),
      this.#people(),
    );
    if (focused) this.node.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #head() {
    const theme = iconButton(...THEMES[current()], () => this.#changeTheme(), { data: { key: "theme" } });
    const search = iconButton("search", "Go to (Ctrl K)", this.onSwitcher);
    const fresh = iconButton("restart", "Start afresh", () => this.#reset());
    const name = h(
      "div",
      { class: "workspace-name" },
      h("strong", { text: this.store.team.name }),
      h("small", { text: "Local Slack, on this machine" }),
    );
    return h("div", { class: "sidebar-head" }, name, search, theme, fresh);
  }

  #changeTheme() {
    nextTheme();
    this.draw();
  }

  async #reset() {
    const text = "Every message goes, and all else here is as it was at first. What the app has written down itself stays.";
    if (!(await ask({ title: "Start afresh?", text, yes: "Start afresh", no: "Cancel", danger: true }))) return;
    if (await told(send("reset", {}))) location.reload();
  }

  #places() {
    const { channels, bot, botChannel } = this.store;
    const open = channels.filter(({ kind, is_archived: gone }) => kind === "channel" && !gone);
    return [
      h("h2", { text: "Channels" }),
      open.map((channel) =>
        this.#place(channel.id, "messages", channelIcon(channel), channel.name),
      ),
      botChannel && [
        h("h2", { text: "Direct messages" }),
        this.#place(
          botChannel.id,
          "messages",
          avatar(bot, 20),
          bot.real_name,
          h("span", { class: "badge", text: "APP" }),
        ),
        h("h2", { text: "Apps" }),
        this.#place(botChannel.id, "home", icon("home", 16), "Home tab"),
      ],
    ];
  }

  #place(channel, tab, picture, name, badge) {
    const { place, unread } = this.store;
    const here = place.channel === channel && place.tab === tab;
    const isNew = tab === "messages" && !here && unread.has(channel);
    const dot = isNew && h("span", { class: "dot" }, h("span", { class: "hidden-words", text: "unread" }));
    const on = { click: () => this.onGo({ channel, tab }) };
    return h(
      "button",
      {
        type: "button",
        class: isNew ? "place unread" : "place",
        data: { key: channel + tab },
        "aria-current": here ? "page" : null,
        on,
      },
      picture,
      h("span", { class: "place-name", text: name }),
      badge,
      dot,
    );
  }

  #people() {
    const people = this.store.present.filter((user) => !user.is_bot);
    return h(
      "section",
      { class: "people", "aria-label": "Act as" },
      h("h2", { text: "You act as" }),
      h(
        "div",
        { role: "radiogroup", "aria-label": "Act as", on: { keydown: arrows } },
        people.map((user) => this.#person(user)),
      ),
    );
  }

  #person(user) {
    const me = user.id === this.store.me.id;
    const role = user.is_guest && !/guest/i.test(user.title ?? "") ? `${user.title ?? ""} (guest)`.trim() : user.title;
    const words = h("span", { class: "person-words" }, h("span", { text: user.real_name }), h("small", { text: role }));
    const on = { click: () => me || this.onPerson(user.id) };
    return h(
      "button",
      {
        type: "button",
        class: "person",
        role: "radio",
        "aria-checked": String(me),
        data: { key: user.id },
        "aria-label": `${user.real_name}, ${role}`,
        on,
      },
      avatar(user, 30),
      words,
      me && h("span", { class: "you" }, icon("check", 14), "You"),
    );
  }
}

function arrows(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll("[role=radio]")];
  all.at((all.indexOf(document.activeElement) + by) % all.length)?.focus();
}
