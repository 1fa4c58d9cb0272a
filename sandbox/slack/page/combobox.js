// A field with a list: type to narrow it, arrows and Enter to choose. Holds one choice or, with `many`, several.

import { freshId, h, icon } from "./dom.js";
import { openBeside } from "./popup.js";

/**
 * Options are {value, label, description?, picture?, group?, raw}.
 * `find(text)` gives options or a promise of them, or {hint: words} when there is nothing to choose from yet.
 * `onChange(options)` may answer false (or a promise of it) to have the choice taken back.
 */
export class Combobox {
  #found = [];
  #active = -1;
  #popup = null;
  #asked = 0;

  constructor({
    find,
    onChange,
    chosen = [],
    many = false,
    most = Infinity,
    clearable = false,
    placeholder = "",
    field = {},
    wait = 0,
  }) {
    Object.assign(this, { find, onChange, chosen, many, most, clearable, placeholder, wait });
    this.listId = freshId("list");
    this.list = h("div", {
      id: this.listId,
      role: "listbox",
      popover: "manual",
      class: "listbox",
      "aria-label": "Options",
    });
    this.list.addEventListener("mousedown", (event) => event.preventDefault()); // keeps the focus in the field
    this.input = this.#inputNode(field);
    this.chips = h("span", { class: "chips" });
    this.clear = h(
      "button",
      {
        type: "button",
        class: "icon-button clear",
        "aria-label": "Clear",
        title: "Clear",
        on: { click: (event) => this.#cleared(event) },
      },
      icon("close", 14),
    );
    this.node = h(
      "div",
      { class: many ? "combobox many" : "combobox", on: { click: (event) => this.#clicked(event) } },
      this.chips,
      this.input,
      this.clear,
      icon("chevron", 16),
      this.list,
    );
    this.#show();
  }

  #inputNode(field) {
    return h("input", {
      id: field.id,
      type: "text",
      role: "combobox",
      autocomplete: "off",
      spellcheck: "false",
      autocapitalize: "off",
      "aria-expanded": "false",
      "aria-autocomplete": "list",
      "aria-controls": this.listId,
      "aria-label": field.labelled ? null : field.name || this.placeholder || "Choose",
      "aria-describedby": field.describedBy,
      on: {
        input: () => this.#search(this.input.value),
        keydown: (event) => this.#key(event),
        blur: () => this.#left(),
        focus: () => this.many || this.input.select(),
      },
    });
  }

  #show() {
    const empty = !this.chosen.length;
    this.input.placeholder = this.many && !empty ? "" : this.placeholder;
    if (!this.many) this.input.value = this.chosen[0]?.label ?? "";
    this.clear.hidden = empty || this.many || !this.clearable;
    this.chips.replaceChildren(...(this.many ? this.chosen.map((option) => this.#chip(option)) : []));
  }

  #chip(option) {
    const drop = (event) => {
      event.stopPropagation();
      this.#choose(this.chosen.filter((other) => other.value !== option.value));
    };
    const button = h(
      "button",
      { type: "button", "aria-label": `Remove ${option.label}`, on: { click: drop } },
      icon("close", 12),
    );
    return h("span", { class: "chip" }, option.picture?.(), h("span", { text: option.label }), button);
  }

  #clicked(event) {
    if (this.list.contains(event.target)) return;
    this.input.focus();
    this.#open();
  }

  #open() {
    if (this.#popup) return;
    this.#popup = openBeside(this.list, this.node, { width: "anchor" });
    this.input.setAttribute("aria-expanded", "true");
    this.#search(this.many ? this.input.value : "");
  }

  #close() {
    this.#popup?.close();
    this.#popup = null;
    this.#asked += 1;
    this.list.replaceChildren();
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  #left() {
    this.#close();
    this.input.value = this.many ? "" : (this.chosen[0]?.label ?? "");
  }

  async #search(text) {
    if (!this.#popup) return this.#open();
    const turn = (this.#asked += 1);
    if (this.wait) {
      this.#say("Looking…");
      await new Promise((resolve) => setTimeout(resolve, this.wait));
      if (turn !== this.#asked) return;
    }
    const found = await settled(this.find, text.trim());
    if (turn === this.#asked) this.#fill(found);
  }

  #say(hint) {
    this.#found = [];
    this.#active = -1;
    this.list.replaceChildren(h("div", { class: "list-hint", role: "presentation", text: hint }));
  }

  #fill(found) {
    if (found.hint || !found.length) return this.#say(found.hint ?? "No matches.");
    this.#found = found;
    this.list.replaceChildren(...this.#rows(found));
    const now = found.findIndex((option) => this.#isChosen(option));
    this.#move(this.many ? 0 : Math.max(0, now));
    this.#popup?.place();
  }

  #rows(found) {
    const rows = [];
    for (const [at, option] of found.entries()) {
      if (option.group && option.group !== found[at - 1]?.group)
        rows.push(h("div", { class: "menu-heading", role: "presentation", text: option.group }));
      rows.push(this.#row(option, at));
    }
    return rows;
  }

  #row(option, at) {
    const chosen = this.#isChosen(option);
    const words = h(
      "span",
      { class: "menu-words" },
      h("span", { text: option.label }),
      option.description && h("small", { text: option.description }),
    );
    const on = {
      click: (event) => {
        event.stopPropagation();
        this.#pick(option);
      },
      pointermove: () => this.#move(at, false),
    };
    return h(
      "div",
      { id: `${this.listId}-${at}`, role: "option", class: "option", "aria-selected": String(chosen), on },
      option.picture?.(),
      words,
      chosen && icon("check", 16),
    );
  }

  #isChosen(option) {
    return this.chosen.some((other) => other.value === option.value);
  }

  #move(to, scroll = true) {
    if (!this.#found.length) return;
    this.#active = (to + this.#found.length) % this.#found.length;
    for (const row of this.list.querySelectorAll(".option.active")) row.classList.remove("active");
    const row = document.getElementById(`${this.listId}-${this.#active}`);
    row.classList.add("active");
    if (scroll) row.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", row.id);
  }

  #key(event) {
    const open = this.#popup !== null;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (open) this.#move(this.#active + (event.key === "ArrowDown" ? 1 : -1));
      else this.#open();
    } else if (event.key === "Enter") {
      if (open && this.#found[this.#active]) this.#pick(this.#found[this.#active]);
      else if (!open) this.#open();
    } else if (event.key === "Escape" && open) this.#close();
    else if (event.key === "Backspace" && this.many && !this.input.value && this.chosen.length)
      this.#choose(this.chosen.slice(0, -1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #pick(option) {
    if (!this.many) {
      this.#close();
      this.#choose([option]);
      return;
    }
    this.input.value = "";
    if (this.#isChosen(option)) this.#choose(this.chosen.filter((other) => other.value !== option.value));
    else if (this.chosen.length < this.most) this.#choose([...this.chosen, option]);
    this.#search("");
  }

  #cleared(event) {
    event.stopPropagation();
    this.#choose([]);
  }

  async #choose(options) {
    const before = this.chosen;
    this.chosen = options;
    this.#show();
    this.node.dispatchEvent(new Event("change", { bubbles: true }));
    if ((await this.onChange(options)) !== false) return;
    this.chosen = before;
    this.#show();
  }
}

async function settled(find, text) {
  try {
    return await find(text);
  } catch (error) {
    return { hint: error.message };
  }
}
