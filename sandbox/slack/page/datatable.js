// The data table block: pages of rows, sorted by a click on a heading, with buttons in its cells.

import { freshId, h, icon } from "./dom.js";
import { elementNode } from "./elements.js";
import { richText } from "./richtext.js";

const PAGE_SIZE = 5; // Slack's, where the app says nothing
const byWords = new Intl.Collator(undefined, { sensitivity: "base" });

/** A data table as a node. What it is sorted by, and which page it shows, is the reader's alone: the app never hears of it. */
export function dataTableNode(block, surface) {
  const [head, ...rows] = block.rows;
  const size = block.page_size ?? PAGE_SIZE;
  const view = { column: null, descending: false, page: 0 };
  const caption = freshId("caption");
  const body = h("tbody", null);
  const pager = h("div", { class: "table-pager" });
  const headings = head.map((cell, at) => heading(cell, sortable(rows, at) ? () => sort(at) : null));
  const table = h(
    "table",
    null,
    h("caption", { id: caption, text: block.caption }),
    h("thead", null, h("tr", null, headings)),
    body,
  );

  function sort(column) {
    view.descending = view.column === column && !view.descending;
    view.column = column;
    view.page = 0;
    draw();
  }

  function turn(by) {
    view.page += by;
    draw();
    const [back, on] = pager.querySelectorAll("button");
    (by < 0 ? (back.disabled ? on : back) : on.disabled ? back : on).focus();
  }

  function draw() {
    headings.forEach((node, at) => {
      if (at === view.column) node.setAttribute("aria-sort", view.descending ? "descending" : "ascending");
      else node.removeAttribute("aria-sort");
    });
    const start = view.page * size;
    const shown = sorted(rows, view).slice(start, start + size);
    body.replaceChildren(...shown.map((cells) => h("tr", null, cells.map((cell, at) => cellNode(cell, at, block, surface)))));
    pager.hidden = rows.length <= size;
    const words = `${start + 1}–${start + shown.length} of ${rows.length}`;
    pager.replaceChildren(
      turnButton("Earlier rows", start === 0, () => turn(-1)),
      h("span", { "aria-live": "polite", text: words }),
      turnButton("Later rows", start + size >= rows.length, () => turn(1)),
    );
  }

  draw();
  const region = h("div", { class: "block-table", tabindex: "0", role: "region", "aria-labelledby": caption }, table);
  return h("div", { class: "block-data-table" }, region, pager);
}

function heading(cell, sort) {
  const words = String(cell.text ?? cell.value);
  if (!sort) return h("th", { scope: "col", text: words });
  return h("th", { scope: "col" }, h("button", { type: "button", on: { click: sort } }, words, icon("down", 12)));
}

function sortable(rows, at) {
  return rows.length > 1 && rows.every((cells) => cells[at].type !== "action");
}

// A column of nothing but numbers is sorted by them, every other one by its letters.
function sorted(rows, { column, descending }) {
  if (column === null) return rows;
  const numeric = rows.every((cells) => cells[column].type === "raw_number");
  const compared = numeric
    ? (one, other) => one[column].value - other[column].value
    : (one, other) => byWords.compare(words(one[column]), words(other[column]));
  const found = [...rows].sort(compared);
  return descending ? found.reverse() : found;
}

function words(cell) {
  return cell.type === "rich_text" ? richTextWords(cell) : String(cell.text ?? cell.value);
}

function richTextWords(part) {
  return (part.elements ?? []).map((one) => one.text ?? one.name ?? richTextWords(one)).join("");
}

function cellNode(cell, at, block, surface) {
  const isHeader = at === (block.row_header_column_index ?? 0);
  const props = isHeader ? { scope: "row" } : { class: cell.type === "raw_number" ? "number" : null };
  return h(isHeader ? "th" : "td", props, inside(cell, block, surface));
}

function inside(cell, block, surface) {
  if (cell.type === "rich_text") return richText(cell.elements, surface.names);
  if (cell.type === "action") return elementNode(cell.element, block, surface, { name: "" });
  return String(cell.text ?? cell.value);
}

function turnButton(label, disabled, click) {
  const props = { type: "button", class: "icon-button", "aria-label": label, title: label, ".disabled": disabled };
  return h("button", { ...props, on: { click } }, icon("chevron"));
}
