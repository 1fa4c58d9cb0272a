// Slack's rich_text block, and the few steps between it and plain text for input.

import { h } from "./dom.js";
import { emojiOf } from "./emoji.js";
import { channelNode, dateNode, emojiNode, groupNode, link, mention } from "./mrkdwn.js";

const PARTS = {
  rich_text_section: (part, names) =>
    h(
      "div",
      { class: "text" },
      part.elements.map((element) => inlineNode(element, names)),
    ),
  rich_text_preformatted: (part, names) =>
    h(
      "pre",
      null,
      part.elements.map((element) => inlineNode(element, names)),
    ),
  rich_text_quote: (part, names) =>
    h(
      "blockquote",
      { class: "text" },
      part.elements.map((element) => inlineNode(element, names)),
    ),
  rich_text_list: list,
};

const INLINE = {
  text: (element) => element.text,
  link: (element) =>
    /^(?:https?:|mailto:)/i.test(element.url)
      ? link(element.url, [element.text ?? element.url])
      : (element.text ?? element.url),
  user: (element, names) => mention(element.user_id, null, names),
  channel: (element, names) => channelNode(element.channel_id, null, names),
  usergroup: (element, names) => groupNode(element.usergroup_id, "", names),
  broadcast: (element) => h("span", { class: "mention loud", text: `@${element.range}` }),
  emoji: (element) => emojiNode(element.name, emojiOf(element.name) ?? `:${element.name}:`),
  date: (element, names) => dateNode(element.timestamp, element.format, element.fallback ?? "", names, element.url),
  color: (element) => h("span", null, h("i", { class: "swatch", style: { background: element.value } }), element.value),
};

const STYLE_TAGS = { bold: "strong", italic: "em", strike: "s", underline: "u", code: "code" };

/** The nodes of a rich_text block's `elements`. */
export function richText(elements, names) {
  return elements.map((part) => PARTS[part.type]?.(part, names) ?? h("div", { class: "text", text: `[${part.type}]` }));
}

function list(part, names) {
  const tag = part.style === "ordered" ? "ol" : "ul";
  const indent = { "--indent": String(part.indent ?? 0) };
  const items = part.elements.map((item) => h("li", null, richText([item], names)));
  return h(tag, { class: "rich-list", style: indent, start: part.offset ? part.offset + 1 : null }, items);
}

function inlineNode(element, names) {
  const node = INLINE[element.type]?.(element, names) ?? `[${element.type}]`;
  const tags = Object.entries(element.style ?? {}).filter(([name, on]) => on && STYLE_TAGS[name]);
  return tags.reduce((inner, [name]) => h(STYLE_TAGS[name], null, inner), node);
}

/** A rich_text value as plain text, for the field in which it is edited. */
export function plainOf(richTextValue) {
  const lineOf = (part) =>
    part.elements.map((element) => (element.elements ? lineOf(element) : (element.text ?? element.url ?? ""))).join("");
  return (richTextValue?.elements ?? []).map(lineOf).join("\n");
}

/** What was typed as a rich_text value, the shape that Slack delivers. */
export function richOf(text) {
  if (!text) return null;
  return { type: "rich_text", elements: [{ type: "rich_text_section", elements: [{ type: "text", text }] }] };
}
