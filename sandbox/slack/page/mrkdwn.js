// Slack's mrkdwn as nodes. Text goes into text nodes only, so nothing that a message holds can become markup.
// `names` is what references need: {user(id), channel(id), me, zone}.

import { dateText, fullTime } from "./dates.js";
import { h } from "./dom.js";
import { emojiOf, withEmoji } from "./emoji.js";

const FENCE = /```([\s\S]+?)```/g;
const QUOTED = /^(?:&gt;|>) ?/;
const STYLES = { "*": "strong", _: "em", "~": "s" };
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };
const SAFE_LINK = /^(?:https?:\/\/|mailto:|tel:)/i;

/** The nodes of a mrkdwn text, block parts (code, quotes) included. */
export function mrkdwn(text, names) {
  const nodes = [];
  let from = 0;
  for (const fence of text.matchAll(FENCE)) {
    nodes.push(...paragraphs(text.slice(from, fence.index).replace(/\n$/, ""), names));
    nodes.push(h("pre", { text: bare(fence[1].replace(/^\n/, "")) }));
    from = fence.index + fence[0].length;
  }
  nodes.push(...paragraphs(from ? text.slice(from).replace(/^\n/, "") : text, names));
  return nodes;
}

/** A text object of Block Kit, of either type, as nodes. */
export function textNodes(text, names) {
  if (!text) return [];
  if (text.type === "mrkdwn") return mrkdwn(text.text, names);
  return [text.emoji === false ? text.text : withEmoji(text.text)];
}

const STRANGERS = { user: () => null, group: () => null, channel: () => null };

/** A text object without its marks, for names of controls and for reading aloud. */
export function plain(text, names = STRANGERS) {
  return text ? h("span", null, textNodes(text, names)).textContent : "";
}

function paragraphs(text, names) {
  if (!text) return [];
  const nodes = [];
  for (const { quote, lines } of runs(text.split("\n"))) {
    const inside = inline(lines.join("\n"), names);
    nodes.push(...(quote ? [h("blockquote", null, inside)] : inside));
  }
  return nodes;
}

// Neighbouring lines of one kind, quoted or not, belong together.
function runs(lines) {
  const found = [];
  for (const line of lines) {
    const quote = QUOTED.test(line);
    if (found.at(-1)?.quote !== quote) found.push({ quote, lines: [] });
    found.at(-1).lines.push(quote ? line.replace(QUOTED, "") : line);
  }
  return found;
}

// Each reader looks at one place of the text and gives {node, end}, or null when it is not its kind of thing.
const READERS = [readCode, readReference, readStyle, readEmoji, readEntity, readAddress];

function inline(text, names) {
  const nodes = [];
  const closings = closingsOf(text);
  let plainFrom = 0;
  for (let at = 0; at < text.length;) {
    const found = readAt(text, at, names, closings);
    if (found) {
      nodes.push(text.slice(plainFrom, at), found.node);
      plainFrom = found.end;
    }
    at = found ? found.end : at + 1;
  }
  return [...nodes, text.slice(plainFrom)].filter((node) => node !== "");
}

function readAt(text, at, names, closings) {
  for (const reader of READERS) {
    const found = reader(text, at, names, closings);
    if (found) return found;
  }
  return null;
}

function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function readCode(text, at) {
  const found = text[at] === "`" && matchAt(/`([^`\n]+)`/y, text, at);
  return found ? { node: h("code", null, breakable(bare(found[1]))), end: at + found[0].length } : null;
}

function readReference(text, at, names) {
  const found = text[at] === "<" && matchAt(/<([^<>\n]+)>/y, text, at);
  return found ? { node: reference(found[1], names), end: at + found[0].length } : null;
}

function readEmoji(text, at) {
  const found = text[at] === ":" && matchAt(/:([a-z0-9_+-]+):(?::skin-tone-[2-6]:)?/y, text, at);
  const character = found && emojiOf(found[1]);
  if (!character) return null;
  return { node: emojiNode(found[1], character), end: at + found[0].length };
}

function readEntity(text, at) {
  const found = text[at] === "&" && matchAt(/&(?:amp|lt|gt);/y, text, at);
  return found ? { node: ENTITIES[found[0]], end: at + found[0].length } : null;
}

function readAddress(text, at) {
  if (text[at] !== "h" || /\w/.test(text[at - 1] ?? "")) return null;
  const found = matchAt(/https?:\/\/[^\s<>|"`]+/y, text, at);
  const url = found?.[0].split(/&[lg]t;/)[0].replace(/(?<![.,;:!?)*_~'])[.,;:!?)*_~']+$/, "");
  return url ? { node: link(unescaped(url), breakable(unescaped(url))), end: at + url.length } : null;
}

