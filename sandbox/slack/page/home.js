// The app's Home tab: a view that the bot publishes for each person.

import { send } from "./api.js";
import { renderBlocks } from "./blocks.js";
import { avatar, h } from "./dom.js";
import { Surface, told } from "./surface.js";

export class Home {
  #nodes = new Map();
  #surface = null;

  constructor(store) {
    this.store = store;
    this.blocks = h("div", { class: "blocks home-blocks" });
    this.node = h("div", { class: "home", tabindex: "0", role: "region", "aria-label": "Home tab" }, this.blocks);
    for (const topic of ["home", "workspace"]) store.on(topic, () => this.node.hidden || this.#draw());
    this.close();
  }

  close() {
    this.node.hidden = true;
    [this.#surface, this.#nodes] = [null, new Map()];
    this.blocks.replaceChildren();
  }

  /** Tells the bot that its Home tab was opened; it publishes what is to be seen. */
  open() {
    this.node.hidden = false;
    this.#draw();
    return told(send("home", { user: this.store.me.id, tab: "home" }));
  }

  #draw() {
    const view = this.store.home;
    if (!view) return this.#drawEmpty();
    if (this.#surface?.ref.view_id !== view.id)
      [this.#surface, this.#nodes] = [new Surface(this.store, { view_id: view.id }, view.blocks), new Map()];
    this.#surface.answers.adopt(view.blocks);
    this.#nodes = renderBlocks(view.blocks, this.#surface, this.#nodes);
    this.blocks.replaceChildren(...this.#nodes.values());
  }

  #drawEmpty() {
    [this.#surface, this.#nodes] = [null, new Map()];
    const name = this.store.bot?.real_name ?? "The app";
    const words = [h("h2", { text: name }), h("p", { text: "Nothing has been published here yet." })];
    this.blocks.replaceChildren(h("div", { class: "welcome" }, avatar(this.store.bot, 56), words));
  }
}
