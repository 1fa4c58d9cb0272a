// The attachments of an app's message, as Slack still shows them: a coloured bar with title, text, fields and blocks.

import { renderBlocks } from "./blocks.js";
import { h } from "./dom.js";
import { link, mrkdwn, unescaped } from "./mrkdwn.js";
import { namesIn } from "./surface.js";

const COLORS = { good: "#2eb67d", warning: "#ecb22e", danger: "#e01e5a" };

/** A node for each attachment of the message. */
export function attachmentNodes(message, surface) {
  return (message.attachments ?? []).map((attachment) => attachmentNode(attachment, surface));
}

function attachmentNode(attachment, surface) {
  const names = namesIn(surface.store);
  const color = COLORS[attachment.color] ?? `#${String(attachment.color ?? "").replace(/^#/, "")}`;
  const bar = /^#(?:[0-9a-f]{3}){1,2}$/i.test(color) ? { "border-color": color } : {};
  const said = (name) => attachment[name] && h("div", { class: "text" }, mrkdwn(String(attachment[name]), names));
  const inside = h(
    "div",
    { class: "attachment", style: bar },
    title(attachment),
    said("text"),
    (attachment.fields ?? []).map((field) => fieldNode(field, names)),
    ...renderBlocks(attachment.blocks ?? [], surface, new Map()).values(),
    attachment.footer && h("div", { class: "attachment-footer", text: unescaped(String(attachment.footer)) }),
  );
  return h("div", null, said("pretext"), inside);
}

function title({ title: text, title_link: url }) {
  if (!text) return null;
  const shown = unescaped(String(text));
  return h("div", { class: "attachment-title" }, /^https?:\/\//.test(url ?? "") ? link(url, [shown]) : shown);
}

function fieldNode({ title: name, value }, names) {
  return h("div", { class: "text" }, h("b", { text: `${name ?? ""} ` }), mrkdwn(String(value ?? ""), names));
}
