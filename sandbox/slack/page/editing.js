// One's own message in an editor, in the place where it stands.

import { send } from "./api.js";
import { h } from "./dom.js";
import { unescaped } from "./mrkdwn.js";
import { told } from "./surface.js";

/** Puts an editor for `message` into `place`; `done()` is called when it is closed, whatever came of it. */
export function openEditor(place, message, channel, store, done) {
  const box = h("textarea", { class: "edit-box", rows: "2", "aria-label": "Edit message", ".value": asTyped(message.text, store) });
  const save = async () => {
    const saved = await told(send("edit", { user: store.me.id, channel, ts: message.ts, text: box.value.trim() }));
    if (saved) done();
  };
  const keys = (event) => {
    if (event.key === "Escape") done();
    else if (event.key !== "Enter" || event.shiftKey) return;
    else save();
    event.preventDefault();
    event.stopPropagation();
  };
  box.addEventListener("keydown", keys);
  const cancel = h("button", { type: "button", class: "button", on: { click: done }, text: "Cancel" });
  const confirm = h("button", { type: "button", class: "button primary", on: { click: save }, text: "Save" });
  place.replaceChildren(box, h("div", { class: "edit-buttons" }, cancel, confirm));
  box.focus();
}

/** A text that Slack keeps as somebody would type it. */
export function asTyped(text, store) {
  const typed = text
    .replace(/<@([A-Z0-9]+)(?:\|[^<>]*)?>/g, (_, id) => `@${store.users.get(id)?.name ?? id}`)
    .replace(/<#([A-Z0-9]+)(?:\|[^<>]*)?>/g, (_, id) => `#${store.channel(id)?.name ?? id}`)
    .replace(/<!(?:subteam\^[A-Z0-9]+\|@?)?([^<>|]+)>/g, "@$1")
    .replace(/<mailto:([^<>|]+)(?:\|[^<>]*)?>/g, "$1")
    .replace(/<([^<>|]+)(?:\|[^<>]*)?>/g, "$1");
  return unescaped(typed);
}
