// Block Kit's interactive elements: buttons and choices here, menus in selects.js, typing in fields.js.

import { freshId, h, icon } from "./dom.js";
import { textField } from "./fields.js";
import { fileField } from "./files.js";
import { plain, textNodes } from "./mrkdwn.js";
import { openMenu } from "./popup.js";
import { isSelect, selectNode } from "./selects.js";

const ELEMENTS = {
  button: buttonNode,
  overflow: overflowNode,
  radio_buttons: choices,
  plain_text_input: textField,
  file_input: fileField,
};

/**
 * An element as a node. `field` says how it is called: {id, name} and, under a label, {labelled, describedBy}.
 * What this page does not know is shown as such, never left out.
 */
export function elementNode(element, block, surface, field) {
  const draw = isSelect(element.type) ? selectNode : ELEMENTS[element.type];
  const node =
    draw?.(element, block, surface, field) ??
    h("span", { class: "unsupported", text: `Unsupported element: ${element.type}` });
  node.dataset.action = element.action_id ?? "";
  return node;
}

function buttonNode(element, block, surface) {
  const style = { primary: "button primary", danger: "button danger" }[element.style] ?? "button";
  const label = element.accessibility_label ?? null;
  const inside = h("span", { class: "button-text" }, textNodes(element.text, surface.names));
  if (element.url) return urlButton(element, block, surface, style, inside);
  const value = element.value === undefined ? {} : { value: element.value };
  const press = () => pressed(node, element, block, surface, value);
  const node = h("button", { type: "button", class: style, "aria-label": label, on: { click: press } }, inside);
  return node;
}

// Slack opens the address and tells the bot all the same.
function urlButton(element, block, surface, style, inside) {
  const safe = /^(?:https?:|mailto:)/i.test(element.url);
  const tell = () => surface.act(block, element, { value: element.value });
  return h(
    "a",
    {
      class: style,
      role: "button",
      href: safe ? element.url : null,
      target: "_blank",
      rel: "noopener noreferrer",
      on: { click: tell },
    },
    inside,
    icon("link", 14),
  );
}

// Busy only once the question, if there is one, was answered with yes.
async function pressed(node, element, block, surface, payload) {
  if (await surface.agreed(element)) await busyWhile(node, surface.deliver(block, element, payload));
}

/** Shows `node` as busy, and deaf, until the promise ends. */
export async function busyWhile(node, promise) {
  if (node.getAttribute("aria-busy") === "true") return;
  const focused = document.activeElement === node; // a disabled button loses it
  node.setAttribute("aria-busy", "true");
  node.disabled = true;
  try {
    await promise;
  } finally {
    node.removeAttribute("aria-busy");
    node.disabled = false;
    if (focused && document.activeElement === document.body) node.focus();
  }
}

function overflowNode(element, block, surface, field) {
  const items = element.options.map((option) => ({
    label: plain(option.text),
    description: plain(option.description),
    run: () => {
      if (option.url && /^https?:/i.test(option.url)) window.open(option.url, "_blank", "noopener,noreferrer");
      pressed(node, element, block, surface, { selected_option: option });
    },
  }));
  const label = field.name ? `More actions for ${field.name}` : "More actions";
  const on = { click: () => openMenu(node, items, { label }) };
  const node = h(
    "button",
    {
      type: "button",
      class: "button overflow",
      "aria-label": label,
      title: "More actions",
      "aria-haspopup": "menu",
      "aria-expanded": "false",
      on,
    },
    icon("more"),
  );
  return h("span", { class: "overflow-place" }, node);
}

function choices(element, block, surface, field) {
  const name = freshId("choice");
  const isHeld = (option) => surface.answers.get(block, element)?.value === option.value;
  const inputs = element.options.map((option) =>
    h("input", { type: "radio", name, id: freshId("option"), ".checked": isHeld(option) }),
  );
  const settle = () => inputs.forEach((input, at) => (input.checked = isHeld(element.options[at])));
  const changed = async () => {
    const value = element.options.find((_, at) => inputs[at].checked) ?? null;
    if (!(await surface.change(block, element, value, { selected_option: value }))) settle();
  };
  const rows = element.options.map((option, at) => choiceRow(option, inputs[at], surface));
  const labels = field.labelled ? { "aria-labelledby": field.labelled } : { "aria-label": field.name || "Options" };
  return h(
    "div",
    { id: field.id, class: "choices", role: "radiogroup", ...labels, "aria-describedby": field.describedBy, on: { change: changed } },
    rows,
  );
}

function choiceRow(option, input, surface) {
  const description = option.description && h("small", null, textNodes(option.description, surface.names));
  return h(
    "label",
    { class: "choice", for: input.id },
    input,
    h("span", null, h("span", { class: "text" }, textNodes(option.text, surface.names)), description),
  );
}
