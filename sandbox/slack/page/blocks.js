// Block Kit's layout blocks as nodes. What this page cannot draw is named in a visible box.

import { freshId, h, icon } from "./dom.js";
import { elementNode } from "./elements.js";
import { plain, textNodes } from "./mrkdwn.js";

const BLOCKS = {
  section: sectionNode,
  header: (block, surface) =>
    h("div", { class: "block-header", role: "heading", "aria-level": "2" }, textNodes(block.text, surface.names)),
  divider: () => h("hr", { class: "block-divider" }),
  context: contextNode,
  actions: (block, surface) =>
    h(
      "div",
      { class: "block-actions" },
      block.elements.map((element) => elementNode(element, block, surface, { name: nameOf(element) })),
    ),
  input: inputNode,
  alert: alertNode,
};

/**
 * The nodes of `blocks`, in order. With `before` (a map from an earlier call), nodes of unchanged blocks are used
 * again, so that what a person is typing in keeps its caret. Returns the new map, block JSON -> node.
 */
export function renderBlocks(blocks, surface, before = new Map()) {
  const nodes = new Map();
  for (const block of blocks) {
    let key = JSON.stringify(block);
    while (nodes.has(key)) key += "#"; // two dividers may be alike
    nodes.set(key, before.get(key) ?? blockNode(block, surface));
  }
  return nodes;
}

function blockNode(block, surface) {
  const node =
    BLOCKS[block.type]?.(block, surface) ??
    h("div", { class: "unsupported", text: `Unsupported block: ${block.type}` });
  node.classList.add("block");
  node.dataset.block = block.block_id ?? "";
  return node;
}

function nameOf(element) {
  return element.accessibility_label ?? plain(element.placeholder);
}

function sectionNode(block, surface) {
  const text = block.text && h("div", { class: "text" }, textNodes(block.text, surface.names));
  const fields =
    block.fields &&
    h(
      "div",
      { class: "fields" },
      block.fields.map((field) => h("div", { class: "text" }, textNodes(field, surface.names))),
    );
  const name = block.accessory && (nameOf(block.accessory) || firstLine(block.text));
  return h("div", { class: "block-section" }, [
    h("div", { class: "section-body" }, text, fields),
    block.accessory && accessory(block, surface, name),
  ]);
}

function firstLine(text) {
  return plain(text).split("\n")[0].slice(0, 80);
}

function accessory(block, surface, name) {
  const element = block.accessory;
  return h("div", { class: "accessory" }, elementNode(element, block, surface, { name }));
}

function contextNode(block, surface) {
  const parts = block.elements.map((element) =>
    h("span", { class: "text" }, textNodes(element, surface.names)),
  );
  return h("div", { class: "block-context" }, parts);
}

function inputNode(block, surface) {
  const element = block.element;
  const ids = { id: freshId("field"), label: freshId("label"), hint: freshId("hint"), error: freshId("error") };
  const group = element.type === "radio_buttons";
  const describedBy = block.hint ? `${ids.hint} ${ids.error}` : ids.error;
  const field = { id: ids.id, name: plain(block.label), labelled: ids.label, describedBy };
  const label = h(group ? "div" : "label", { id: ids.label, class: "input-label", for: group ? null : ids.id }, [
    h("span", null, textNodes(block.label, surface.names)),
    block.optional && h("span", { class: "optional", text: " (optional)" }),
  ]);
  const error = h("div", { id: ids.error, class: "field-error", "aria-live": "polite" });
  const hint = block.hint && h("div", { id: ids.hint, class: "input-hint" }, textNodes(block.hint, surface.names));
  const node = h("div", { class: "block-input" }, label, elementNode(element, block, surface, field), error, hint);
  for (const event of ["input", "change"]) node.addEventListener(event, () => showError(node, null));
  return node;
}

/** Puts an error under an input block, or, with null, takes it away. */
export function showError(node, text) {
  node.classList.toggle("wrong", text !== null);
  node.querySelector(".field-error")?.replaceChildren(...(text === null ? [] : [icon("error", 16), text]));
  for (const control of node.querySelectorAll("input, textarea, [role=radiogroup]")) {
    if (text === null) control.removeAttribute("aria-invalid");
    else control.setAttribute("aria-invalid", "true");
  }
}

const LEVELS = { info: "info", warning: "warning", error: "error", success: "success", default: "info" };

function alertNode(block, surface) {
  const level = LEVELS[block.level] ? block.level : "default";
  const word = level === "default" ? "Note" : level[0].toUpperCase() + level.slice(1);
  return h("div", { class: `block-alert ${level}`, role: level === "error" ? "alert" : "note" }, [
    icon(LEVELS[level]),
    h("span", { class: "hidden-words", text: `${word}: ` }),
    h("div", { class: "text" }, textNodes(block.text, surface.names)),
  ]);
}
