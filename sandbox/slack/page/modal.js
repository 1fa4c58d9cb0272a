// The person's stack of modals: one dialog that shows the topmost view.

import { reason, send } from "./api.js";
import { renderBlocks, showError } from "./blocks.js";
import { h, icon, iconButton } from "./dom.js";
import { busyWhile } from "./elements.js";
import { plain } from "./mrkdwn.js";
import { Surface, told } from "./surface.js";

export class Modals {
  #surfaces = new Map(); // of every view in the stack, so that going back finds what was typed
  #closed = new Set(); // asked to close: news that still names them is late
  #shown = null;
  #nodes = new Map();

  constructor(store) {
    this.store = store;
    this.title = h("h2", { id: "modal-title", tabindex: "-1" });
    this.back = iconButton("back", "Back", () => this.#close(false));
    this.trouble = h("div", { class: "modal-trouble", role: "alert" });
    this.blocks = h("div", { class: "blocks" });
    this.body = h("div", { class: "modal-body" }, this.trouble, this.blocks);
    this.cancel = h("button", { type: "button", class: "button", on: { click: () => this.#close(false) } });
    this.submit = h("button", { type: "submit", class: "button primary" });
    const head = h(
      "header",
      { class: "modal-head" },
      this.back,
      this.title,
      iconButton("close", "Close", () => this.#close(true)),
    );
    const foot = h("footer", { class: "modal-foot" }, this.cancel, this.submit);
    const form = h(
      "form",
      { novalidate: true, on: { submit: (event) => this.#submitted(event) } },
      head,
      this.body,
      foot,
    );
    this.node = h(
      "dialog",
      { class: "modal", "aria-labelledby": "modal-title", on: { cancel: (event) => this.#cancelled(event) } },
      form,
    );
    for (const topic of ["views", "workspace"]) store.on(topic, () => this.#draw());
    store.on("view_errors", ({ view_id: id, errors }) => this.#showErrors(id, errors));
  }

  get #top() {
    return this.store.views.filter((view) => !this.#closed.has(view.id)).at(-1) ?? null;
  }

  /** Closes what only informs. False where a form is open: what was typed there would be lost. */
  leave() {
    if (this.#top?.submit) return false;
    if (this.#top) this.#close(true);
    return true;
  }

  #draw() {
    const views = this.store.views;
    for (const id of this.#surfaces.keys()) if (!views.some((view) => view.id === id)) this.#surfaces.delete(id);
    for (const id of this.#closed) if (!views.some((view) => view.id === id)) this.#closed.delete(id);
    const view = this.#top;
    if (!view) return this.#hide();
    const same = this.#shown?.id === view.id;
    if (same && JSON.stringify(this.#shown) === JSON.stringify(view)) return;
    this.#drawFrame(view, views.length > 1);
    this.#drawBlocks(view, same);
    this.#shown = view;
    if (!this.node.open) this.node.showModal();
    if (!same) this.#focus(view);
  }

  #hide() {
    this.#shown = null;
    this.#nodes = new Map();
    if (this.node.open) this.node.close();
  }

  #drawFrame(view, stacked) {
    this.title.textContent = plain(view.title);
    this.back.hidden = !stacked;
    this.submit.hidden = !view.submit;
    this.submit.replaceChildren(h("span", { class: "button-text", text: plain(view.submit) }));
    this.cancel.textContent = plain(view.close) || (view.submit ? "Cancel" : "Close");
    this.trouble.replaceChildren();
  }

  #drawBlocks(view, same) {
    const surface = this.#surfaceOf(view);
    surface.answers.adopt(view.blocks);
    const focus = same ? rememberFocus(this.blocks) : () => {};
    this.#nodes = renderBlocks(view.blocks, surface, same ? this.#nodes : new Map());
    for (const node of this.#nodes.values()) if (node.classList.contains("wrong")) showError(node, null);
    this.blocks.replaceChildren(...this.#nodes.values());
    focus();
    if (!same) this.body.scrollTop = 0;
  }

  #surfaceOf(view) {
    if (!this.#surfaces.has(view.id))
      this.#surfaces.set(view.id, new Surface(this.store, { view_id: view.id }, view.blocks));
    return this.#surfaces.get(view.id);
  }

  #focus(view) {
    const wanted = view.blocks.find((block) => block.element?.focus_on_load);
    const first = wanted && this.blocks.querySelector(`[data-block="${CSS.escape(wanted.block_id)}"]`);
    const touch = matchMedia("(pointer: coarse)").matches; // a keyboard that jumps up unasked hides half the form
    const place = first ?? (touch ? null : this.blocks);
    (place?.querySelector("input:not([disabled]), textarea") ?? this.title).focus();
  }

  #cancelled(event) {
    if (event.target !== this.node) return;
    event.preventDefault();
    this.#close(true);
  }

  // The cross and Escape end the whole stack, as Slack's do; Cancel and the arrow only the topmost view.
  async #close(clear) {
    const view = this.#shown;
    if (!view || this.submit.getAttribute("aria-busy")) return;
    const ending = clear ? this.store.views.map(({ id }) => id) : [view.id];
    for (const id of ending) this.#closed.add(id);
    this.#draw();
    const went = await told(send("close", { user: this.store.me.id, view_id: view.id, clear }));
    if (went) return;
    for (const id of ending) this.#closed.delete(id);
    this.#draw();
  }

  #submitted(event) {
    event.preventDefault();
    const view = this.#shown;
    if (!view?.submit || this.submit.getAttribute("aria-busy")) return;
    const surface = this.#surfaceOf(view);
    this.trouble.replaceChildren();
    const problems = surface.answers.problems(view.blocks);
    if (Object.keys(problems).length) this.#showErrors(view.id, problems);
    else busyWhile(this.submit, this.#send(view, surface));
  }

  async #send(view, surface) {
    try {
      const answer = await send("submit", {
        user: this.store.me.id,
        view_id: view.id,
        state: { values: surface.answers.values },
      });
      if (answer.errors) this.#showErrors(view.id, answer.errors);
      else if (answer.ok === false) this.#say(reason(answer));
    } catch (error) {
      this.#say(error.message);
    }
  }

  #say(text) {
    this.trouble.replaceChildren(
      h("div", { class: "block-alert error" }, icon("error"), h("div", { class: "text", text })),
    );
    this.body.scrollTop = 0;
  }

  #showErrors(id, errors) {
    if (this.#shown?.id !== id) return;
    const blocks = [...this.blocks.children].filter((node) => node.classList.contains("block-input"));
    for (const node of blocks) showError(node, errors[node.dataset.block] ?? null);
    const wrong = blocks.filter((node) => node.dataset.block in errors);
    const homeless = Object.entries(errors).filter(([block]) => !wrong.some((node) => node.dataset.block === block));
    if (homeless.length) this.#say(homeless.map(([, text]) => text).join(" "));
    wrong[0]?.scrollIntoView({ block: "nearest" });
    wrong[0]?.querySelector("input, textarea")?.focus({ preventScroll: true });
  }
}

// Gives the function that puts focus and caret back after the blocks were exchanged.
function rememberFocus(place) {
  const node = document.activeElement;
  if (!place.contains(node)) return () => {};
  const { selectionStart, selectionEnd } = node;
  const block = node.closest("[data-block]")?.dataset.block;
  const action = node.closest("[data-action]")?.dataset.action;
  return () => {
    const again = node.isConnected ? node : sameField(place, block, action);
    again?.focus({ preventScroll: true });
    if (Number.isInteger(selectionStart) && again?.setSelectionRange)
      again.setSelectionRange(selectionStart, selectionEnd);
  };
}

function sameField(place, block, action) {
  const found = place.querySelector(
    `[data-block="${CSS.escape(block ?? "")}"] [data-action="${CSS.escape(action ?? "")}"]`,
  );
  return found?.matches("input, textarea, button") ? found : found?.querySelector("input, textarea, button");
}
