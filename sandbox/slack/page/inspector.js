// The drawer with the raw traffic of the bot, with the local Slack and with the services behind it, newest first.

import { read } from "./api.js";
import { clockTime } from "./dates.js";
import { h, icon, iconButton } from "./dom.js";
import { toast } from "./toast.js";

const KEPT = 200;
const WAYS = {
  slack_to_bot: ["→", "Slack to bot"],
  bot_to_slack: ["←", "Bot to Slack"],
  bot_to_service: ["⇢", "Bot to service"],
};
const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

export class Inspector {
  #entries = new Map();
  #rows = new Map();

  constructor(store, { onClose }) {
    this.store = store;
    this.count = h("small");
    this.filter = h("input", {
      type: "search",
      class: "field",
      placeholder: "Filter",
      "aria-label": "Filter the traffic",
      on: { input: () => this.#sift() },
    });
    this.list = h("div", { class: "traffic" });
    this.empty = h("p", {
      class: "traffic-empty",
      text: "Nothing yet. Send a command and each request appears here, with its answer.",
    });
    const head = h(
      "header",
      { class: "pane-head" },
      h("div", { class: "pane-title" }, h("h2", { text: "Inspector" }), this.count),
      iconButton("close", "Close inspector", onClose),
    );
    this.node = h(
      "aside",
      {
        class: "pane side inspector",
        "aria-label": "Inspector",
        hidden: true,
        on: { keydown: (event) => event.key === "Escape" && onClose() },
      },
      head,
      h("div", { class: "traffic-filter" }, this.filter),
      this.empty,
      this.list,
    );
    store.on("traffic", (entry) => this.node.hidden || this.#put(entry));
  }

  /** Shows or hides the drawer; on showing, reads what happened before. A closed one holds nothing. */
  async toggle(open) {
    this.node.hidden = !open;
    if (!open) return this.#empty();
    try {
      for (const entry of (await read("traffic", {})).entries) this.#put(entry);
    } catch (error) {
      toast(error.message, "error");
    }
    this.filter.focus();
  }

  #empty() {
    this.#entries.clear();
    this.#rows.clear();
    this.list.replaceChildren();
  }

  #put(entry) {
    const row = rowNode(entry, this.store);
    const known = this.#rows.get(entry.id);
    row.open = known?.open ?? false;
    if (known) known.replaceWith(row);
    else this.list.insertBefore(row, this.#rowAfter(entry.id));
    this.#rows.set(entry.id, row);
    this.#entries.set(entry.id, entry);
    this.#trim();
    this.#sift();
  }

  // Newest first, in whatever order they came to be known.
  #rowAfter(id) {
    return [...this.list.children].find((row) => Number(row.dataset.id) < Number(id)) ?? null;
  }

  #trim() {
    const [oldest] = this.#rows.keys();
    if (this.#rows.size <= KEPT) return;
    this.#rows.get(oldest).remove();
    this.#rows.delete(oldest);
    this.#entries.delete(oldest);
  }

  #sift() {
    const words = this.filter.value.toLowerCase();
    for (const [id, row] of this.#rows)
      row.hidden = words !== "" && !JSON.stringify(this.#entries.get(id)).toLowerCase().includes(words);
    const shown = [...this.#rows.values()].filter((row) => !row.hidden).length;
    this.count.textContent = shown === 1 ? "1 request" : `${shown} requests`;
    this.empty.hidden = this.#rows.size > 0;
  }
}

function rowNode(entry, store) {
  const [arrow, way] = WAYS[entry.direction] ?? ["·", entry.direction];
  const good = /^(?:2\d\d|ok)/i.test(String(entry.status)) && entry.response?.ok !== false;
  const status = h(
    "span",
    { class: good ? "status good" : "status bad" },
    icon(good ? "check" : "close", 12),
    String(entry.status ?? "none"),
  );
  const time = Number.isFinite(Number(entry.at)) ? Number(entry.at) : Date.parse(entry.at) / 1000;
  const head = h("summary", null, [
    h(
      "span",
      { class: `way ${entry.direction}`, title: way },
      h("span", { "aria-hidden": "true", text: arrow }),
      h("span", { class: "hidden-words", text: way }),
    ),
    h("span", { class: "what", text: entry.what }),
    status,
    h("span", { class: "took", text: `${Math.round(entry.ms ?? 0)} ms` }),
  ]);
  const row = h("details", { class: "request", data: { id: entry.id } }, head);
  row.addEventListener(
    "toggle",
    () => row.open && row.childElementCount === 1 && row.append(detailsNode(entry, way, clockTime(time, store.zone))),
  );
  return row;
}

// Drawn only when opened: there are many, and few are looked at.
function detailsNode(entry, way, time) {
  return h(
    "div",
    { class: "request-details" },
    h("small", { text: `${way}, ${time}` }),
    part("Request", entry.request),
    part("Answer", entry.response),
  );
}

function part(name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null, null, 2);
  const copy = async () => {
    await navigator.clipboard?.writeText(text);
    toast("Copied.");
  };
  return h(
    "section",
    null,
    h("div", { class: "part-head" }, h("h3", { text: name }), iconButton("copy", `Copy ${name.toLowerCase()}`, copy)),
    h("pre", { class: "json", tabindex: "0" }, coloured(text)),
  );
}

function coloured(text) {
  const nodes = [];
  let from = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [whole, string, colon] = found;
    const kind = string ? (colon ? "key" : "string") : "literal";
    nodes.push(text.slice(from, found.index), h("span", { class: `json-${kind}`, text: string ?? whole }), colon ?? "");
    from = found.index + whole.length;
  }
  return [...nodes, text.slice(from)];
}
