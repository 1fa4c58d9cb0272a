// The panel that plays Slackbot: a person picks the tool and its arguments, which otherwise a model does.

import { reason, send } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { h, iconButton } from "./dom.js";
import { busyWhile } from "./elements.js";
import { Surface } from "./surface.js";

export class Slackbot {
  #tools = new Map();

  constructor(store, { onClose }) {
    this.store = store;
    this.tool = h("select", { class: "field select", on: { change: () => this.#choose(this.tool.value) } });
    this.form = h("form", { on: { submit: (event) => this.#allow(event) } });
    this.suggestion = h("div", { class: "suggestions" });
    this.answer = h("div", { class: "answer", role: "status" });
    const head = h(
      "header",
      { class: "pane-head" },
      h("div", { class: "pane-title" }, h("h2", { text: "Slackbot" }), h("small", { text: "without a model" })),
      iconButton("close", "Close Slackbot", onClose),
    );
    this.node = h(
      "aside",
      {
        class: "pane side slackbot",
        "aria-label": "Slackbot",
        hidden: true,
        on: { keydown: (event) => event.key === "Escape" && onClose() },
      },
      head,
      h("div", { class: "tool-call" }, this.suggestion, h("label", null, "Tool", this.tool), this.form, this.answer),
    );
  }

  /** Shows or hides the panel; on showing, asks the app for its tools. */
  async toggle(open) {
    this.node.hidden = !open;
    if (!open) return;
    this.tool.focus();
    const found = await this.#ask("tools", {});
    if (!found) return;
    this.#tools = new Map(found.tools.map((tool) => [tool.name, tool]));
    this.tool.replaceChildren(...found.tools.map(({ name }) => h("option", { value: name, text: name })));
    this.#suggest(found.suggestion);
    this.#choose(this.tool.value);
  }

  #suggest({ about, tool, arguments: given }) {
    const fill = () => this.#choose(tool, given);
    const node = h("button", { type: "button", class: "suggestion", on: { click: fill } }, [
      h("code", { text: tool }),
      h("span", { text: about }),
    ]);
    this.suggestion.replaceChildren(...(this.#tools.has(tool) ? [node] : []));
  }

  #choose(name, given = { channel: this.store.place.channel }) {
    const { description, inputSchema: schema } = this.#tools.get(name);
    this.tool.value = name;
    this.answer.replaceChildren();
    const isRequired = (field) => schema.required?.includes(field) ?? false;
    const names = Object.keys(schema.properties).sort((one, other) => isRequired(other) - isRequired(one));
    const fields = names.map((field) => fieldNode(field, schema.properties[field], isRequired(field), given[field]));
    this.allow = h("button", { class: "button primary", text: "Allow once" });
    const deny = h("button", { type: "button", class: "button", text: "Deny", on: { click: () => this.#deny() } });
    this.form.replaceChildren(
      h("p", { text: description }),
      ...fields,
      h("div", { class: "block-actions" }, this.allow, deny),
    );
  }

  #deny() {
    this.answer.textContent = "You denied the call. The app wasn’t asked.";
  }

  #allow(event) {
    event.preventDefault();
    const { properties } = this.#tools.get(this.tool.value).inputSchema;
    const typed = [...new FormData(this.form)].filter(([, text]) => text.trim());
    const given = Object.fromEntries(typed.map(([field, text]) => [field, valueOf(properties[field].type, text)]));
    return busyWhile(this.allow, this.#call(this.tool.value, given));
  }

  async #call(tool, given) {
    const found = await this.#ask("call", { tool, arguments: given });
    if (!found) return;
    const nodes = renderBlocks(found.blocks, new Surface(this.store, {}, found.blocks));
    this.answer.replaceChildren(nodes.size ? h("div", { class: "blocks" }, [...nodes.values()]) : found.text);
  }

  // The answer; null, and the reason shown, where there is none.
  async #ask(what, body) {
    try {
      const found = await send(what, { user: this.store.me.id, ...body });
      if (found.ok !== false) return found;
      this.answer.textContent = reason(found);
    } catch (error) {
      this.answer.textContent = error.message;
    }
    return null;
  }
}

const HINTS = { array: "one a line", object: "name=value, one a line" };

function fieldNode(name, { type, enum: options, description }, required, value) {
  const many = type in HINTS;
  const props = { name, required, class: "field", autocomplete: "off" };
  const input = options
    ? h("select", { ...props, class: "field select" }, ["", ...options].map((each) => h("option", { value: each, text: each })))
    : h(many ? "textarea" : "input", { ...props, type: many ? null : type === "integer" ? "number" : "text" });
  input.value = many ? [value ?? []].flat().join("\n") : (value ?? "");
  const hint = [!required && "optional", description, HINTS[type]].filter(Boolean).join(" · ");
  return h("label", null, name, hint && h("small", { text: hint }), input);
}

// The value of JSON that a text stands for.
function valueOf(type, text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (type === "array") return lines;
  if (type === "object") return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
  return type === "integer" ? Number(text) : text.trim();
}
