// The emoji on a message: who put them there, and a way to join in or take one's own off again.

import { send } from "./api.js";
import { h, icon } from "./dom.js";
import { emojiOf } from "./emoji.js";
import { told } from "./surface.js";

const OFFERED = ["eyes", "white_check_mark", "tada", "+1", "heart"];

/** A pill for each emoji on the message; null where there is none. */
export function reactionsNode(message, channel, store) {
  const all = message.reactions ?? [];
  if (!all.length) return null;
  return h("div", { class: "reactions" }, all.map((reaction) => pill(reaction, message, channel, store)));
}

function pill({ name, users }, message, channel, store) {
  const mine = users.includes(store.me.id);
  const who = users.map((id) => store.users.get(id)?.real_name ?? id).join(", ");
  const label = `${name.replaceAll("_", " ")}, ${users.length}: ${who}`;
  return h(
    "button",
    {
      type: "button",
      class: mine ? "reaction mine" : "reaction",
      title: label,
      "aria-label": label,
      "aria-pressed": String(mine),
      on: { click: () => toggle(name, message, channel, store) },
    },
    emojiOf(name) ?? `:${name}:`,
    h("b", { text: users.length }),
  );
}

/** What a message's menu offers to react with. */
export function reactionItems(message, channel, store) {
  const items = OFFERED.map((name) => ({
    label: `${emojiOf(name) ?? ""} ${name.replaceAll("_", " ")}`.trim(),
    icon: icon("plus"),
    run: () => toggle(name, message, channel, store),
  }));
  return [{ heading: "React" }, ...items];
}

function toggle(name, message, channel, store) {
  return told(send("react", { user: store.me.id, channel, ts: message.ts, name }));
}