function readStyle(text, at, names, closings) {
  const mark = text[at];
  const tag = STYLES[mark];
  if (!tag || /[\p{L}\p{N}]/u.test(text[at - 1] ?? " ") || /[\s]/.test(text[at + 1] ?? " ") || text[at + 1] === mark)
    return null;
  const end = closing(closings[mark], at);
  return text[end] === mark ? { node: h(tag, null, inline(text.slice(at + 1, end), names)), end: end + 1 } : null;
}

// For each mark the places where it would end a style (after a character, before a non-word one, outside of code and
// references) and those where a line ends, which no style outlives. The first place stands last.
function closingsOf(text) {
  const places = { "*": [], _: [], "~": [] };
  for (const { 0: found, index: at } of text.matchAll(/`[^`\n]+`|<[^<>\n]+>|[*_~\n]/g)) {
    if (found === "\n") for (const each of Object.values(places)) each.push(at);
    else if (!/\s/.test(text[at - 1]) && !/[\p{L}\p{N}]/u.test(text[at + 1] ?? " ")) places[found]?.push(at);
  }
  for (const each of Object.values(places)) each.reverse();
  return places;
}

// The first of the places behind *at*. The reader never goes back, so what is passed is dropped: a text is read once,
// however many marks in it are never closed.
function closing(places, at) {
  while (places.at(-1) <= at) places.pop();
  return places.at(-1);
}

function reference(inside, names) {
  const [target, label] = cut(inside, "|");
  if (target.startsWith("@")) return mention(target.slice(1), label, names);
  if (target.startsWith("#")) return channelNode(target.slice(1), label, names);
  if (target.startsWith("!")) return special(target.slice(1), label, names);
  const url = unescaped(target);
  if (!SAFE_LINK.test(url)) return `<${unescaped(inside)}>`; // not a link that a person could want to follow
  return link(url, label ? inline(label, names) : breakable(url.replace(/^mailto:/, "")));
}

function special(command, label, names) {
  const [kind, ...rest] = command.split("^");
  if (kind === "date")
    return dateNode(Number(rest[0]), unescaped(rest[1] ?? ""), unescaped(label ?? ""), names, rest[2]);
  if (kind === "subteam") return groupNode(rest[0], label, names);
  return h("span", { class: "mention loud", text: `@${unescaped(label ?? kind).replace(/^@/, "")}` });
}

/** A link that opens in a tab of its own. */
function link(url, shown) {
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, shown);
}

/** The name of a person, marked when it is the reader's own. */
function mention(id, label, names) {
  const name = names.user(id)?.real_name ?? (label ? unescaped(label) : id);
  return h("span", { class: id === names.me ? "mention me" : "mention", text: `@${name}` });
}

/** The handle of a user group. */
function groupNode(id, label, names) {
  const handle = names.group(id) ?? (label ? unescaped(label) : id);
  return h("span", { class: "mention", text: `@${handle.replace(/^@/, "")}` });
}

/** The name of a channel. */
function channelNode(id, label, names) {
  return h("span", { class: "mention", text: `#${names.channel(id)?.name ?? (label ? unescaped(label) : id)}` });
}

/** A moment, in the reader's time zone. */
function dateNode(seconds, pattern, fallback, names, url) {
  const text = dateText(seconds, pattern, fallback, names.zone);
  if (url && SAFE_LINK.test(url)) return link(url, [text]);
  const title = Number.isFinite(seconds) ? fullTime(seconds, names.zone) : null;
  return h("time", { title, text });
}

/** An emoji that screen readers call by its name. */
function emojiNode(name, character) {
  return h("span", {
    class: "emoji",
    role: "img",
    "aria-label": `${name.replaceAll("_", " ")} emoji`,
    title: `:${name}:`,
    text: character,
  });
}

/** Text without Slack's three escapes. */
export function unescaped(text) {
  return text.replace(/&(?:amp|lt|gt);/g, (entity) => ENTITIES[entity]);
}

const BREAKS = /(?<=[^/]\/)(?=[^/])/; // after a slash of a path
const LONG = 24; // characters: what is shorter fits into any line

// A long address may go on in the next line at a slash, not only in the middle of a word.
function breakable(text) {
  if (text.length < LONG) return [text];
  return text.split(BREAKS).flatMap((part, at) => (at ? [h("wbr"), part] : [part]));
}

// What code shows: references as their label or address, escapes as their character.
function bare(text) {
  return unescaped(text.replace(/<([^<>\n]+)>/g, (_, inside) => cut(inside, "|")[1] ?? inside.replace(/^mailto:/, "")));
}

function cut(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}
