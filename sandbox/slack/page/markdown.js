// The `markdown` block: the common part of Markdown that Slack shows. Nodes only, like mrkdwn.

import { h } from "./dom.js";
import { withEmoji } from "./emoji.js";
import { link } from "./mrkdwn.js";

const BLOCKS = [
  { starts: /^```/, read: readFence },
  { starts: /^#{1,6} /, read: readHeading },
  { starts: /^(?:-{3,}|\*{3,}|_{3,})\s*$/, read: (lines) => [h("hr"), lines.slice(1)] },
  { starts: /^> ?/, read: readQuote },
  { starts: /^\s*[-*+] /, read: (lines) => readList(lines, "ul", /^\s*[-*+] (.*)$/) },
  { starts: /^\s*\d+[.)] /, read: (lines) => readList(lines, "ol", /^\s*\d+[.)] (.*)$/) },
];

/** The nodes of a Markdown text. */
export function markdown(text) {
  const nodes = [];
  let lines = text.split("\n");
  while (lines.length) {
    const block = BLOCKS.find(({ starts }) => starts.test(lines[0]));
    const [node, rest] = (block?.read ?? readParagraph)(lines);
    if (node) nodes.push(node);
    lines = rest;
  }
  return nodes;
}

function readFence(lines) {
  const end = lines.findIndex((line, at) => at > 0 && line.startsWith("```"));
  const last = end < 0 ? lines.length : end;
  return [h("pre", { text: lines.slice(1, last).join("\n") }), lines.slice(last + 1)];
}

function readHeading(lines) {
  return [h("p", { class: "md-heading" }, inline(lines[0].replace(/^#+ /, ""))), lines.slice(1)];
}

function readQuote(lines) {
  const count = leading(lines, (line) => line.startsWith(">"));
  return [
    h(
      "blockquote",
      null,
      markdown(
        lines
          .slice(0, count)
          .map((line) => line.replace(/^> ?/, ""))
          .join("\n"),
      ),
    ),
    lines.slice(count),
  ];
}

function readList(lines, tag, item) {
  const count = leading(lines, (line) => item.test(line));
  return [
    h(
      tag,
      null,
      lines.slice(0, count).map((line) => h("li", null, inline(item.exec(line)[1]))),
    ),
    lines.slice(count),
  ];
}

function readParagraph(lines) {
  if (!lines[0].trim()) return [null, lines.slice(1)];
  const count = Math.max(
    1,
    leading(lines, (line) => line.trim() && !BLOCKS.some(({ starts }) => starts.test(line))),
  );
  return [h("p", { class: "text" }, inline(lines.slice(0, count).join("\n"))), lines.slice(count)];
}

function leading(lines, holds) {
  const end = lines.findIndex((line) => !holds(line));
  return end < 0 ? lines.length : end;
}

const INLINE =
  /`([^`]+)`|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s][^*]*)\*|\b_([^_]+)_\b|~~(.+?)~~|\[([^\]]+)\]\((https?:[^\s)]+|mailto:[^\s)]+)\)|(https?:\/\/[^\s<>()]+)/g;

function inline(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    nodes.push(withEmoji(text.slice(from, found.index)), styled(found));
    from = found.index + found[0].length;
  }
  return [...nodes, withEmoji(text.slice(from))];
}

function styled([, code, bold, strong, italic, emphasis, strike, label, url, address]) {
  if (code) return h("code", { text: code });
  if (bold ?? strong) return h("strong", null, inline(bold ?? strong));
  if (italic ?? emphasis) return h("em", null, inline(italic ?? emphasis));
  if (strike) return h("s", null, inline(strike));
  return link(url ?? address, label ? inline(label) : [address]);
}
