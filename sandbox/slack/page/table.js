// The table block: its first row is the heading, columns follow `column_settings`.

import { h } from "./dom.js";
import { richText } from "./richtext.js";

const ALIGNED = { left: "left", center: "center", right: "right" };

/** A table block as a node that scrolls sideways when it is wider than its message. */
export function tableNode(block, names) {
  const [head, ...rows] = block.rows;
  const row = (cells, tag) =>
    h(
      "tr",
      null,
      cells.map((cell, at) => cellNode(cell, tag, block.column_settings?.[at], names)),
    );
  const table = h(
    "table",
    null,
    h("thead", null, row(head ?? [], "th")),
    h(
      "tbody",
      null,
      rows.map((cells) => row(cells, "td")),
    ),
  );
  return h("div", { class: "block-table", tabindex: "0", role: "region", "aria-label": "Table" }, table);
}

function cellNode(cell, tag, column, names) {
  const inside = cell.type === "rich_text" ? richText(cell.elements, names) : String(cell.text ?? cell.value ?? "");
  const style = { "text-align": ALIGNED[column?.align] ?? "left" };
  return h(tag, { style, class: column?.is_wrapped ? "wrapped" : null, scope: tag === "th" ? "col" : null }, inside);
}
